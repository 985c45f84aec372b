# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compress-gnu.py FROM TO [huge|short|cut]: TO is the ELF file FROM with .debug_* sections
compressed as GNU tools did before SHF_COMPRESSED: .zdebug_*, "ZLIB", the size in 8 bytes,
big-endian, zlib's stream. The new names and contents are at the end of the file. With a third
argument, these are damaged."""
import struct
import sys
import zlib

source, target, *damage = sys.argv[1:]
damage = damage[0] if damage else ""
with open(source, "rb") as file:
    data = bytearray(file.read())
order = "<" if data[5] == 1 else ">"
(table,) = struct.unpack_from(order + "Q", data, 0x28)
size, count, names = struct.unpack_from(order + "HHH", data, 0x3A)
form = order + "IIQQQQIIQQ"
headers = [list(struct.unpack_from(form, data, table + size * i)) for i in range(count)]
old = bytes(data[headers[names][4] : headers[names][4] + headers[names][5]])
new = bytearray(old)
for header in headers:
    name = old[header[0] : old.index(b"\0", header[0])]
    if not name.startswith(b".debug_"):
        continue
    contents = bytes(data[header[4] : header[4] + header[5]])
    stated = {"huge": 1 << 40, "short": len(contents) // 2}.get(damage, len(contents))
    packed = b"ZLIB" + struct.pack(">Q", stated) + zlib.compress(contents)
    if damage == "cut":
        packed = packed[: 12 + (len(packed) - 12) // 2]
    header[0], header[4], header[5] = len(new), len(data), len(packed)
    new += b".z" + name[1:] + b"\0"
    data += packed
headers[names][4], headers[names][5] = len(data), len(new)
data += new
for i, header in enumerate(headers):
    struct.pack_into(form, data, table + size * i, *header)
with open(target, "wb") as file:
    file.write(data)
