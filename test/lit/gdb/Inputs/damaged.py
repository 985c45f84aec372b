"""damaged.py FILE SCRATCH: the unwinder's readers of ELF headers with damaged copies of a program,
without gdb: a file or image in memory is taken or not, but nothing is raised."""
import random
import sys
import types


class Stub:
    def __init__(self, *_):
        pass

    def read_memory(self, address, size):
        at = address - MAPPED
        if at < 0 or at + size > len(whole):
            raise RuntimeError("cannot access memory")
        return whole[at : at + size]


MAPPED = 0x10000
whole = open(sys.argv[1], "rb").read()
gdb = sys.modules["gdb"] = types.ModuleType("gdb")
gdb.unwinder = sys.modules["gdb.unwinder"] = types.ModuleType("gdb.unwinder")
gdb.Command = gdb.unwinder.Unwinder = Stub
gdb.error, gdb.STDERR, gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION = RuntimeError, 2, 0, 0
gdb.write = lambda text, _: None
gdb.selected_inferior = Stub
from sframe import _gdb  # noqa: E402

code = _gdb.FileImage(sys.argv[1]).image.code[0]
pc = MAPPED + code.address + code.size - 1
numbers = random.Random(1)
counts = {"placed": 0, "not placed": 0, "not ELF": 0}
for number in range(600):
    copy = bytearray(whole)
    for _ in range(numbers.randint(0, 6)):
        copy[numbers.randrange(64 + 56 * 12)] = numbers.randrange(256)
    if numbers.random() < 0.1:
        del copy[numbers.randrange(len(copy)) :]
    with open(sys.argv[2], "wb") as file:
        file.write(copy)
    try:
        damaged = _gdb.FileImage(sys.argv[2])
        bias = damaged.bias(pc)
        module = _gdb.Module(sys.argv[2], damaged.image, MAPPED if bias is None else bias)
        module.use_file(damaged, [], [])
        module.find(pc)
        counts["not placed" if bias is None else "placed"] += 1
    except _gdb.NotElf:
        counts["not ELF"] += 1
print(counts, "all" if all(counts.values()) else "too few of a kind")
