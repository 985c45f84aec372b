# apport.py CORE REPORT [FORMAT]: a crash report as apport writes it ("The Apport crash report
# format"; since 2.28 with zstd): the compressor's output in pieces, each encoded on its own.
# FORMAT: gzip (default) or a packed CORE as it is.
import base64
import struct
import sys
import zlib

core, report = sys.argv[1:3]
data = open(core, "rb").read()
with open(report, "wb") as file:
    file.write(b"ProblemType: Crash\nArchitecture: amd64\nCoreDump: base64\n")
    put = lambda piece: file.write(b" " + base64.b64encode(piece) + b"\n") if piece else None
    if len(sys.argv) > 3:
        for at in range(0, len(data), 100001):
            put(data[at : at + 100001])
    else:
        put(b"\x1f\x8b\x08\x08\0\0\0\0\x02\xffCoreDump\0")
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, 0)
        for at in range(0, len(data), 1 << 20):
            put(packer.compress(data[at : at + (1 << 20)]))
        put(packer.flush() + struct.pack("<LL", zlib.crc32(data), len(data) & 0xFFFFFFFF))
    file.write(b"ExecutablePath: /usr/bin/program\nPackage: program 1.2-3\n")
