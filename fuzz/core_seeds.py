#!/usr/bin/env python3
"""core_seeds.py FOLDER [--with-program]: cores made byte by byte, of what no machine here writes:
modules that only the dynamic loader's list names (no NT_FILE); a list of files with a program whose
headers are missing, one that is mapped twice, one that is deleted, and data; frame records; a
shadow stack; signal frames; an FDE that costs much. With the program before each, as walk_seeds.py
writes it; without it, also notes that are too short, and each signal."""
import os
import struct
import sys

from core_writer import (
    NT_ARM_GCS,
    NT_AUXV,
    NT_FILE,
    NT_PRPSINFO,
    NT_PRSTATUS,
    NT_SIGINFO,
    NT_X86_SHSTK,
    PAGE,
    cfi,
    code,
    core,
    elf,
    files,
    process as named,
    stack,
    status,
    text,
)
from elf_writer import ET_DYN, ET_EXEC, header, note, program_header, sframe_header, words
from go_seeds import table

folder, with_program = sys.argv[1], "--with-program" in sys.argv
program = elf([cfi(256)], 256)


def put(label, contents, steppers=(0,), program=program):
    """One seed for each choice of steppers, as walk_seeds.py has them."""
    for chosen in steppers if with_program else (0,):
        head = struct.pack("<I", chosen << 24 | len(program)) + program if with_program else b""
        with open(os.path.join(folder, label + ("-%x" % chosen if chosen else "")), "wb") as out:
            out.write(head + contents)


def padded(contents, size=PAGE):
    return contents.ljust(size, b"\0")


def shadow_pointer(address):
    """NT_X86_SHSTK."""
    return note(NT_X86_SHSTK, words([address]), b"LINUX")


ram = (stack, words([code + 8, code + 16, 0]), PAGE, 6)
process = named()

# The program's headers, dynamic section, r_debug, and a list of three: the program, a library whose
# first page is in the core, one whose first page is not.
dynamic, first, second = text + 2 * PAGE, 0x7F0000000000, 0x7F1000000000
debug, chain, names = dynamic + 0x100, dynamic + 0x200, dynamic + 0x300


def headers(kind, machine, *segments):
    head = header(kind, machine, (64, len(segments)), entry=code)
    return padded(
        head + b"".join(program_header(segment, 5, *where) for segment, *where in segments)
    )


def link(bias, name, where, following):
    return words([bias, name, where, following, 0])


