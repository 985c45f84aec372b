# add-vectors.py CORE LENGTH: adds NT_ARM_SVE to the last thread of a core of AArch64, which QEMU's
# emulation of Linux does not write: the header, with vectors of so many bytes.
import struct
import sys

from elf_writer import PT_NOTE, note

path, length = sys.argv[1], int(sys.argv[2])
core = bytearray(open(path, "rb").read())
(table,), (count,) = struct.unpack_from("<Q", core, 32), struct.unpack_from("<H", core, 56)
for at in range(table, table + 56 * count, 56):
    kind, _, offset, _, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", core, at)
    if kind == PT_NOTE:
        notes = core[offset : offset + size] + note(
            0x405, struct.pack("<IIHHHH", 16, 16, length, 256, 1, 0), b"LINUX"
        )
        struct.pack_into("<Q", core, at + 8, len(core))
        struct.pack_into("<Q", core, at + 32, len(notes))
        core += notes
open(path, "wb").write(core)
