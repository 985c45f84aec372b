# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""like-upx.py PROGRAM OUTPUT: the headers of a program as upx packs it: two PT_LOAD, no sections,
and upx's l_info after the program headers. Debian 12 has no upx."""
import struct
import sys

image = bytearray(open(sys.argv[1], "rb").read()[:4096])
(table,) = struct.unpack_from("<Q", image, 32)
image[40:48] = bytes(8)  # e_shoff
struct.pack_into("<HHHHHH", image, 52, 64, 56, 2, 0, 0, 0)  # e_ehsize ... e_shstrndx
image[table:] = bytes(len(image) - table)
struct.pack_into("<IIQQQQQQ", image, table, 1, 5, 0, 0x400000, 0x400000, 4096, 4096, 4096)
struct.pack_into("<IIQQQQQQ", image, table + 56, 1, 6, 0, 0x401000, 0x401000, 0, 4096, 4096)
struct.pack_into("<I4sHBB", image, table + 112, 0, b"UPX!", 0, 13, 0)
open(sys.argv[2], "wb").write(image)
