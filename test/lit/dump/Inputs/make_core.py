# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make_core.py IMAGE BIAS CORE [PATH]: a core file of a process that has the ELF file IMAGE mapped at BIAS
# under the name PATH: its PT_LOAD segments, page by page, and NT_FILE. As much of a core as finding mapped
# images takes.
import struct
import sys

PAGE = 4096


def note(kind, data, name=b"CORE\0"):
    pad = lambda raw: raw + b"\0" * (-len(raw) % 4)
    return struct.pack("<III", len(name), len(data), kind) + pad(name) + pad(data)


def main():
    image, bias, target = open(sys.argv[1], "rb").read(), int(sys.argv[2], 0), sys.argv[3]
    path = (sys.argv[4] if len(sys.argv) > 4 else "/mapped/image").encode() + b"\0"
    phoff, = struct.unpack_from("<Q", image, 32)
    phnum, = struct.unpack_from("<H", image, 56)
    loads = []
    for i in range(phnum):
        kind, flags, offset, address, _, file_size, memory_size, _ = struct.unpack_from("<IIQQQQQQ", image, phoff + 56 * i)
        if kind == 1:
            first = offset & -PAGE
            data = image[first:offset + file_size]
            loads.append((flags, first, bias + (address & -PAGE), data + b"\0" * (-len(data) % PAGE)))
    entries = b"".join(struct.pack("<QQQ", at, at + len(data), first // PAGE) for _, first, at, data in loads)
    notes = note(0x46494C45, struct.pack("<QQ", len(loads), PAGE) + entries + path * len(loads))
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
