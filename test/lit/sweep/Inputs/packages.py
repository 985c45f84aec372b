"""packages.py INPUTS FOLDER: packages with fixtures of test/inputs, written by hand, so that no
package tool is needed.

  one_1.0_amd64.deb        three programs, two of which are the same, a hard link, a symbolic link, a text
  two_2.0_arm64.deb        one for another ABI, and a copy of one of the first package
  three-3.0-1.s390x.rpm    one for a third ABI; with a hard link whose contents come with the last name
  four.tar.gz              an object, and a file for which there is no CFI
  five.tar                 a build ID (20 bytes of 0x42) by objcopy, if there is objcopy
"""
import gzip
import io
import lzma
import os
import struct
import sys
import tarfile

import elf_writer


def deb(path, name, version, architecture, members):
    control = "Package: %s\nVersion: %s\nArchitecture: %s\n" % (name, version, architecture)
    parts = [
        (b"debian-binary", b"2.0\n"),
        (b"control.tar.gz", gzip.compress(tar([("./control", control.encode())]))),
        (b"data.tar.xz", lzma.compress(tar(members))),
    ]
    with open(path, "wb") as file:
        file.write(b"!<arch>\n")
        for part, data in parts:
            file.write(
                b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (part, 0, 0, 0, b"100644", len(data))
                + data
                + b"\n" * (len(data) % 2)
            )


def tar(members):
    """Contents: bytes, ("link", name) for a hard link, ("symlink", name), or ("kind", type)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, contents in members:
            entry = tarfile.TarInfo(name)
            if isinstance(contents, bytes):
                entry.size = len(contents)
                archive.addfile(entry, io.BytesIO(contents))
                continue
            how, value = contents
            entry.type = {"link": tarfile.LNKTYPE, "symlink": tarfile.SYMTYPE}.get(how, value)
            entry.linkname = value if isinstance(value, str) else ""
            archive.addfile(entry)
    return out.getvalue()


def tar_header(name, size, kind=tarfile.REGTYPE):
    """One header alone, whatever follows it."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.type = size, kind
    return entry.tobuf(tarfile.GNU_FORMAT)


def cpio(members):
    """(name, inode, number of links, contents)."""
    out = bytearray()
    for name, inode, links, contents in [*members, ("TRAILER!!!", 0, 1, b"")]:
        fields = (
            inode,
            0o100755 if inode else 0,
            0,
            0,
            links,
            0,
            len(contents),
            0,
            0,
            0,
            0,
            len(name) + 1,
            0,
        )
        out += b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + contents
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def rpm_header(tags):
    data, index = b"", b""
    for tag, text in tags:
        index += struct.pack(">IIII", tag, 6, len(data), 1)
        data += text.encode() + b"\0"
    return b"\x8e\xad\xe8\x01\0\0\0\0" + struct.pack(">II", len(tags), len(data)) + index + data


def rpm(path, name, version, release, architecture, members):
    signature = rpm_header([(1000, "not the name")])
    with open(path, "wb") as file:
        file.write(b"\xed\xab\xee\xdb".ljust(96, b"\0") + signature + b"\0" * (-len(signature) % 8))
        file.write(
            rpm_header([(1000, name), (1001, version), (1002, release), (1022, architecture)])
            + gzip.compress(cpio(members))
        )


def main():
    inputs, folder = sys.argv[1:]

    def fixture(name):
        with open(os.path.join(inputs, name), "rb") as file:
            return file.read()

    os.makedirs(folder, exist_ok=True)
    first = fixture("amd64/v3-gas247.so")
    deb(
        os.path.join(folder, "one_1.0_amd64.deb"),
        "one",
        "1.0",
        "amd64",
        [
            ("./usr/lib/a.so", first),
            ("./usr/lib/b.so", first),
            ("./usr/lib/c.so", ("link", "./usr/lib/b.so")),
            ("./usr/lib/d.so", ("symlink", "a.so")),
            ("./usr/bin/pie", fixture("amd64/v2-gas244-pie")),
            ("./usr/share/doc/text", b"\x7fEL text"),
        ],
    )
    deb(
        os.path.join(folder, "two_2.0_arm64.deb"),
        "two",
        "2.0",
        "arm64",
        [("./usr/lib/a.so", fixture("aarch64/v3-gas247.so")), ("./usr/lib/z.so", first)],
    )
    third = fixture("s390x/v3-gas247.so")
    rpm(
        os.path.join(folder, "three-3.0-1.s390x.rpm"),
        "three",
        "3.0",
        "1",
        "s390x",
        [
            ("./usr/lib/a.so", 7, 2, b""),
            ("./usr/share/text", 8, 1, b"text"),
            ("./usr/lib/b.so", 7, 2, third),
        ],
    )
    with open(os.path.join(folder, "four.tar.gz"), "wb") as file:
        file.write(
            gzip.compress(
                tar(
                    [
                        ("four/object.o", fixture("amd64/v3-gas247.o")),
                        ("four/empty", elf_writer.header(elf_writer.ET_DYN)),
                    ]
                )
            )
        )


if __name__ == "__main__":
    main()
