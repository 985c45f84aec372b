"""large-windows.py FOLDER: compressed files that need windows of more than 2 GiB, by the formats'
descriptions: xz's dictionary properties 39 (3 GiB) and 40 (4 GiB - 1), zstd's window descriptors of
4 GiB and 2 TiB. 41 is no dictionary."""
import lzma
import os
import struct
import sys
import zlib

(folder,) = sys.argv[1:]
for number in (39, 40, 41):
    data = bytearray(
        lzma.compress(b"text" * 1000, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 4096}])
    )
    size = (data[12] + 1) * 4  # of the block header, which ends with its CRC32
    header = data[12 : 12 + size - 4]
    at = header.index(b"\x21\x01", 2) + 2  # LZMA2, one byte of properties
    header[at] = number
    data[12 : 12 + size] = header + struct.pack("<I", zlib.crc32(header))
    with open(os.path.join(folder, "%d.xz" % number), "wb") as file:
        file.write(data)
for logarithm in (32, 41):
    raw_block = struct.pack("<I", 4 << 3 | 1)[:3] + b"text"  # the last one
    with open(os.path.join(folder, "%d.zst" % logarithm), "wb") as file:
        file.write(b"\x28\xb5\x2f\xfd\0" + bytes([(logarithm - 10) << 3]) + raw_block)
