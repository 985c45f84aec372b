# make-freebsd-core.py PROGRAM FILE: a core of freebsd.s in its innermost function, as FreeBSD on
# AMD64 writes it: test/extension/core/freebsd.cc has the layouts. The addresses come from llvm-nm;
# the stack's content is written here by what the instructions do.
import os
import struct
import subprocess
import sys

from core_writer import core
from elf_writer import EM_AMD64, PT_LOAD, note, program_headers

program, out = os.path.abspath(sys.argv[1]), sys.argv[2]
symbols = {}
for line in subprocess.run(
    ["llvm-nm", program], capture_output=True, text=True, check=True
).stdout.splitlines():
    value, _, name = line.split()
    symbols[name] = int(value, 16)

top = 0x7FFF_FFFF_F000  # SP in _start
words = {
    top - 8: symbols["start_return"],
    top - 16: 0,  # _start's FP
    top - 16 - 64 - 8: symbols["outer_return"],
    top - 16 - 64 - 8 - 24 - 8: symbols["middle_return"],
}
sp = top - 16 - 64 - 8 - 24 - 8
stack = b"".join(struct.pack("<Q", words.get(at, 0x1111)) for at in range(sp, top, 8))

general = [0] * 15
general[10] = top - 16  # rbp
registers = struct.pack("<15Q", *general) + struct.pack("<IHHIHH", 12, 0, 0, 6, 0, 0)
registers += struct.pack("<5Q", symbols["leaf"], 0x43, 0x10246, sp, 0x3B)
status = (
    struct.pack("<i4xQQQiii4x", 1, 48 + len(registers), len(registers), 512, 1400000, 11, 100077)
    + registers
)
process = struct.pack("<i4xQ17s81s2xi", 1, 120, b"frames", b"frames -x", 4711)

with open(program, "rb") as file:
    image = file.read()
entries, loads = b"", [(sp, stack, len(stack), 6)]
for kind, flags, at, address, _, size, *_ in program_headers(image):
    if kind != PT_LOAD:
        continue
    low, high = address & ~4095, address + size + 4095 & ~4095
    first = at - (address - low)
    path = program.encode() + b"\0"
    length = 136 + len(path) + 7 & ~7
    entries += (
        struct.pack("<iiQQQ", length, 2, low, high, first)
        + bytes(136 - 32)
        + path.ljust(length - 136, b"\0")
    )
    loads.append((low, image[first : first + high - low], high - low, flags))
entries += struct.pack("<iiQQQ", 144, 1, sp, top, 0) + bytes(144 - 32)  # memory without a path

auxiliary = struct.pack("<i4Q", 16, 9, symbols["_start"], 0, 0)
owner = b"FreeBSD"
notes = b"".join(
    note(kind, body, owner=owner)
    for kind, body in (
        (1, status),
        (3, process),
        (10, struct.pack("<i", 1160) + entries),
        (16, auxiliary),
    )
)
made = bytearray(core(notes, sorted(loads), machine=EM_AMD64))
made[7] = 9  # ELFOSABI_FREEBSD
with open(out, "wb") as file:
    file.write(made)
