# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# damage-for-llvm.py KIND INPUT OUTPUT: an ELF64 little-endian file with what LLVM's reader takes
# for granted: huge (.debug_info claims to be 2^62 bytes when it is unpacked), unit (.debug_abbrev
# is empty, so that .debug_aranges leads to a unit without entries), link (.rela.debug_line names a
# symbol table that is not there), entsize (its entries have no size).
import struct
import sys

SHF_COMPRESSED, ELFCOMPRESS_ZLIB = 0x800, 1

kind, source, target = sys.argv[1:]
data = bytearray(open(source, "rb").read())
(shoff,) = struct.unpack_from("<Q", data, 40)
shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 58)
(names,) = struct.unpack_from("<Q", data, shoff + shstrndx * shentsize + 24)


def header(wanted):
    for i in range(shnum):
        at = shoff + i * shentsize
        (name,) = struct.unpack_from("<I", data, at)
        start = names + name
        if data[start : data.index(0, start)].decode() == wanted:
            return at
    sys.exit("no section " + wanted)


if kind == "huge":
    at = header(".debug_info")
    flags, _, offset, size = struct.unpack_from("<QQQQ", data, at + 8)
    struct.pack_into("<Q", data, at + 8, flags | SHF_COMPRESSED)
    assert size >= 24
    struct.pack_into("<IIQQ", data, offset, ELFCOMPRESS_ZLIB, 0, 1 << 62, 1)
elif kind == "unit":
    offset, size = struct.unpack_from("<QQ", data, header(".debug_abbrev") + 24)
    data[offset : offset + size] = bytes(size)
else:
    at = header(".rela.debug_line")
    if kind == "link":
        struct.pack_into("<I", data, at + 40, 0xFFF0)
    else:
        struct.pack_into("<Q", data, at + 56, 0)
open(target, "wb").write(data)
