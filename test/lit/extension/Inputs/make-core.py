# make-core.py PROGRAM FILE: a core of frames.s in its innermost function, as Linux on RISC-V writes
# it: registers, stack, mapped files. The addresses come from llvm-nm; the stack's content is
# written here by what the instructions do.
import struct
import subprocess
import sys

from core_writer import NT_PRSTATUS, core, files, prstatus
from elf_writer import EM_RISCV, PT_LOAD, note, program_headers

program, out = sys.argv[1:]
symbols = {}
for line in subprocess.run(
    ["llvm-nm", program], capture_output=True, text=True, check=True
).stdout.splitlines():
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
registers[0], registers[1], registers[2], registers[8] = (
    symbols["leaf"],
    symbols["middle_return"],
    sp,
    top,
)
status = note(NT_PRSTATUS, prstatus(1, registers, signal=11))

with open(program, "rb") as file:
    image = file.read()
mapped, loads = [], [(sp, stack, len(stack), 6)]
for kind, flags, at, address, _, size, *_ in program_headers(image):
    if kind == PT_LOAD:
        low, high = address & ~4095, address + size + 4095 & ~4095
        first = at - (address - low)
        mapped.append((low, high, first // 4096, program))
        loads.append((low, image[first : first + high - low], high - low, flags))

with open(out, "wb") as file:
    file.write(core(status + files(*mapped), sorted(loads), machine=EM_RISCV))
