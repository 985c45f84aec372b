# drop-files-note.py CORE OUT: a copy of a core in which NT_FILE, the list of mapped files, is a
# note of an unknown type, as in cores of kernels before 3.7. `--owner=NAME` instead: the notes are
# those of another system.
import struct, sys

core, out = sys.argv[1:3]
owner = sys.argv[3].split("=")[1].encode() if len(sys.argv) > 3 else None
data = bytearray(open(core, "rb").read())
headers, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
changed = 0
for i in range(count):
    kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, headers + 56 * i)
    if kind != 4:
        continue
    at, end = offset, offset + size
    while at < end:
        name_size, body_size, note = struct.unpack_from("<III", data, at)
        if owner and data[at + 12 : at + 17] == b"CORE\0":
            struct.pack_into("<I", data, at, 8)  # the name fits into "CORE\0" with its padding
            data[at + 12 : at + 20] = owner.ljust(8, b"\0")[:8]
            changed += 1
        elif not owner and note == 0x46494C45:
            struct.pack_into("<I", data, at + 8, 0x7FFFFFFF)
            changed += 1
        at += 12 + (name_size + 3) // 4 * 4 + (body_size + 3) // 4 * 4
assert changed
open(out, "wb").write(data)
