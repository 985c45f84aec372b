#!/usr/bin/env python3
"""dynamic_seed.py FOLDER [--callbacks]: seeds for the dynamic fuzzer, for each ABI: a list with
procedures and tables, in libunwind's layouts (lib/modules/src/dynamic/dyn_info.cc draws them);
gdb's list with ELF files that have code by segments and sections; a function that returns the
list's address.

With --callbacks for the callbacks fuzzer: AMD64, libunwind's list only, and a stack below its
procedures."""
import struct
import sys

from elf_writer import (
    EM_AARCH64,
    EM_AMD64,
    EM_S390,
    ET_DYN,
    ET_REL,
    PT_GNU_EH_FRAME,
    PT_LOAD,
    SHT_PROGBITS,
    header,
    program_header,
    section_header,
)

BASE = 0x10000  # where the fuzzers put the bytes
# callbacks: registers have values near BASE only, and the list is after a table.
callbacks = "--callbacks" in sys.argv
CODE = 0x14000 if callbacks else 0x400000
DYNAMIC, TABLE, REMOTE_TABLE, ARM, IP_OFFSET = range(5)
STOP, SAVE_REG, SPILL_FP_REL, SPILL_SP_REL, ADD, POP_FRAMES, LABEL, COPY, ALIAS = range(9)
# As the fuzzer numbers the ABIs: byte order, SP, FP, another register, ELF machine.
ABIS = {
    "amd64": ("<", 7, 6, 3, EM_AMD64),
    "aarch64": ("<", 31, 29, 19, EM_AARCH64),
    "aarch64_be": (">", 31, 29, 19, EM_AARCH64),
    "s390x": (">", 15, 11, 8, EM_S390),
}


def put(label, what, pieces):  # what: the ABI, and the interface in the highest two bits
    memory = b""
    for at, bytes_ in sorted(pieces.items()):
        assert len(memory) <= at - BASE, label
        memory = memory.ljust(at - BASE, b"\0") + bytes_
    with open(sys.argv[1] + "/" + label, "wb") as seed:
        seed.write(bytes([what]) + memory)


