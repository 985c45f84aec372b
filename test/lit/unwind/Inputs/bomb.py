# A zstd file (RFC 8878) of blocks that mean "the byte 1, 128 KiB times": 6 GiB out of 192 KiB.
import struct
import sys

block = 128 * 1024
count = 48 * 1024
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3))  # no content size; a window of 128 KiB
    for i in range(count):
        last = i == count - 1
        file.write(struct.pack("<I", block << 3 | 1 << 1 | last)[:3] + b"\x01")
