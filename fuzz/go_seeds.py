#!/usr/bin/env python3
"""go_seeds.py FOLDER: programs with the function table of each version of Go's linker
(src/runtime/symtab.go: pcHeader, pcvalue; src/runtime/runtime2.go: _func), whole, and wrong in one
way each."""
import os
import struct
import sys

from core_writer import code, elf
from elf_writer import uleb

MAGIC = {12: 0xFFFFFFFB, 16: 0xFFFFFFFA, 18: 0xFFFFFFF0, 20: 0xFFFFFFF1}
SIZE = 0x200
# Start, name, flags, and tables of values with the offsets where they end.
FUNCTIONS = (
    (0, b"main.main", 0, ((0, 4), (24, 0x3C), (0, 0x40)), ((1, 0x40),), ((7, 8), (900, 0x40)), ()),
    (0x40, b"runtime.goexit", 5, ((0, 0x40),), ((0, 0x40),), ((1650, 0x40),), ()),
    (
        0x80,
        b"runtime.mcall",
        2,
        ((8, 0x180),),
        ((0, 0x180),),
        ((70, 0x180),),
        ((-1, 8), (0, 0x100), (-1, 0x180)),
    ),
)


def values(pairs, quantum):
    out, before, start = b"", -1, 0
    for value, end in pairs:
        difference = value - before
        out += uleb(2 * difference if difference >= 0 else -2 * difference - 1) + uleb(
            (end - start) // quantum
        )
        before, start = value, end
    return out + b"\0"


def table(
    version, quantum=1, start=code, count=None, inlined=3, wrong=None, third=FUNCTIONS[2][1:3]
):
    """`wrong`: a replacement for the tables of values. `third`: name and flags of the last
    function."""
    has_frames, entry = version >= 18, "<I" if version >= 18 else "<Q"
    names, files, all_values, data = b"", b"/go/src/runtime/asm.s\0/srv/main.go\0", b"\0", b""
    units = struct.pack("<II", 0, 22)
    base = 0 if has_frames else code
    list_size = (2 * len(FUNCTIONS) + 1) * struct.calcsize(entry)
    # Before 1.16 names and data are counted from the start of the table.
    header = 16 if version == 12 else 0
    places = []
    for at, name, flags, *tables in (*FUNCTIONS[:2], (0x80, *third, *FUNCTIONS[2][3:])):
        places.append((base + at, header + list_size + len(data)))
        offsets = []
        for one in tables:
            offsets.append(len(all_values) if one else 0)
            all_values += (wrong or values(one, quantum)) if one else b""
        data += struct.pack(entry, base + at) + struct.pack(
            "<8I", len(names), 0, 0, *offsets[:3], inlined, 0
        )
        data += (
            (struct.pack("<I", 1) if version == 20 else b"")
            + bytes([0, flags, 0, 0])
            + struct.pack("<3I", 0, 0, offsets[3])
        )
        names += name + b"\0"
    functions = b"".join(
        struct.pack(entry, place) + struct.pack(entry, where) for place, where in places
    ) + struct.pack(entry, base + SIZE)
    head = struct.pack(
        "<IHBBQ", MAGIC[version], 0, quantum, 8, len(FUNCTIONS) if count is None else count
    )
    if version == 12:
        return head + functions + data
    head += struct.pack("<Q", 2) + (struct.pack("<Q", start) if has_frames else b"")
    parts, at = b"", len(head) + 40
    for part in (names, units, files, all_values):
        head += struct.pack("<Q", at + len(parts))
        parts += part
    return head + struct.pack("<Q", at + len(parts)) + parts + functions + data


# Prologues of main.main: sub $24,%rsp; mov %rbp,16(%rsp) | str x30,[sp,#-24]!; stur x29,[sp,#-8]
AMD64 = 62, bytes.fromhex("4883ec18 48896c2410")
AARCH64 = 183, struct.pack("<II", 0xF8000C00 | (-24 & 0x1FF) << 12 | 31 << 5 | 30, 0xF81F83FD)


def put(label, contents, name=".gopclntab", relocated=False, module=False, program=AMD64):
    where = []

    def section(address):
        where.append(address)
        return contents

    # R_X86_64_RELATIVE for the start of the code.
    more = (
        [(".rela.dyn", 4, 2, lambda _: struct.pack("<QQQ", where[0] + 24, 8, code), 0, 24)]
        if relocated
        else []
    )
    if module:
        more.append(
            (
                ".go.module",
                1,
                3,
                lambda _: struct.pack("<Q", where[0]) + bytes(168) + struct.pack("<Q", code),
            )
        )
    data = bytearray(elf([(name, 1, 2, section), *more], SIZE))
    machine, instructions = program
    struct.pack_into("<H", data, 18, machine)
    data[4096 : 4096 + len(instructions)] = instructions
    with open(os.path.join(sys.argv[1], label), "wb") as out:
        out.write(data)


if __name__ == "__main__":
    for version in MAGIC:
        for quantum in (1, 4):
            put("go1.%d-%d" % (version, quantum), table(version, quantum))
    put("relocated", table(20, start=0), ".data.rel.ro.gopclntab", True)
    put("by-entry", table(20, start=0).replace(b"main.main", b"_rt0_main"))
    put("by-module", table(20, start=0), module=True)
    put("aarch64", table(20, quantum=4), program=AARCH64)
    put("no-inlined", table(18, inlined=2))
    put("count", table(20, count=1 << 61))
    put("quantum", table(20, quantum=1).replace(b"\0\0\1\x08", b"\0\0\3\x08", 1))
    put("endless", table(20, wrong=b"\2\1" * 400))
    put("long-number", table(20, wrong=b"\x82\x80\x80\x80\x80\x80\1\1\0"))
    put("negative", table(18, wrong=b"\1\x7f\0"))
    put("far-file", table(20, wrong=b"\xfe\xff\x07\xff\x07\0"))
    put("cut", table(20)[:-70])