for number, (name, (order, sp, fp, other, machine)) in enumerate(ABIS.items()):
    pack = lambda form, *values: struct.pack(order + form, *values)
    words = lambda *values: pack("%dQ" % len(values), *(value % 2**64 for value in values))
    LIST, ENTRIES, FRAMES, TEXT = (
        BASE + (64 if callbacks else 0),
        BASE + 0xB00,
        BASE + 0xD00,
        BASE + 0xF00,
    )

    def operation(tag, register, when, value):
        return pack("bbhiQ", tag, 0, register, when, value % 2**64)

    def region(following, instructions, *operations):
        return (
            words(following)
            + pack("iI", instructions, len(operations))
            + b"".join(operation(*one) for one in operations)
        )

    cie = pack("IIB", 15, 0, 1) + bytes([0, 1, 0x78, 16, 0x0C, 7, 8, 0x90, 1, 0])
    fde = pack("II", 20, len(cie) + 4) + words(CODE + 0x1000, 0x100)
    # A frame with a frame pointer; regions that follow each other, the last one counted from the
    # end.
    R = [BASE + 0x600 + i * 0x80 for i in range(9)]
    push = (ADD, sp, 0, -8), (SPILL_SP_REL, fp, 0, 0), (SAVE_REG, sp, 1, fp)
    allocate = (ADD, sp, 0, -64), (SPILL_FP_REL, other, 1, -16), (SAVE_REG, other + 1, 2, 2)
    regions = {
        R[0]: region(R[1], 8, *push, (LABEL, 0, 2, 1), (STOP, 0, 0, 0)),
        R[1]: region(R[2], 8, *allocate, (POP_FRAMES, 0, 4, 1)),
        R[2]: region(R[3], 8, (COPY, 0, 0, 1), (ADD, sp, 3, 8), (POP_FRAMES, 0, 5, 9)),
        R[3]: region(0, -4, (ALIAS, 0, 0, CODE + 4)),
        R[4]: region(0, 16, (SPILL_SP_REL, 99, 0, 1 << 60)),
        R[5]: region(0, 16, (COPY, 0, 0, 7)),
        R[6]: region(R[6], 16, (ADD, other, 0, 8)),
        R[7]: region(0, 16, (12, 0, 0, 0)),
        R[8]: region(0, 16, (SAVE_REG, sp, 0, 999)),
    }

    def entry(at, following, start, size, form, *details):
        head = words(following, 0, start, start + size, 0) + pack("ii", form, 0)
        return {at: head + words(0, TEXT, *details)}

    places = [BASE + 0x60 + i * 0x60 for i in range(12)]
    kinds = [
        (CODE, 0x100, DYNAMIC, 0, 0, R[0]),
        (CODE + 0x1000, 0x100, REMOTE_TABLE, CODE + 0x1000, 2, ENTRIES),
        (CODE + 0x1000, 0x100, IP_OFFSET, CODE, 2, ENTRIES + 32),
        (CODE + 0x2000, 0x100, ARM, 0, 0, 0),
        (CODE + 0x3000, 0x100, TABLE, CODE, 2**40, ENTRIES),
        (CODE + 0x4000, 0x100, TABLE, CODE, 1, ENTRIES + 64),
        *((CODE + 0x5000 + 0x100 * i, 0x100, DYNAMIC, 0, 0, R[4 + i]) for i in range(5)),
        (CODE + 0x6000, 0x40, DYNAMIC, 0, 0, BASE + 2**20),
    ]
    asked = [CODE + at for at in (4, 0x18, 0x28, 0x48, 0xF8, 0x1004, 0x3000, 0x4000, 0x6008)]
    pieces = {LIST: pack("II", 0, 1) + words(places[0])} | regions
    for i, kind in enumerate(kinds):
        pieces |= entry(places[i], places[i + 1] if i + 1 < len(kinds) else 0, *kind)
    pieces |= {
        ENTRIES: pack(
            "iiii", 0, FRAMES + len(cie) - CODE - 0x1000, 0x40, FRAMES + len(cie) - CODE - 0x1000
        ),
        ENTRIES + 32: pack("iiii", 0, FRAMES + len(cie) - CODE, 0x80, FRAMES + len(cie) - CODE),
        ENTRIES + 64: pack("ii", 0, 0x10),
        FRAMES: cie + fde,
        TEXT: b"generated\0",
        BASE + 0x500: words(*asked, *(CODE + 0x5004 + 0x100 * i for i in range(5))),
    }
    if callbacks:
        stack = BASE + 0x1000
        callers = (0x18, 0x28, 0x48, 0xF8, 0x1008, 0x5004, 0x5104)
        returns = words(*(value for at in callers for value in (0, CODE + at)))
        memory = b""
        for at, bytes_ in sorted((pieces | {stack: returns}).items()):
            memory = memory.ljust(at - BASE, b"\0") + bytes_
        for pc in (4, 0x18, 0x28, 0x48, 0xF8, 0x1004, *(0x5004 + 0x100 * i for i in range(5))):
            values = [0x1000 + 8 * i for i in range(16)] + [CODE + pc - BASE]
            values[sp], values[fp] = stack - BASE, stack - BASE + 32
            for what in (17, 25):
                with open("%s/procedure-%x-%d" % (sys.argv[1], pc, what), "wb") as seed:
                    seed.write(bytes([what, 0]) + struct.pack("<17H", *values) + memory)
        break
    put(name, number, pieces)
    # The bit that changes is in a procedure's operation, in a table's frames.
    for at, label in (
        (R[0] + 24, "operation"),
        (FRAMES + len(cie) + 12, "frames"),
        (places[0] + 16, "start"),
    ):
        size, near = TEXT - BASE + 10 + 1, range(at - BASE, at - BASE + 16)
        last = next(value for value in range(256) if size * value // 256 in near)
        put("%s-%s-changes" % (name, label), number, pieces | {TEXT + 10: bytes([last])})
    put(name + "-version", number, {LIST: pack("II", 7, 1) + words(places[0])})
    if name == "amd64":
        # lea LIST(%rip), %rax; ret: the list is moved, as the function is at its place.
        moved = {
            LIST: bytes.fromhex("488d05") + pack("i", 0x10 - 7) + b"\xc3",
            LIST + 0x10: pieces[LIST],
        }
        put("function", 0xC0, pieces | moved)
    # Functions that add: lea, add $0x10, %rax; adr x0, add x0, x0, #16; larl %r2, la %r2, 16(%r2);
    # and that do more than that.
    adds = {
        "amd64": (
            "488d05" + struct.pack("<i", 0x30 - 7 - 16).hex() + "4883c010c3",
            "488b0025ff000000c3",
        ),
        "aarch64": ("00010010" + "00400091" + "c0035fd6", "000040f9" + "c0035fd6"),
        "aarch64_be": ("00010010" + "00400091" + "c0035fd6", "000040f9" + "c0035fd6"),
        "s390x": ("c02000000010" + "41202010" + "07fe", "e32020000004" + "07fe"),
    }
    for number_of, instructions in enumerate(adds[name]):
        moved = {LIST: bytes.fromhex(instructions), LIST + 0x30: pieces[LIST]}
        put("%s-adds-%d" % (name, number_of), 0xC0 | number, pieces | moved)
    # All is registers: the function never returns.
    put(
        name + "-no-return",
        0xC0 | number,
        {
            LIST: (
                b"\x90"
                if name == "amd64"
                else bytes.fromhex({"s390x": "0700"}.get(name, "1f2003d5"))
            )
            * 24
        },
    )

    FIRST, SECOND, FILE, OTHER = BASE + 0x20, BASE + 0x40, BASE + 0x80, BASE + 0x400
    load = program_header(PT_LOAD, 5, 0, CODE, 0x1000, order=order)
    hdr = program_header(
        PT_GNU_EH_FRAME, 4, 64 + 2 * 56, CODE + 64 + 2 * 56, 12, align=4, order=order
    )
    file = (
        header(ET_DYN, machine, (64, 2), order=order)
        + load
        + hdr
        + bytes([1, 0x1B, 0x03, 0x3B])
        + pack("iI", 8, 0)
        + cie
        + fde
        + bytes(4)
    )
    text = section_header(1, SHT_PROGBITS, (64, 0x100), 6, CODE + 0x8000, align=16, order=order)
    data = section_header(7, SHT_PROGBITS, (64, 0x40), 2, CODE + 0x9000, order=order)
    by_sections = header(ET_REL, machine, sections=(64, 3), order=order) + bytes(64) + text + data
    put(
        name + "-gdb",
        0x80 | number,
        {
            BASE: pack("II", 1, 0) + words(0, FIRST),
            FIRST: words(SECOND, 0, FILE, len(file)),
            SECOND: words(BASE + 0x60, FIRST, OTHER, len(by_sections)),
            BASE
            + 0x60: words(
                BASE + 2**20, SECOND, BASE, 64
            ),  # no ELF file; then nothing that can be read
            FILE: file,
            OTHER: by_sections,
            BASE + 0x300: words(CODE, CODE + 0x80, CODE + 0x8010, CODE + 0x9000),  # to be asked for
        },
    )
    # A file of another machine, and one whose headers are cut.
    for label, wrong in (("machine", file[:18] + pack("H", 8) + file[20:]), ("cut", file[:70])):
        put(
            "%s-gdb-%s" % (name, label),
            0x80 | number,
            {
                BASE: pack("II", 1, 0) + words(0, FIRST),
                FIRST: words(0, 0, FILE, len(wrong)),
                FILE: wrong,
                BASE + 0x300: words(CODE, FILE),
            },
        )
    put(name + "-gdb-version", 0x80 | number, {BASE: pack("II", 2, 0) + words(0, FIRST)})
