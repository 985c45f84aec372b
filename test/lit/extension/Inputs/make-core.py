# make-core.py PROGRAM FILE: a core of frames.s in its innermost function, as Linux on RISC-V writes it:
# registers, stack, mapped files. The addresses come from llvm-nm; the stack's content is written here by what
# the instructions do.
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "unwind", "Inputs"))
from small_cores import core, files, note

program, out = sys.argv[1:]
symbols = {}
for line in subprocess.run(["llvm-nm", program], capture_output=True, text=True, check=True).stdout.splitlines():
    value, _, name = line.split()
    symbols[name] = int(value, 16)

variable = 80  # a0 of outer
top = 0x3F_FFFF_F000  # SP in _start
words = {
    top - 8: symbols["start_return"],  # outer's RA and FP
    top - 16: 0,
    top - 64 - variable - 8: symbols["outer_return"],  # middle's RA
}
sp = top - 64 - variable - 32
stack = b"".join(struct.pack("<Q", words.get(at, 0x1111)) for at in range(sp, top, 8))

registers = [0] * 32  # pc, x1 to x31
registers[0], registers[1], registers[2], registers[8] = symbols["leaf"], symbols["middle_return"], sp, top
status = struct.pack("<IIIHHQQIIII", 11, 0, 0, 11, 0, 0, 0, 1, 1, 1, 1) + bytes(64) + struct.pack("<32Q", *registers) + bytes(8)

with open(program, "rb") as file:
    image = file.read()
offset, count = struct.unpack_from("<Q", image, 32)[0], struct.unpack_from("<H", image, 56)[0]
mapped, loads = [], [(sp, stack, len(stack), 6)]
for i in range(count):
    kind, flags, at, address, _, size = struct.unpack_from("<IIQQQQ", image, offset + 56 * i)
    if kind == 1:
        low, high = address & ~4095, address + size + 4095 & ~4095
        first = at - (address - low)
        mapped.append((low, high, first // 4096, program))
        loads.append((low, image[first : first + high - low], high - low, flags))

with open(out, "wb") as file:
    file.write(core(note(1, status) + files(*mapped), sorted(loads), machine=243))