own = headers(
    ET_EXEC, 62, (6, 64, text + 64, 3 * 56), (1, 0, text, 3 * PAGE), (2, 2 * PAGE, dynamic, 64)
)
library = headers(ET_DYN, 62, (1, 0, 0, 4 * PAGE), (4, 0x200, 0x200, 36))[:0x200]
library = padded(library + note(3, bytes(range(20)), b"GNU"))
listed = padded(words([1, 5, 21, debug, 0, 0]), 0x100) + padded(words([1, chain, 0]), 0x100)
links = link(0, names, dynamic, chain + 40) + link(first, names + 32, first + 2 * PAGE, chain + 80)
listed += padded(links + link(second, names + 64, second + 2 * PAGE, 0), 0x100)
listed += padded(
    padded(b"", 32) + padded(b"/lib/first.so", 32) + padded(b"/lib/second.so", 32) + b"./program"
)
auxv = note(
    NT_AUXV, words([3, text + 64, 4, 56, 5, 3, 9, code, 31, names + 96, 33, 0x7FFD00000000, 0, 0])
)
vdso = (0x7FFD00000000, library, PAGE, 5)
loads = [
    (text, own, PAGE, 5),
    (code, program[PAGE : PAGE + 256], PAGE, 5),
    (dynamic, listed, len(listed), 6),
    (first, library, 2 * PAGE, 5),
    (first + 2 * PAGE, b"", PAGE, 6),
    (second + PAGE, padded(b""), PAGE, 5),
    (second + 2 * PAGE, b"", PAGE, 6),
    (second + 4 * PAGE, b"", PAGE, 6),
    vdso,
    ram,
]
put("linked", core(status(7, code + 4, stack, stack) + process + auxv, loads))
# Without the program's page: the memory around the entry is the program.
put("linked-assumed", core(status(7, code + 4, stack, stack) + process + auxv, loads[1:]))
# Programs that are not the core's: another machine, build ID, none; and with only a part of the
# core's in its page.
if with_program:
    size = -(-len(program) // PAGE) * PAGE
    notes = (
        status(7, code + 4, stack, stack)
        + process
        + auxv
        + files((text, text + size, 0, b"/srv/program"))
    )
    without_id = elf([cfi(256)], 256, identity=b"")
    for label, page, other in (
        ("another-machine", program[:PAGE], program[:18] + b"\xb7" + program[19:]),
        ("another-program", program[:PAGE], program[:0x210] + b"\xff" + program[0x211:]),
        ("without-id", program[:PAGE], without_id),
        ("cut-id", program[:0x218], program),
        ("cut-id-other", program[:0x218], program[:0x210] + b"\xff" + program[0x211:]),
        ("no-elf", program[:PAGE], program[4:]),
    ):
        put(label, core(notes, [(text, page, size, 5), ram]), program=other)
    gone = (
        status(7, code + 4, stack, stack)
        + process
        + auxv
        + files((text, text + size, 0, b"/srv/program (deleted)"))
    )
    put("deleted", core(gone, [(text, without_id[:PAGE], size, 5), ram]), program=without_id)

size = -(-len(program) // PAGE) * PAGE
far = 0x10000000
entries = [
    (text, text + PAGE, 0, b"/srv/program (deleted)"),
    (text + PAGE, text + size, 1, b"/srv/program (deleted)"),
    (far, far + PAGE, 0, b"/lib/twice.so"),
    (far + PAGE, far + 2 * PAGE, 1, b"/lib/twice.so"),
    (far + 8 * PAGE, far + 9 * PAGE, 0, b"/lib/twice.so"),
    (far + 16 * PAGE, far + 17 * PAGE, 3, b"/var/data"),
    (far + 20 * PAGE, far + 21 * PAGE, 1, b"/lib/clean.so"),
    (far + 21 * PAGE, far + 22 * PAGE, 2, b"/lib/clean.so"),
]
libraries = [
    (far, library, PAGE, 5),
    (far + 8 * PAGE, library, PAGE, 5),
    (far + 16 * PAGE, b"", PAGE, 6),
]
without_table = program[:32] + bytes(8) + program[40:56] + bytes(2) + program[58:PAGE]
threads = b"".join(status(7 + i, code + 4 * i, stack, stack) for i in range(3))
for label, page in (("files", program[:PAGE]), ("files-no-headers", without_table)):
    notes = threads + process + auxv + files(*entries)
    put(label, core(notes, [(text, page, size, 5), *libraries, vdso, ram]))
# Code without a module, by frame records: call *%rax before each return address.
calls = (0x20000000, b"\xff\xd0" * 64, PAGE, 5)
records = words(
    [value for i in range(6) for value in (stack + 16 * i + 16, 0x20000002 + 4 * i)] + [0, 0]
)
put(
    "records",
    core(status(7, 0x20000010, stack, stack) + process, [calls, (stack, records, PAGE, 6)]),
)
# The same without frame pointers: the caller called a stub that jumps to the function, whose start
# is guessed by the return before it; or a stub that ends otherwise.
function = b"\x53\x48\x83\xec\x10" + b"\x90" * 11 + b"\x48\x83\xc4\x10\x5b\xc3"
jumps = b"\x48\x8d\x04\x25\0\0\0\0\xe9" + struct.pack("<i", 0x40 - 0x80 - 13)
for label, stub in (
    ("stub", jumps),
    ("stub-ends", b"\x90\xc3"),
    ("stub-long", b"\x90" * 20),
    ("stub-calls", b"\xff\xd0"),
):
    bytes_ = (
        padded(b"\x90" * 11 + b"\xe8" + struct.pack("<i", 0x70) + b"\xc3", 0x3F)
        + b"\xc3"
        + padded(function, 0x40)
        + stub
    )
    loads = [
        (0x20000000, bytes_.ljust(PAGE, b"\xcc"), PAGE, 5),
        (stack, words([0, 0, 7, 0x20000010, 0, 0]), PAGE, 6),
    ]
    put(label, core(status(7, 0x20000048, stack, 0) + process, loads))


# The hardware's shadow stack (NT_X86_SHSTK): the same return addresses as the stack, or others.
def with_shadow(*returns):
    shadow = 0x7E0000000000
    pointer = shadow_pointer(shadow + 64)
    notes = (
        status(7, code + 4, stack, stack)
        + pointer
        + process
        + auxv
        + files((text, text + size, 0, b"/srv/program"))
    )
    entries = (shadow, padded(bytes(64) + words(returns)), PAGE, 6)
    return core(
        notes,
        [
            (text, program[:PAGE], size, 5),
            (code, program[PAGE : PAGE + 256], PAGE, 5),
            entries,
            ram,
        ],
    )


alone, with_cfi, with_others = 0x10, 0x12, 0xF2
put("shadow", with_shadow(code + 8, code + 16, 0), (0, alone))
put("shadow-differs", with_shadow(code + 12, code + 16, 0), (0, alone, with_cfi, with_others))
# Entered by a jump to another function; with FP's chain for what no table has.
records = words(
    [
        stack + 0x40,
        code + 8,
        7,
        7,
        7,
        7,
        7,
        7,
        stack + 0x80,
        code + 12,
        7,
        7,
        7,
        7,
        7,
        7,
        0,
        code + 16,
    ]
)
for label, returns in (
    ("shadow-chain", [code + 8, code + 12, code + 16, 0]),
    ("shadow-skips", [code + 12, code + 16, 0]),
):
    pointer = shadow_pointer(0x7E0000000040)
    notes = status(7, 0x20000010, stack, stack) + pointer + process + auxv
    calls = [(0x20000000, b"\xff\xd0" * 64, PAGE, 5), (code, b"\xff\xd0" * 64, PAGE, 5)]
    entries = (0x7E0000000000, padded(bytes(64) + words(returns)), PAGE, 6)
    put(
        label,
        core(notes, [*calls, entries, (stack, padded(records), PAGE, 6)]),
        (0, alone, with_others),
    )
put("shadow-signal", with_shadow(1 << 63 | 0x7E0000000050, code + 16, 0), (alone, with_cfi))


# The thread is in the code to which a handler returns (mov $15, %rax; syscall), after another
# signal frame, both with and without a shadow stack that has the mark of each signal. SP there is
# the address of a ucontext: the pc is at 168, SP at 160.
restorer, shadow = 0x30000000, 0x7E0000000000  # without a module, so that no table covers it
trampoline = (restorer, b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05".ljust(64, b"\0"), PAGE, 5)


def ucontext(pc, sp):
    return padded(bytes(160) + words([sp, pc, 0, 0, 4, 14, 0, 8]), 0x200)


frames = (
    ucontext(restorer + 7, stack + 0x200)
    + ucontext(code + 4, stack + 0x400)
    + words([code + 8, code + 16, 0])
)
marks = [shadow + 64 + 8, shadow + 64 + 16]
for label, entries in (
    ("plain", None),
    ("marks", [marks[0] | 1 << 63, marks[1] | 1 << 63, code + 8, code + 16, 0]),
    ("differ", [marks[0] | 1 << 63, marks[1] | 1 << 63, code + 12, code + 20, 0]),
    ("no-marks", [code + 8, code + 16, 0]),
):
    pointer = shadow_pointer(shadow + 64) if entries else b""
    notes = (
        status(7, restorer, stack)
        + pointer
        + process
        + auxv
        + files((text, text + size, 0, b"/srv/program"))
    )
    loads = [
        (text, program[:PAGE], size, 5),
        (code, program[PAGE : PAGE + 256], PAGE, 5),
        trampoline,
        (stack, padded(frames), PAGE, 6),
    ]
    put(
        "signals-" + label,
        core(
            notes,
            loads + ([(shadow, padded(bytes(64) + words(entries)), PAGE, 6)] if entries else []),
        ),
        (0, 0x14, with_cfi),
    )

# Return addresses that only the shadow stack has right, with and without places on the stack.
calls = program[PAGE : PAGE + 3] + b"\xff\xd0" * 60
for label, on_stack, returns in (
    ("once", [code + 9, 0, code + 13, 0, 0], [code + 9, code + 13, 0]),
    ("above", [7, 7, code + 9, code + 9, code + 13, 0], [code + 9, code + 13, 0]),
    ("nowhere", [7] * 8, [code + 9, code + 13, code + 17, 0]),
    ("old", [code + 13, code + 9, code + 9, code + 13, 0], [code + 9, code + 13, code + 13, 0]),
    ("trampoline", [7, restorer, 0], [restorer, code + 9, 0]),
):
    pointer = shadow_pointer(shadow + 64)
    notes = (
        status(7, code + 4, stack, stack + 8)
        + pointer
        + process
        + auxv
        + files((text, text + size, 0, b"/srv/program"))
    )
    put(
        "returns-" + label,
        core(
            notes,
            [
                (text, program[:PAGE], size, 5),
                (code, calls.ljust(256, b"\x90"), PAGE, 5),
                trampoline,
                (shadow, padded(bytes(64) + words(returns)), PAGE, 6),
                (stack, words(on_stack + [0] * 30), PAGE, 6),
            ],
        ),
        (0, alone, with_cfi, with_others),
    )

# One FDE with 20,000 bytes of instructions, and many addresses in it.
costly = elf([cfi(256, b"\x0a\x0b" * 9000 + b"\x41\x0e\x10\x41\x0e\x08" * 100)], 256)
size = -(-len(costly) // PAGE) * PAGE
threads = b"".join(status(7 + i, code + 100 + 7 * i, stack, stack) for i in range(8))
notes = threads + process + auxv + files((text, text + size, 0, b"/srv/program"))
put(
    "costly",
    core(
        notes,
        [(text, costly, size, 5), (stack, words([code + 90, code + 130] * 200 + [0]), PAGE, 6)],
    ),
    (0, 2),
    program=costly,
)

# A stripped Go program: main.main has 24 bytes of frame, runtime.mcall has 8 and sets SP,
# runtime.goexit is the outermost.
go = elf([(".gopclntab", 1, 2, lambda at: table(20))], 0x200)
size = -(-len(go) // PAGE) * PAGE
threads = (
    status(7, code + 16, stack)
    + status(8, code + 144, stack + 64)
    + status(9, code + 66, stack)
    + status(10, code + 2, stack + 128)
)
notes = threads + process + auxv + files((text, text + size, 0, b"/srv/program"))
returns = words(
    [0, 0, 0, code + 80, 0, 0, 0, 0, 0, code + 20, 0, 0, 0, code + 80, 0, 0, code + 80, 0]
)
put("go", core(notes, [(text, go, size, 5), (stack, padded(returns), PAGE, 6)]), (0, 8), program=go)


def arm_status(tid, pc, sp, fp=0, lr=0):
    return note(
        NT_PRSTATUS,
        bytes(32)
        + struct.pack("<II", tid, 0)
        + bytes(72)
        + words([0] * 29 + [fp, lr, sp, pc, 0])
        + bytes(8),
    )


# main.main calls runtime.systemstack, which calls main.main by a pointer on this stack, its own
# one. The frame pointer is still that of the first main.main; runtime.goexit called that. Also with
# the call, the value or the size wrong, and with functions that interrupt others in its place.
record = stack + 0x200


def call(at, target):
    return b"\xe8" + struct.pack("<i", target - at - 5)


main = b"\x48\x83\xec\x18\x48\x89\x6c\x24\x10\x48\x8d\x6c\x24\x10\x90" + call(15, 0x80)
caller = padded(b"", 16) + call(0x50, 0) + b"\x90"
instructions = padded(main, 0x40) + padded(caller, 0x40) + padded(b"\x90" * 14 + b"\xff\xd0", 0x40)
inner = padded(words([0, 0, record, code + 0x90]), 0x200 - 24)
for label, third, frames in (
    (
        "go-system-stack",
        (b"runtime.systemstack", 2),
        inner + words([code + 20, 7, 8, 0, code + 0x55, 0]),
    ),
    (
        "go-system-other",
        (b"runtime.systemstack", 2),
        inner + words([code + 21, code + 20, 8, 0, code + 0x55, 0]),
    ),
    (
        "go-system-no-caller",
        (b"runtime.systemstack", 2),
        inner + words([code + 20, 7, 8, 0, code + 0x54, 0]),
    ),
    (
        "go-interrupted",
        (b"runtime.sigpanic", 0),
        inner + words([code + 20, 7, 8, 0, code + 0x55, 0]),
    ),
):
    made = elf([(".gopclntab", 1, 2, lambda at: table(20, third=third))], 0x200)
    made = made[:PAGE] + instructions + made[PAGE + len(instructions) :]
    pointer = shadow_pointer(shadow + 64)
    notes = (
        status(7, code + 14, stack)
        + process
        + auxv
        + files((text, text + size, 0, b"/srv/program"))
    )
    loads = [(text, made, size, 5), (stack, padded(frames), PAGE, 6)]
    put(label, core(notes, loads), (0, 8), program=made)
    entries = padded(bytes(64) + words([code + 0x90, code + 0x85, code + 20, code + 0x55, 0]))
    put(
        label + "-shadow", core(notes + pointer, [*loads, (shadow, entries, PAGE, 6)]), program=made
    )
arm = elf([(".gopclntab", 1, 2, lambda at: table(20, 4))], 0x200)
arm = arm[:18] + b"\xb7" + arm[19:]
threads = arm_status(7, code + 16, stack) + arm_status(
    8, code + 0x84, stack + 64, stack + 128, code + 20
)
notes = threads + process + auxv + files((text, text + size, 0, b"/srv/program"))
returns = words(
    [code + 20, 0, 0, code + 80, 0, 0, 0, 0, 0, code + 20, 0, 0, 0, code + 80, 0, 0, code + 80, 0]
)
put(
    "go-arm",
    core(notes, [(text, arm, size, 5), (stack, padded(returns), PAGE, 6)], 183),
    (0, 8),
    program=arm,
)
# AArch64: code to which a handler returns (mov x8, #139; svc #0), after it another signal frame,
# whose ucontext is 128 bytes above SP, and SP and the pc 432 further; with a guarded control stack,
# with a cap for each signal, and without.
arm = elf([cfi(256)], 256)
arm = (
    arm[:18]
    + b"\xb7"
    + arm[19:PAGE]
    + struct.pack("<64I", *([0xD63F0000] * 64))
    + arm[PAGE + 256 :]
)  # blr x0
size = -(-len(arm) // PAGE) * PAGE
trampoline = (restorer, struct.pack("<II", 0xD2801168, 0xD4000001) * 2, PAGE, 5)


def arm_frame(pc, sp):
    return padded(bytes(560) + words([sp, pc, 0]), 0x400)


frames = (
    arm_frame(restorer, stack + 0x400)
    + arm_frame(code + 4, stack + 0x800)
    + words([0, code + 8, 0, 0])
)
cap = shadow + 64 & ~0xFFF
for label, entries in (
    ("plain", None),
    ("caps", [cap, code + 8, code + 12, 0]),
    ("no-caps", [code + 8, code + 12, 0]),
):
    gcs = note(NT_ARM_GCS, words([1, 0, shadow + 64]), b"LINUX") if entries else b""
    notes = arm_status(7, restorer, stack, 0, code + 8) + gcs + process + auxv
    notes += files((text, text + size, 0, b"/srv/program"))
    loads = [(text, arm, size, 5), trampoline, (stack, padded(frames, 2 * PAGE), 2 * PAGE, 6)]
    put(
        "arm-signals-" + label,
        core(
            notes,
            loads + ([(shadow, padded(bytes(64) + words(entries)), PAGE, 6)] if entries else []),
            183,
        ),
        (0, alone),
        program=arm,
    )

if not with_program:
    running = status(7, code + 4, stack, stack)
    for label, notes in (
        ("status", note(NT_PRSTATUS, bytes(40))),
        ("registers", note(NT_PRSTATUS, bytes(120))),
        ("process", note(NT_PRPSINFO, bytes(99))),
        ("signal", note(NT_SIGINFO, bytes(12))),
        ("floating", running + note(2, bytes(20))),
        ("files", running + note(NT_FILE, words([3, PAGE, 1, 2, 3]))),
        ("paths", running + note(NT_FILE, words([2, PAGE, 1, 2, 3, 4, 5, 6]) + b"a\0")),
        ("cut", running + b"\5\0\0\0\xff\0\0\0"),
        ("shadow", running + note(NT_X86_SHSTK, bytes(4), b"LINUX")),
    ):
        put("short-" + label, core(process + notes, [ram]))
        put("short-" + label + "-arm", core(process + notes, [ram], 183))
    registers = note(
        NT_PRSTATUS,
        bytes(32) + struct.pack("<II", 7, 0) + bytes(72) + words([code] * 34) + bytes(8),
    )
    for label, body in (
        ("guarded", words([1, 0, shadow + 64])),
        ("disabled", words([0, 0, shadow])),
        ("cut", words([1])),
    ):
        gcs = note(NT_ARM_GCS, body, b"LINUX")
        put("arm-" + label, core(registers + gcs + process, [(code, calls, PAGE, 5), ram], 183))
    # An image with PT_GNU_SFRAME: an empty section that the core has, has not, and has in two
    # pieces.
    empty = sframe_header(0, 0, 0, 0, version=3)
    image = (
        headers(ET_DYN, 62, (1, 0, 0, 4 * PAGE), (0x6474E554, PAGE - 8, PAGE - 8, len(empty)))[
            : PAGE - 8
        ]
        + empty
    )
    listed = files(
        (first, first + PAGE, 0, b"/lib/first.so"),
        (first + PAGE, first + 2 * PAGE, 1, b"/lib/first.so"),
    )
    for label, loads in (
        ("whole", [(first, image, 2 * PAGE, 5)]),
        ("cut", [(first, image[:PAGE], PAGE, 5)]),
        ("pieces", [(first, image[:PAGE], PAGE, 5), (first + PAGE, image[PAGE:], PAGE, 5)]),
        ("missing", [(first, image[: PAGE - 8], PAGE, 5)]),
    ):
        put("section-" + label, core(running + process + listed, [*loads, ram]))
    put("machine", core(running + process, [ram], 8))
    for owner in (b"NetBSD-CORE@1", b"FreeBSD", b"OpenBSD"):
        put(owner.decode(), core(note(1, b"", owner) + running, [ram]))
    for signal, number in (
        (4, 1),
        (5, 1),
        (7, 2),
        (8, 1),
        (11, 1),
        (11, 10),
        (11, 99),
        (31, 1),
        (6, -6),
        (2, 0),
        (11, 128),
        (24, 128),
        (10, -1),
        (10, -2),
        (10, -3),
        (29, -4),
        (1, -5),
        (99, 1),
    ):
        info = note(
            NT_SIGINFO, struct.pack("<iii", signal, 0, number) + bytes(4) + words([8]) + bytes(104)
        )
        put("signal-%d%+d" % (signal, number), core(running + info + process, [ram]))
