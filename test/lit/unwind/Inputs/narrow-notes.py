"""narrow-notes.py FILE: makes the PT_NOTE that has .note.go.buildid cover this section only, as
Go's linker does."""
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
at, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
sections, sections_count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from(
    "<HH", data, 60
)
headers = [
    struct.unpack_from("<IIQQQQIIQQ", data, sections + 64 * i) for i in range(sections_count)
]
texts = headers[names][4]
name = next(h for h in headers if data[texts + h[0] :].startswith(b".note.go.buildid\0"))
for i in range(count):
    kind, flags, offset, _, _, size, _, align = struct.unpack_from("<IIQQQQQQ", data, at + 56 * i)
    if kind == 4 and offset <= name[4] < offset + size:
        struct.pack_into(
            "<IIQQQQQQ",
            data,
            at + 56 * i,
            kind,
            flags,
            name[4],
            name[3],
            name[3],
            name[5],
            name[5],
            align,
        )
open(sys.argv[1], "wb").write(data)
