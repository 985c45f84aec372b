# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make_core.py IMAGE BIAS CORE [PATH [IMAGE BIAS PATH]...]: a core file of a process that has the ELF file IMAGE
# mapped at BIAS under the name PATH, and others: its PT_LOAD segments, page by page, and NT_FILE. As much of a
# core as finding mapped images takes.
import struct
import sys

PAGE = 4096


def note(kind, data, name=b"CORE\0"):
    pad = lambda raw: raw + b"\0" * (-len(raw) % 4)
    return struct.pack("<III", len(name), len(data), kind) + pad(name) + pad(data)


def segments(path, bias):
    """Flags, offset in the file, address and bytes of each."""
    image = open(path, "rb").read()
    phoff, = struct.unpack_from("<Q", image, 32)
    phnum, = struct.unpack_from("<H", image, 56)
    for i in range(phnum):
        kind, flags, offset, address, _, file_size, memory_size, _ = struct.unpack_from("<IIQQQQQQ", image, phoff + 56 * i)
        if kind == 1:
            first = offset & -PAGE
            data = image[first:offset + file_size]
            yield flags, first, bias + (address & -PAGE), data + b"\0" * (-len(data) % PAGE)


def main():
    image, bias, target, name, *others = sys.argv[1:] + ["/mapped/image"] * (len(sys.argv) == 4)
    loads, paths = [], b""
    for image, bias, name in [(image, bias, name)] + list(zip(others[::3], others[1::3], others[2::3])):
        of_image = list(segments(image, int(bias, 0)))
        loads += of_image
        paths += (name.encode() + b"\0") * len(of_image)
    entries = b"".join(struct.pack("<QQQ", at, at + len(data), first // PAGE) for _, first, at, data in loads)
    notes = note(0x46494C45, struct.pack("<QQ", len(loads), PAGE) + entries + paths)
    notes_at = 64 + 56 * (len(loads) + 1)
    at = (notes_at + len(notes) + PAGE - 1) & -PAGE
    headers = struct.pack("<IIQQQQQQ", 4, 4, notes_at, 0, 0, len(notes), 0, 4)
    body = b""
    for flags, _, address, data in loads:
        headers += struct.pack("<IIQQQQQQ", 1, flags, at + len(body), address, 0, len(data), len(data), PAGE)
        body += data
    start = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(loads) + 1, 0, 0, 0)
    raw = start + headers + notes
    open(target, "wb").write(raw + b"\0" * (at - len(raw)) + body)


main()
