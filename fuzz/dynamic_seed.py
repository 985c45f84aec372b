#!/usr/bin/env python3
"""dynamic_seed.py FOLDER: seeds for the dynamic fuzzer, AMD64: a list with a procedure and a table of one FDE,
in libunwind's layouts (lib/modules/src/dynamic/dyn_info.cc draws them); gdb's list with an ELF file of which
a segment is code; a function that returns the list's address."""
import struct
import sys

BASE = 0x10000  # where the fuzzer puts the bytes
LIST, PROCEDURE, TABLE, REGION, ENTRIES, NAME, FRAMES = (BASE + at for at in (0, 0x20, 0x100, 0x200, 0x280, 0x300, 0x310))
CODE = 0x400000
DYNAMIC, REMOTE_TABLE = 0, 2
STOP, SPILL_SP_REL, ADD = 0, 3, 4
RBP, RSP = 6, 7


def words(*values):
    return struct.pack('<%dQ' % len(values), *(value % 2**64 for value in values))


def entry(following, start, kind, *details):
    return words(following, 0, start, start + 0x100, 0) + struct.pack('<ii', kind, 0) + words(0, NAME, *details)


def operation(tag, register, when, value):
    return struct.pack('<bbhiQ', tag, 0, register, when, value % 2**64)


operations = [operation(ADD, RSP, 0, -8), operation(SPILL_SP_REL, RBP, 0, 0), operation(STOP, 0, 0, 0)]
cie = struct.pack('<IIB', 15, 0, 1) + bytes([0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0])
fde = struct.pack('<II', 20, len(cie) + 4) + words(CODE + 0x1000, 0x100)
pieces = {
    LIST: struct.pack('<II', 0, 1) + words(PROCEDURE),
    PROCEDURE: entry(TABLE, CODE, DYNAMIC, 0, 0, REGION),
    TABLE: entry(0, CODE + 0x1000, REMOTE_TABLE, CODE + 0x1000, 1, ENTRIES),
    REGION: words(0) + struct.pack('<iI', 16, len(operations)) + b''.join(operations),
    ENTRIES: struct.pack('<ii', 0, FRAMES + len(cie) - CODE - 0x1000),
    NAME: b'generated\0',
    FRAMES: cie + fde,
}


def put(label, what, pieces):  # what: the ABI, and the interface in the highest two bits
    memory = b''
    for at, bytes_ in sorted(pieces.items()):
        memory = memory.ljust(at - BASE, b'\0') + bytes_
    with open(sys.argv[1] + '/' + label, 'wb') as seed:
        seed.write(bytes([what]) + memory)


put('amd64', 0, pieces)
# lea LIST(%rip), %rax; ret: the list is moved, as the function is at its place.
moved = {LIST: bytes.fromhex('488d05') + struct.pack('<i', 0x10 - 7) + b'\xc3', LIST + 0x10: pieces[LIST]}
put('function', 0xc0, pieces | moved)

FIRST, FILE = BASE + 0x40, BASE + 0x80
header = struct.pack('<4sBBB9xHHIQQQIHHHHHH', b'\x7fELF', 2, 1, 1, 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
load = struct.pack('<IIQQQQQQ', 1, 5, 0, CODE, CODE, 0x1000, 0x1000, 0x1000)
hdr = struct.pack('<IIQQQQQQ', 0x6474e550, 4, 64 + 2 * 56, CODE + 64 + 2 * 56, 0, 12, 12, 4)
file = header + load + hdr + bytes([1, 0x1b, 0x03, 0x3b]) + struct.pack('<iI', 8, 0) + cie + fde + bytes(4)
put('gdb', 0x80, {
    BASE: struct.pack('<II', 1, 0) + words(0, FIRST),
    FIRST: words(0, 0, FILE, len(file)),
    FILE: file,
    FILE + 0x400: words(CODE, CODE + 0x80),  # to be asked for
})
