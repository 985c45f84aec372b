# scalable-core.py PROGRAM NAMES CORE: a core of PROGRAM (Inputs/scalable.s; NAMES is what llvm-nm
# prints of it) whose threads are in leaf, called from scalable, with vectors of several lengths:
#
#   1   16 bytes, VG is 2
#   2   256 bytes, VG is 32
#   3   64 bytes in streaming mode, 16 outside of it
#   4   32 bytes; streaming mode would have 64, but the thread is not in it
#   5   64 bytes in streaming mode; streaming has saved the VG of scalable, which is that of 32 bytes
#   6   a length that is not known
#   7   an impossible length
import os
import struct
import sys

from core_writer import NT_PRSTATUS, core, files, prstatus
from elf_writer import note, words

NT_ARM_SVE, NT_ARM_SSVE, EM_AARCH64 = 0x405, 0x40B, 183
program, names, output = sys.argv[1:]
at = {name: int(value, 16) for value, _, name in (line.split() for line in open(names))}


def vectors(kind, length, active):
    """struct user_sve_header, without the registers."""
    return note(kind, struct.pack("<IIHHHH", 16, 16, length, 256, int(active), 0), b"LINUX")


def thread(tid, notes, length, saved=None):
    """The notes and the stack of one. `length`: of the vectors in scalable's frame."""
    sp = 0x7F0000000000 + tid * 0x10000
    stack = [0, at["after_outer"]] + [0xDEAD] * (length // 4) + [0, at["after_start"]]
    ra = at["after_scalable"]
    if saved is not None:
        stack = [0, ra, saved, 0] + stack
        ra = at["after_streaming"]
    registers = [0] * 30 + [ra, sp, at["leaf"], 0]
    return note(NT_PRSTATUS, prstatus(tid, registers)) + notes, (
        sp,
        words(stack),
        8 * len(stack),
        6,
    )


usual, streaming = NT_ARM_SVE, NT_ARM_SSVE
threads = [
    thread(1, vectors(usual, 16, True), 16),
    thread(2, vectors(usual, 256, True), 256),
    thread(3, vectors(usual, 16, False) + vectors(streaming, 64, True), 64),
    thread(4, vectors(usual, 32, False) + vectors(streaming, 64, False), 32),
    thread(5, vectors(usual, 16, False) + vectors(streaming, 64, True), 32, saved=4),
    thread(6, b"", 16),
    thread(7, vectors(usual, 24, True), 16),
]
content = open(program, "rb").read()
base, size = at["_start"] & ~0xFFFF, 0x1000  # all of the image is in its first page
notes = b"".join(notes for notes, _ in threads) + files(
    (base, base + size, 0, os.path.abspath(program))
)
with open(output, "wb") as file:
    file.write(
        core(
            notes,
            [(base, content[:4096], size, 5)] + [stack for _, stack in threads],
            machine=EM_AARCH64,
        )
    )
