"""outsiders.py INPUTS FOLDER: what must not stop a sweep, hide something else, or be opened. Prints
the number of packages."""
import gzip
import io
import os
import struct
import sys
import tarfile

import packages

inputs, folder = sys.argv[1:]
os.makedirs(os.path.join(folder, "files"))
os.makedirs(os.path.join(folder, "pool"))
with open(os.path.join(inputs, "amd64/v3-gas247.so"), "rb") as file:
    elf = file.read()


def write(name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def padded(data):
    return data.ljust(-(-len(data) // 512) * 512, b"\0")


def pax(key, value):
    size = len(key) + len(value) + 3
    while True:
        record = b"%d %s=%s\n" % (size, key, value)
        if len(record) == size:
            return record
        size = len(record)


def zipped(parts):
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
        for part in parts:
            file.write(part)
    return out.getvalue()


def deb(name, parts):
    data = b"!<arch>\n"
    for part, contents in parts:
        data += (
            b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (part, 0, 0, 0, b"100644", len(contents))
            + contents
            + b"\n" * (len(contents) % 2)
        )
    write(name, data)


end = packages.tar_header("a", 0) + bytes(1024)
digits = b"1" * 100_000
write(
    "digits.tar.gz",
    zipped([packages.tar_header("x", len(digits), tarfile.XHDTYPE), padded(digits), end]),
)
write(
    "global.tar.gz",
    zipped(
        part
        for i in range(20)
        for record in [pax(b"k%d" % i, b"v" * (15 << 20))]
        for part in (packages.tar_header("g", len(record), tarfile.XGLTYPE), padded(record))
    ),
)
write(
    "globals.tar.gz",
    zipped(
        part
        for i in range(40)
        for record in [pax(b"k%d" % i, b"v" * 1_000_000)]
        for part in (
            packages.tar_header("g", len(record), tarfile.XGLTYPE),
            padded(record),
            packages.tar_header("a", 0),
        )
    ),
)
claim = pax(b"size", b"9" * 30)
write("claim.tar", packages.tar_header("x", len(claim), tarfile.XHDTYPE) + padded(claim) + end)
part = zipped([packages.tar_header("big", 12 << 20), bytes(12 << 20), bytes(1024)])
deb(
    "controls_1_amd64.deb",
    [
        (b"debian-binary", b"2.0\n"),
        (b"control.tar.gz", part),
        (b"control.tar.gz", part),
        (b"data.tar.gz", zipped([bytes(1024)])),
    ],
)
deb(
    "both_1_amd64.deb",
    [(b"debian-binary", b"2.0\n"), (b"control.tar.gz", part), (b"data.tar.gz", part)],
)  # each is allowed, not both
for name in ("pipe_1_amd64.deb", "pipe-1-1.x.rpm", "pipe.tar", "files/pipe"):
    os.mkfifo(os.path.join(folder, name))
os.symlink("/etc/passwd", os.path.join(folder, "link_1_amd64.deb"))
os.symlink("gone", os.path.join(folder, "gone_1_amd64.deb"))
# Sizes that no database holds, and more files than are measured at the same time.
for i in range(20):
    other = bytearray(elf)
    other[-1 - i] ^= 1  # at the end there are section headers
    write("files/%d.so" % i, bytes(other))
wrong = bytearray(elf)
struct.pack_into("<Q", wrong, struct.unpack_from("<Q", elf, 32)[0] + 32, 1 << 63)  # p_filesz
write("files/wrong.so", bytes(wrong))
sized = bytearray(elf)
(sections,) = struct.unpack_from("<Q", elf, 40)
for at in range(sections, sections + 64 * struct.unpack_from("<H", elf, 60)[0], 64):
    if struct.unpack_from("<Q", elf, at + 8)[0] & 4:  # SHF_EXECINSTR
        struct.pack_into("<Q", sized, at + 32, (1 << 64) - 4096)
os.makedirs(os.path.join(folder, "sizes"))
write("sizes/sized.so", bytes(sized))
packages.deb(
    os.path.join(folder, "pool", "good_1_amd64.deb"),
    "good",
    "1",
    "amd64",
    [("a.so", elf[:-1] + b"x")],
)
at = os.open(folder, os.O_RDONLY)
for _ in range(6000):
    os.mkdir("d", dir_fd=at)
    below = os.open("d", os.O_RDONLY, dir_fd=at)
    os.close(at)
    at = below
os.makedirs(os.path.join(folder, "dists"))
write(
    "dists/Packages",
    b"".join(
        b"Package: a\nFilename: %s\n\n" % name
        for name in (
            b"pool/good_1_amd64.deb",
            b"../../etc/passwd",
            b"/etc/hostname",
            b"pool/../../../../../../etc/group",
            b"pool/none_1_amd64.deb",
            b"a\0b_1_amd64.deb",
        )
    ),
)
