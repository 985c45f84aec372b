# Makes cores that name files which are not theirs.
#   trust.py CASE FOLDER [PATH]        writes FOLDER/core and FOLDER/program
import os
import sys

from core_writer import (
    NT_AUXV,
    cfi,
    code,
    elf,
    files,
    on_stack,
    stack,
    status,
    text,
    write,
    write_core,
)
from elf_writer import note, words

case, folder = sys.argv[1:3]
other = sys.argv[3] if len(sys.argv) > 3 else ""
program = elf([cfi(4096)], 4096)
entry = note(NT_AUXV, words([9, code, 0, 0]))  # AT_ENTRY: which module is the program
notes = status(1, code + 8, stack) + entry
loads = [on_stack([code + 8, 0])]
if case == "checked":  # the core has the build ID
    write(folder, program, notes, loads)
elif case == "unchecked":  # it does not
    write(folder, program, notes, loads, in_core=0)
elif case == "named":  # the program's name in the core is PATH, and it has the build ID
    write(folder, program, notes, loads, name=other)
elif case == "other":  # FOLDER/program is another one, which no core may show
    write(folder, elf([], 4096, b"\xaa" * 20) + b"\x0b\xad\xc0\xde" * 65536, notes, loads)
elif case == "points-into":
    # PATH is mapped, according to the core, and the stack is there: each register that a frame
    # restores is a word of it. The page is code as well, so that guesses read it, too.
    write(folder, program, b"", [])
    place = 0x10000000
    notes = (
        status(1, code + 8, place, place)
        + entry
        + files(
            (text, text + 8192, 0, os.path.join(os.path.abspath(folder), "program")),
            (place, place + 0x100000, 0, other),
            (place + 0x100000, place + 0x200000, 0x100000, other),
        )
    )
    loads = [
        (text, program[:4096], 8192, 5),
        (place, b"", 0x100000, 5),
        (place + 0x100000, b"", 0x100000, 4),
    ]
    write_core(folder, notes, loads)
else:
    sys.exit("no case " + case)
