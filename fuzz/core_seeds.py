#!/usr/bin/env python3
"""core_seeds.py FOLDER [--with-program]: cores made byte by byte, of what no machine here writes: modules that
only the dynamic loader's list names (no NT_FILE); a list of files with a program whose headers are missing, one
that is mapped twice, one that is deleted, and data; frame records; a shadow stack. With the program before each,
as walk_seeds.py writes it."""
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../test/lit/unwind/Inputs"))
from small_cores import code, core, eh_frame, elf, files, note, stack, status, text, words

folder = sys.argv[1]
PAGE = 4096
program = elf([(".eh_frame", 1, 2, lambda at: eh_frame(at, code, 256, b""))], 256)


def put(label, contents, steppers=(0,)):
    """One seed for each choice of steppers, as walk_seeds.py has them."""
    for chosen in steppers if "--with-program" in sys.argv else (0,):
        head = struct.pack("<I", chosen << 24 | len(program)) + program if "--with-program" in sys.argv else b""
        with open(os.path.join(folder, label + ("-%x" % chosen if chosen else "")), "wb") as out:
            out.write(head + contents)


def padded(contents, size=PAGE):
    return contents.ljust(size, b"\0")


ram = (stack, words([code + 8, code + 16, 0]), PAGE, 6)
process = note(3, bytes(40) + b"program".ljust(96, b"\0"))

# The program's headers, dynamic section, r_debug, and a list of three: the program, a library whose first page
# is in the core, one whose first page is not.
dynamic, first, second = text + 2 * PAGE, 0x7F0000000000, 0x7F1000000000
debug, chain, names = dynamic + 0x100, dynamic + 0x200, dynamic + 0x300


def headers(kind, machine, *segments):
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, code, 64, 0, 0, 64, 56, len(segments), 64, 0, 0)
    for segment, offset, address, size in segments:
        head += struct.pack("<IIQQQQQQ", segment, 5, offset, address, address, size, size, PAGE)
    return padded(head)


def link(bias, name, where, following):
    return words([bias, name, where, following, 0])


own = headers(2, 62, (6, 64, text + 64, 3 * 56), (1, 0, text, 3 * PAGE), (2, 2 * PAGE, dynamic, 64))
library = headers(3, 62, (1, 0, 0, 4 * PAGE), (4, 0x200, 0x200, 36))[:0x200]
library = padded(library + struct.pack("<III", 4, 20, 3) + b"GNU\0" + bytes(range(20)))
listed = padded(words([1, 5, 21, debug, 0, 0]), 0x100) + padded(words([1, chain, 0]), 0x100)
links = link(0, names, dynamic, chain + 40) + link(first, names + 32, first + 2 * PAGE, chain + 80)
listed += padded(links + link(second, names + 64, second + 2 * PAGE, 0), 0x100)
listed += padded(padded(b"", 32) + padded(b"/lib/first.so", 32) + padded(b"/lib/second.so", 32) + b"./program")
auxv = note(6, words([3, text + 64, 4, 56, 5, 3, 9, code, 31, names + 96, 33, 0x7FFD00000000, 0, 0]))
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
libraries = [(far, library, PAGE, 5), (far + 8 * PAGE, library, PAGE, 5), (far + 16 * PAGE, b"", PAGE, 6)]
without_table = program[:32] + bytes(8) + program[40:56] + bytes(2) + program[58:PAGE]
threads = b"".join(status(7 + i, code + 4 * i, stack, stack) for i in range(3))
for label, page in (("files", program[:PAGE]), ("files-no-headers", without_table)):
    notes = threads + process + auxv + files(*entries)
    put(label, core(notes, [(text, page, size, 5), *libraries, vdso, ram]))
# Code without a module, by frame records: call *%rax before each return address.
calls = (0x20000000, b"\xff\xd0" * 64, PAGE, 5)
records = words([value for i in range(6) for value in (stack + 16 * i + 16, 0x20000002 + 4 * i)] + [0, 0])
put("records", core(status(7, 0x20000010, stack, stack) + process, [calls, (stack, records, PAGE, 6)]))


# The hardware's shadow stack (NT_X86_SHSTK): the same return addresses as the stack, or others.
def with_shadow(*returns):
    shadow = 0x7E0000000000
    pointer = struct.pack("<III", 6, 8, 0x204) + b"LINUX\0\0\0" + words([shadow + 64])
    notes = status(7, code + 4, stack, stack) + pointer + process + auxv + files((text, text + size, 0, b"/srv/program"))
    entries = (shadow, padded(bytes(64) + words(returns)), PAGE, 6)
    return core(notes, [(text, program[:PAGE], size, 5), (code, program[PAGE : PAGE + 256], PAGE, 5), entries, ram])


alone, with_cfi, with_others = 0x10, 0x12, 0xF2
put("shadow", with_shadow(code + 8, code + 16, 0), (0, alone))
put("shadow-differs", with_shadow(code + 12, code + 16, 0), (0, alone, with_cfi, with_others))
put("shadow-signal", with_shadow(1 << 63 | 0x7E0000000050, code + 16, 0), (alone, with_cfi))
