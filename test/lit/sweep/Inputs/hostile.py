"""hostile.py INPUTS FOLDER: packages made to do harm. Each is a row of the database, with the
reason, and no more."""
import bz2
import gzip
import lzma
import os
import struct
import sys
import tarfile

import packages

inputs, folder = sys.argv[1:]
os.makedirs(folder)
with open(os.path.join(inputs, "amd64/v3-gas247.so"), "rb") as file:
    elf = file.read()


def write(name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


evil = os.path.join(os.path.dirname(folder), "evil")
packages.deb(
    os.path.join(folder, "names_1_amd64.deb"),
    "names",
    "1",
    "amd64",
    [
        ("../" * 40 + evil.lstrip("/"), elf),
        (evil, elf),
        ("link", ("symlink", os.path.dirname(folder))),
        ("link/evil", elf),
        ("hard", ("link", "../../../etc/passwd")),
        ("usr/device", ("kind", tarfile.BLKTYPE)),
        ("usr/pipe", ("kind", tarfile.FIFOTYPE)),
        ("usr/a\nb\x1b[31m", elf),
    ],
)
write("bomb.tar.gz", gzip.compress(packages.tar([("big", bytes(64 << 20))])))
write("bomb.tar.xz", lzma.compress(packages.tar([("elf", b"\x7fELF" + bytes(64 << 20))])))
write(
    "pax.tar.gz",
    gzip.compress(packages.tar_header("x", 1 << 30, tarfile.XHDTYPE) + bytes(32 << 20)),
)
write(
    "longname.tar.gz",
    gzip.compress(
        (packages.tar_header("x", 1, tarfile.GNUTYPE_LONGNAME) + b"x".ljust(512, b"\0")) * 5000
    ),
)
write(
    "cut.tar.gz",
    gzip.compress(packages.tar([("a.so", elf), ("b", os.urandom(1 << 20))]))[: 1 << 19],
)
write(
    "middle.tar",
    packages.tar([("a.so", elf)])[: 512 + -(-len(elf) // 512) * 512]
    + b"no header".ljust(1024, b"!"),
)
# Cut at its end: between the two blocks that end a tar archive, or after what is needed to find all
# members.
sound = packages.tar([("a.so", elf)])
whole = 512 + -(-len(elf) // 512) * 512
write("lone.tar", sound[: whole + 512])
write("bare.tar", sound[: whole + 1024])
for kind, module in (("gz", gzip), ("xz", lzma), ("bz2", bz2)):
    write("end.tar." + kind, module.compress(sound)[:-1])
packages.rpm(os.path.join(folder, "end-1-1.x.rpm"), "end", "1", "1", "x", [("a", 1, 1, elf)])
packages.deb(os.path.join(folder, "end_1_amd64.deb"), "end", "1", "amd64", [("a.so", elf)])
for name in ("end-1-1.x.rpm", "end_1_amd64.deb"):
    os.truncate(os.path.join(folder, name), os.path.getsize(os.path.join(folder, name)) - 4)
# More hard links than may wait for their contents; then as many, which do not wait at the same
# time.
packages.rpm(
    os.path.join(folder, "links-1-1.x.rpm"),
    "links",
    "1",
    "1",
    "x",
    [("a", 1 + i, 2, b"") for i in range(10_001)],
)
packages.rpm(
    os.path.join(folder, "resolved-1-1.x.rpm"),
    "resolved",
    "1",
    "1",
    "x",
    [("a", 1 + i % 5000, 2, b"text" * (i // 5000 % 2)) for i in range(20_000)],
)
write(
    "size_1_amd64.deb",
    b"!<arch>\n" + b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (b"data.tar.xz", 0, 0, 0, b"100644", -60),
)
write("empty_1_amd64.deb", b"")
write(
    "header-1-1.x.rpm",
    b"\xed\xab\xee\xdb".ljust(96, b"\0")
    + b"\x8e\xad\xe8\x01\0\0\0\0"
    + struct.pack(">II", 1, 0xFFFFFFF0)
    + bytes(16),
)
write(
    "cpio-1-1.x.rpm",
    b"\xed\xab\xee\xdb".ljust(96, b"\0")
    + packages.rpm_header([])
    + packages.rpm_header([(1000, "cpio")])
    + b"070701"
    + b"ffffffff" * 13,
)
# Headers that lead out of the file; a build ID with many bytes; a string table of section names
# that is the whole file.
broken = bytearray(elf)
struct.pack_into("<QQ", broken, 32, 0xFFFFFFFFFFFFFFF0, 0xFFFFFFFFFFFFFFF0)
write(
    "headers.tar", packages.tar([("a.so", bytes(broken)), ("b.so", elf[:70]), ("c.so", elf[:1000])])
)
