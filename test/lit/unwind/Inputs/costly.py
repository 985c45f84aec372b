# Makes small cores, and the files that they name, whose walk would cost without bound.
#   costly.py CASE FOLDER        writes FOLDER/core and FOLDER/program
import lzma
import os
import struct
import sys
import zlib

from core_writer import (
    build_id,
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
    write_program,
)
from elf_writer import (
    ET_DYN,
    ET_EXEC,
    ET_REL,
    PT_GNU_SFRAME,
    PT_LOAD,
    eh_frame,
    header,
    program_header,
    section_header,
    sframe_header,
    symbol,
    uleb,
    words,
)

case, folder = sys.argv[1:]


def with_code_list(entry):
    """A program with gdb's list of generated code (__jit_debug_descriptor), whose first entry is
    there."""
    descriptor = symbol(1, text + 8192, 24, section=2, info=0x11)
    parts = [
        (".data", 1, 3, struct.pack("<IIQQ", 1, 0, 0, entry)),
        (".strtab", 3, 0, b"\0__jit_debug_descriptor\0"),
        (".symtab", 2, 0, bytes(24) + descriptor, 3, 24),
    ]
    return elf(parts, 4096)


def with_copies(program, section, count):
    """The program with more headers of a section."""
    program = bytearray(program)
    headers = struct.unpack_from("<Q", program, 40)[0]
    program += program[headers + 64 * section : headers + 64 * (section + 1)] * count
    struct.pack_into("<H", program, 60, (len(program) - headers) // 64)
    return bytes(program)


if case == "fde-rows":
    # One FDE of 440 kB with rows at 40,000 addresses; frames at 50,000.
    instructions = b"\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b\x41" * 40_000
    program = elf([cfi(65536, instructions)], 65536)
    write(
        folder,
        program,
        status(1, code, stack),
        [on_stack([code + 8 + i * 7919 % 50_000 for i in range(60_000)] + [0])],
    )
elif case == "expressions":
    # 15 registers with a loop of 4,081 operations each; 1,400 frames.
    loop = b"\x0a" + struct.pack("<H", 1020) + b"\x31\x1c\x12\x28" + struct.pack("<h", -6) + b"\x13"
    instructions = b"".join(
        b"\x16" + uleb(reg) + uleb(len(loop)) + loop for reg in range(16) if reg != 7
    )
    program = elf([cfi(65536, instructions)], 65536)
    write(
        folder,
        program,
        status(1, code + 8, stack),
        [on_stack([code + 8 + i for i in range(1400)] + [0])],
    )
elif case == "sframe-rows":
    # One SFrame function of 65,000 rows; a frame at each of 50,000 addresses that it covers.
    count = 65_000
    rows = b"".join(
        struct.pack("<HBB", i, 3, 8) for i in range(count)
    )  # SP-based, one word: CFA = rsp + 8

    def section(at):
        return (
            sframe_header(1, count, len(rows), 20)
            + struct.pack("<iIIIBBH", code - at, 65536, 0, count, 1, 0, 0)
            + rows
        )

    program = elf([(".sframe", 1, 2, section)], 65536)
    write(
        folder,
        program,
        status(1, code, stack),
        [on_stack([code + 8 + i % 50_000 for i in range(60_000)] + [0])],
    )
elif case == "threads":
    # 1,600 threads over one stack of 400 kB: 80 million frames.
    program = elf([cfi(65536)], 65536)
    ram = on_stack([code + 8 + i % 1000 for i in range(50_000)] + [0])
    write(
        folder,
        program,
        b"".join(status(1 + i, code + 8, stack + 8 * i % 4096) for i in range(1600)),
        [ram],
    )
elif case == "names":
    # 60,000 frames in two functions, whose names have 60 kB.
    symbols = bytes(24) + b"".join(symbol(1 + i, code + 128 * i, 128) for i in range(2))
    program = elf(
        [
            cfi(256),
            (".symtab", 2, 0, symbols, 4, 24),
            (".strtab", 3, 0, b"\0" + b"f" * 60_000 + b"\0"),
        ],
        256,
    )
    write(
        folder,
        program,
        status(1, code + 8, stack),
        [on_stack([code + 8 + 128 * (i & 1) for i in range(60_000)] + [0])],
    )
elif case == "many-names":
    # 20 cores, with frames in 200 functions and more, whose names are all ends of a string of 60
    # kB.
    symbols = bytes(24) + b"".join(symbol(1 + i, code + 16 * i, 16) for i in range(256))
    names = b"\0" + b"".join(b"%06d" % i for i in range(10_000)) + b"\0"
    program = elf([cfi(4096), (".symtab", 2, 0, symbols, 4, 24), (".strtab", 3, 0, names)], 4096)
    for number in range(20):
        ram = on_stack([code + 8 + 16 * i for i in range(200 + number)] + [0])
        write(os.path.join(folder, str(number)), program, status(1, code + 8, stack), [ram])
elif case in ("guesses", "scans"):
    # 40,000 frames in code without tables, at as many addresses: by frame records, or by looks up
    # the stack.
    calls = b"\xff\xd0" * 50_000  # call *%rax
    program = elf([], 4096)
    values = []
    for i in range(40_000):
        ra = 0x10000000 + 2 + 2 * (i * 7919 % 49_000)
        values += [stack + 16 * i + 16, ra] if case == "guesses" else [0, ra]
    write(
        folder,
        program,
        status(1, 0x10000002, stack, stack),
        [(0x10000000, calls, len(calls), 5), on_stack(values + [0, 0])],
    )
elif case == "code-mappings":
    # 3,000 frames at as many addresses, in code without tables, each byte of which is a mapping.
    calls = b"\xff\xd0" * 4500  # call *%rax
    values = []
    for i in range(3000):
        values += [stack + 16 * i + 16, 0x10000000 + 2 + 2 * (i * 7919 % 4400)]
    loads = [(0x10000000 + i, calls[i : i + 1], 1, 5) for i in range(len(calls))]
    write(
        folder,
        elf([], 4096),
        status(1, 0x10000002, stack, stack),
        [*loads, on_stack(values + [0, 0])],
    )
elif case == "debugdata":
    # 160 kB that become 1 GiB.
    packed = lzma.compress(b"\1" * (1 << 24), preset=1) * 64
    program = elf([cfi(65536), (".gnu_debugdata", 1, 0, packed)], 65536)
    write(folder, program, status(1, code + 8, stack), [on_stack([code + 8, 0])])
elif case.startswith("debug-info-"):
    # .debug_info whose compression header claims so many bytes.
    claimed = (
        struct.pack("<IIQQ", 1, 0, int(case[len("debug-info-") :], 0), 1)
        + b"\x78\x9c\x03\0\0\0\0\1"
    )
    parts = [cfi(65536), (".debug_info", 1, 0x800, claimed), (".debug_abbrev", 1, 0, bytes(16))]
    program = elf(parts, 65536)
    write(folder, program, status(1, code + 8, stack), [on_stack([code + 8, 0])])
elif case == "files":
    # 5,000 threads, each in a module of its own, whose file is missing.
    bases = [0x10000000 + 0x10000 * i for i in range(5000)]
    notes = b"".join(status(1 + i, base, 0) for i, base in enumerate(bases))
    notes += files(*((base, base + 4096, 0, "/missing/%d" % base) for base in bases))
    write_core(folder, notes, [(base, b"", 4096, 5) for base in bases])
elif case == "one-file":
    # 1,000 mappings of one file far apart, each a module of its own; a frame in each. A build ID is
    # in each first page.
    apart, count = 0x1000000, 1000
    program = elf([cfi(4096)], 4096)
    starts = [text + apart * i for i in range(count)]
    path = write_program(folder, program)
    notes = status(1, code + 8, stack) + files(
        *((start, start + 0x3000, 0, path) for start in starts)
    )
    write_core(
        folder,
        notes,
        [
            *((start, program[:4096], 0x3000, 5) for start in starts),
            on_stack([start + 4096 + 8 for start in starts] + [0]),
        ],
    )
elif case == "three-files":
    # Three files, a frame in each, whose tables are 200 MB in 0.2.
    packed = struct.pack("<IIQQ", 1, 0, 200 << 20, 1) + zlib.compress(bytes(200 << 20), 1)
    program = elf([(".eh_frame", 1, 0x802, packed)], 4096)
    starts = [text + 0x1000000 * i for i in range(3)]
    paths = [write_program(folder, program, "program%d" % i) for i in range(3)]
    notes = b"".join(status(1 + i, start + 4096 + 8, stack) for i, start in enumerate(starts))
    notes += files(*((start, start + 0x3000, 0, path) for start, path in zip(starts, paths)))
    write_core(
        folder,
        notes,
        [
            *((start, program[:4096], 0x3000, 5) for start in starts),
            on_stack([start + 4096 + 8 for start in starts] + [0]),
        ],
    )
elif case == "mappings":
    # 2,000 mappings of 8 bytes each, of the stack, which is in the file only.
    ram = words([code + 8 + i % 1000 for i in range(1999)] + [0])
    program = elf([cfi(4096), (".data", 1, 2, ram)], 4096)
    path = write_program(folder, program)
    top = text + program.find(ram[:64])
    places = [(text, top, 0, path)] + [
        (top + 8 * i, top + 8 * i + 8, top + 8 * i - text, path) for i in range(2000)
    ]
    write_core(folder, status(1, code + 8, top) + files(*places), [(text, program[:4096], 4096, 5)])
elif case == "segments":
    # A file of 2,000 segments, none of which has any of the 2,000 mappings' places in the file.
    program = bytearray(elf([], 4096))
    table = bytes(program[120:176]) + b"".join(
        program_header(PT_LOAD, 5, 1 << 40, 0x90000000 + i * 4096, 4096) for i in range(2000)
    )
    struct.pack_into("<Q", program, 32, len(program))
    struct.pack_into("<H", program, 56, 2001)
    path = write_program(folder, program + table)
    places = [
        (text + i * 4096, text + i * 4096 + 4096, (1 << 30) + i * 4096, path) for i in range(2000)
    ]
    write_core(
        folder,
        status(1, code + 8, stack) + files(*places),
        [(text, b"", 4096, 5), (stack, bytes(64), 64, 6)],
    )
elif case == "notes":
    # 500 mappings of a first page full of sizes of notes with long owners.
    page = b"\x7fELF" + bytes(60) + struct.pack("<II", 2040, 0) * 248 + bytes(2048)
    starts = [0x10000 + 0x1000 * i for i in range(500)]
    notes = status(1, 0x10000, stack) + files(
        *((start, start + 4096, 0, "/missing/%d" % (start & 0x1000)) for start in starts)
    )
    write_core(folder, notes, [(start, page, 4096, 4) for start in starts])
elif case == "registered":
    # An ELF file of 200 MiB in gdb's list of generated code; its bytes are all the same 256 KiB of
    # the core.
    jit, step, entry = 0x10000000, 0x40000, 0x9000000
    program = with_code_list(entry)
    file = (
        header(ET_REL, sections=(64, 2))
        + bytes(64)
        + section_header(0, 1, (4096, 16), 6, 0x7000000, align=1)
    )
    loads = [
        (0x7000000, b"\xc3" * 16, 16, 5),
        (stack, bytes(64), 64, 6),
        (entry, words([0, 0, jit, 200 << 20]), 32, 6),
    ]
    write(
        folder,
        program,
        status(1, 0x7000008, stack),
        loads + [(jit + step * i, file.ljust(step, b"\0"), step, 6) for i in range(3)],
        in_core=len(program),
    )
    with open(
        os.path.join(folder, "core"), "r+b"
    ) as out:  # the other 797 segments have the same place
        data = bytearray(out.read())
        first = 64 + 56 * 5
        last = bytearray(data[first : first + 56])
        extra = b""
        for i in range(3, 800):
            struct.pack_into("<QQ", last, 16, jit + step * i, jit + step * i)
            extra += last
        table = data[64 : 64 + 56 * 8] + extra
        struct.pack_into("<Q", data, 32, len(data))
        struct.pack_into("<H", data, 56, len(table) // 56)
        out.seek(0)
        out.write(data + table)
elif case == "registered-debugdata":
    # 60 ELF files in gdb's list of generated code, each with 6 MB of symbols in a few kB of
    # .gnu_debugdata.
    jit, step, entry, generated, count, size = 0x10000000, 0x4000, 0x9000000, 0x7000000, 60, 16
    program = with_code_list(entry)
    names = b"\0.text\0.eh_frame\0.gnu_debugdata\0.shstrtab\0"
    inner = lzma.compress(
        elf(
            [
                (".strtab", 3, 0, b"\0f\0"),
                (".symtab", 2, 0, bytes(24) + symbol(1, generated, 1) * 250_000),
            ],
            16,
        )
    )
    frames = eh_frame(generated + 0x800000, generated, size * count, b"")
    images = []
    for i in range(count):
        sections = [bytes(64)]
        at = 64 + 64 * 5
        for name, kind, flags, address, content in (
            (b".text", 1, 6, generated + size * i, b"\xc3" * size),
            (b".eh_frame", 1, 2, generated + 0x800000, frames),
            (b".gnu_debugdata", 1, 0, 0, inner),
            (b".shstrtab", 3, 0, 0, names),
        ):
            sections.append(
                section_header(
                    names.index(name + b"\0"), kind, (at, len(content)), flags, address, align=1
                )
            )
            at += len(content)
        images.append(
            header(ET_EXEC, sections=(64, 5), names=4)
            + b"".join(sections)
            + b"\xc3" * size
            + frames
            + inner
            + names
        )
    entries = b"".join(
        words([entry + 32 * (i + 1) if i + 1 < count else 0, 0, jit + step * i, len(file)])
        for i, file in enumerate(images)
    )
    ram = on_stack([generated + size * i + 8 for i in range(1, count)] + [0])
    loads = [
        (generated, b"\xc3" * size * count, size * count, 5),
        ram,
        (entry, entries, len(entries), 6),
    ]
    write(
        folder,
        program,
        status(1, generated + 8, stack),
        loads + [(jit, b"".join(file.ljust(step, b"\0") for file in images), step * count, 6)],
        in_core=len(program),
    )
elif case.startswith("dyn-"):
    # Code in the list of libunwind's dynamic registration (unw_dyn_info_list_t), which costs more
    # than it has.
    shape = case[len("dyn-") :]
    infos, jit, frames, piece = 0x10000000, 0x7000000, 0x20000000, 1 << 18
    count = {"lists": 0, "regions": 3000, "far-table": 20}.get(shape, 1)
    data = infos + 88 * count
    kind, places, threads, copies, starts = 0, [jit + 8] * 2, 1, [], [text]
    fields = (0, 0, 0, data)  # a procedure: name, handler, flags, regions
    loads, content = [], b""
    if shape == "lists":  # 100 lists of the same 90,000 entries, each of which overlaps the next
        content = words([infos + 8 * i for i in range(1, 90_001)]) + bytes(96)
        starts = [text + 0x1000000 * i for i in range(100)]
        copies = [(0, start) for start in starts[1:]]
    elif shape == "regions":  # each a circle of a region with 16 operations
        threads, content = (
            1000,
            struct.pack("<QiI", data, 1, 16) + struct.pack("<BBHiQ", 4, 1, 7, 0, 0) * 16,
        )
    elif shape == "operations":  # one procedure of 40,000
        places = [jit + 8 + 8 * i for i in range(4000)]
        content = (
            struct.pack("<QiI", 0, 1 << 30, 40_000) + struct.pack("<BBHiQ", 4, 1, 7, 0, 0) * 40_000
        )
    else:  # two FDEs with 200 MB between them, which are all the same 256 KiB; the last but one is missing
        pieces, kind = 800, 1
        copies = [(0, frames + piece * i) for i in range(1, pieces) if i != pieces - 2]
        fde = struct.pack("<II", 20, 4)
        loads = [(frames, fde + bytes(piece - 72) + fde + bytes(56), piece, 6)]
        last = pieces * piece - 64
        content, fields = struct.pack("<iiii", 0, 0, 256, last), (0, frames, 2, data)
    entries = b"".join(
        struct.pack(
            "<5Q2I5Q",
            infos + 88 * (i + 1) if i + 1 < count else 0,
            0,
            jit + i,
            jit + (1 << 20),
            0,
            kind,
            0,
            0,
            *fields,
        )
        for i in range(count)
    )
    parts = [
        (".symtab", 2, 0, bytes(24) + symbol(1, text + 4096, 24, section=3, info=0x11), 3, 24),
        (".strtab", 3, 0, b"\0_U_dyn_info_list\0"),
        (".data", 1, 3, bytes(24)),
    ]
    program = bytearray(elf(parts, 4096))
    program[4096:4112] = struct.pack("<QQ", 0, infos)
    ram = on_stack([*places[1:], 0])
    notes = b"".join(status(1 + i, places[0] + 16 * i, stack) for i in range(threads))
    path = write_program(folder, program)
    notes += files(*((start, start + 0x3000, 0, path) for start in starts))
    loads += [
        (text, bytes(program), 0x3000, 5),
        (infos, entries + content, len(entries + content), 6),
        (jit, b"\xff\xd0" * 16, 1 << 20, 5),
        ram,
    ]
    write_core(folder, notes, loads, copies=copies)
elif case.startswith("source-"):
    # Debug information of DWARF 4 in which much is shared; a frame at each of 200 addresses.
    shape = case[len("source-") :]
    where = struct.pack("<QI", code, 60000)
    unit = b"\x01\x11\x01\x11\x01\x12\x06\0\0"  # 1: a compile unit, with its addresses
    function = b"\x02\x2e\0\x6e\x08\0\0"  # 2: an abstract function, with a linkage name
    copy = b"\x03\x2e\x01\x11\x01\x12\x06\x31\x13\0\0"  # 3: a function with addresses and an origin
    inlined = b"\x04\x1d\x01\x31\x13\x11\x01\x12\x06\x59\x0b\0\0"  # 4: an inlined call
    ranges = b"".join(words([2 * i, 2 * i + 1]) for i in range(1, 20_000)) + bytes(16)
    name = 11 + 13  # the offset of the first entry in the unit
    lines, tables, padding = (
        b"",
        [],
        0,
    )  # tables: offsets of abbreviations; padding: of a compressed file
    if shape == "ranges":  # functions with one list
        abbreviations = unit + b"\x02\x2e\0\x55\x17\0\0"
        units = [b"\x01" + where + b"\x02\0\0\0\0" * 5000 + b"\0"]
    elif shape == "unit-ranges":  # units with one list
        abbreviations = b"\x01\x11\0\x55\x17\0\0"
        units = [b"\x01" + bytes(4)] * 5000
    elif shape == "abbreviation":  # an abbreviation of 100,000 attributes without bytes
        abbreviations = unit[:-2] + b"\x49\x19" * 100_000 + b"\0\0"
        units = [b"\x01" + struct.pack("<QI", code + 8 * i, 8) + b"\0" for i in range(1000)]
    elif (
        shape == "tables"
    ):  # 50 abbreviation tables, each of which has most of the one before: 180,000 abbreviations
        abbreviations = b"\x01\x11\0\0\0" * 180_000
        units = [b"\x01"] * 50
        tables = [5 * i for i in range(50)]
    elif shape == "packed-entries":  # compressed: 9 million entries of one byte
        abbreviations = unit + b"\x02\x0b\0\0\0"
        units = [b"\x01" + where + b"\x02" * 9_000_000 + b"\0"]
        padding = 850_000
    elif shape in (
        "packed-lines",
        "files",
    ):  # compressed: 9 million lines; or a million files of one byte (DWARF 5)
        abbreviations = b"\x01\x11\0\x10\x17\x11\x01\x12\x06\0\0"
        units = [b"\x01" + bytes(4) + where]
        program = (
            b"\0\x09\x02"
            + struct.pack("<Q", code)
            + b"\x01"
            + b"\x0d" * (9_000_000 if shape == "packed-lines" else 1)
            + b"\x02"
            + uleb(60000)
            + b"\0\1\1"
        )
        head = b"\x01\x01\x01\xfb\x0e\x0d\0\1\1\1\1\0\0\0\1\0\0\1"
        if shape == "files":
            head += b"\x01\x01\x08\x01a\0" + b"\x01\x01\x25" + uleb(1_000_000) + bytes(1_000_000)
        else:
            head += b"\0a.c\0\0\0\0\0"
            padding = 800_000
        lines = (
            (
                struct.pack("<HBBI", 5, 8, 0, len(head))
                if shape == "files"
                else struct.pack("<HI", 4, len(head))
            )
            + head
            + program
        )
        lines = struct.pack("<I", len(lines)) + lines
    elif shape == "origins":  # a name at the end of 1,000 references
        abbreviations = unit + function + copy + inlined + b"\x05\x2e\0\x31\x13\0\0"
        chain = b"".join(b"\x05" + struct.pack("<I", name + 5 * (i + 1)) for i in range(1000))
        at = struct.pack("<I", name)
        units = [
            b"\x01"
            + where
            + chain
            + b"\x02foo\0"
            + b"\x03"
            + where
            + at
            + b"\x04"
            + at
            + where
            + b"\x01"
            + bytes(3)
        ]
    elif shape == "nested":  # 10,000 inlined calls, each in the one before
        abbreviations = unit + function + copy + inlined
        at = struct.pack("<I", name)
        units = [
            b"\x01"
            + where
            + b"\x02foo\0"
            + b"\x03"
            + where
            + at
            + (b"\x04" + at + where + b"\x01") * 10_000
            + bytes(10_002)
        ]
    elif shape == "inlined":  # 1,100 of them
        abbreviations = unit + function + copy + inlined
        at = struct.pack("<I", name)
        units = [
            b"\x01"
            + where
            + b"\x02foo\0"
            + b"\x03"
            + where
            + at
            + (b"\x04" + at + where + b"\x01") * 1100
            + bytes(1102)
        ]
    elif shape == "names":  # 1,000 of them, of a name of 8 kB
        abbreviations = unit + function + copy + inlined
        at = struct.pack("<I", name)
        units = [
            b"\x01"
            + where
            + b"\x02"
            + b"f" * 8000
            + b"\0"
            + b"\x03"
            + where
            + at
            + (b"\x04" + at + where + b"\x01") * 1000
            + bytes(1002)
        ]
    elif shape == "text":  # the last of 8 million lines, each of them empty
        abbreviations = b"\x01\x11\0\x10\x17\x11\x01\x12\x06\0\0"
        units = [b"\x01" + bytes(4) + where]
        os.makedirs(os.path.join(folder, "src"), exist_ok=True)
        with open(os.path.join(folder, "src", "a.c"), "wb") as out:
            out.write(b"\n" * (8 << 20))
        program = (
            b"\0\x09\x02"
            + struct.pack("<Q", code)
            + b"\x03"
            + uleb((8 << 20) - 1)
            + b"\x01\x02"
            + uleb(60000)
            + b"\0\1\1"
        )
        head = b"\x01\x01\x01\xfb\x0e\x0d\0\1\1\1\1\0\0\0\1\0\0\1" + b"\0a.c\0\0\0\0\0"
        lines = struct.pack("<HI", 4, len(head)) + head + program
        lines = struct.pack("<I", len(lines)) + lines
    else:
        sys.exit("no case " + case)
    info = b"".join(
        struct.pack("<IHIB", len(entries) + 7, 4, offset, 8) + entries
        for entries, offset in zip(units, tables or [0] * len(units))
    )
    pack = (
        lambda data: struct.pack("<IIQQ", 1, 0, len(data), 8) + zlib.compress(data, 6)
        if padding
        else data
    )
    kind = 0x800 if padding else 0
    parts = [
        cfi(65536),
        (".debug_info", 1, kind, pack(info)),
        (".debug_abbrev", 1, 0, abbreviations + b"\0"),
    ]
    parts += [
        (".debug_ranges", 1, 0, ranges),
        (".debug_line", 1, kind, pack(lines)),
        (".padding", 1, 0, bytes(padding)),
    ]
    write(
        folder,
        elf(parts, 65536),
        status(1, code, stack),
        [on_stack([code + 8 + 8 * i for i in range(199)] + [0])],
    )
elif case.startswith("variables-"):
    # A function of DWARF 4 that has, or whose variables have, much to look at; a frame at each of
    # 400 addresses.
    shape = case[len("variables-") :]
    where = struct.pack("<QI", code, 60000)
    unit = b"\x01\x11\x01\x11\x01\x12\x06\0\0"  # 1: a compile unit, with its addresses
    function = b"\x02\x2e\x01\x11\x01\x12\x06\0\0"  # 2: a function, with its addresses
    variable = (
        b"\x03\x34\0\x03\x08\x49\x13\x02\x18\0\0"  # 3: a variable, with name, type and location
    )
    first = 11 + 13  # the offset of the first entry in the unit's
    before, function_name, more = b"", b"", []

    def variables(kind, count=1000, at=first, place=b"\x03" + struct.pack("<Q", stack)):
        return b"".join(
            bytes([kind]) + b"v%d\0" % i + struct.pack("<I", at) + bytes([len(place)]) + place
            for i in range(count)
        )

    if shape == "many":  # 400,000 of them, in a byte each
        abbreviations, entries = b"\x03\x34\0\0\0", b"\x03" * 400_000
    elif shape == "origins":  # 80,000 of them, each at the end of 15 references
        abbreviations = b"\x03\x34\0\x31\x13\0\0\x04\x34\0\0\0"
        at = first + 13
        entries = (
            b"".join(b"\x03" + struct.pack("<I", at + 5 * (i + 1)) for i in range(15))
            + b"\x04"
            + (b"\x03" + struct.pack("<I", at)) * 80_000
        )
    elif shape == "blocks":  # 67,000 blocks, some of them with 1,000 variables
        abbreviations = b"\x03\x0b\x01\0\0\x04\x34\0\0\0"
        entries = (b"\x03" * 250 + b"\x04" * 1000 + bytes(250)) * 270
    elif shape == "type-name":  # 1,000 of a type whose size comes after 400 kB of name
        abbreviations = variable + b"\x07\x24\0\x03\x08\x0b\x0b\x3e\x0b\0\0"
        before, entries = b"\x07" + b"t" * 400_000 + b"\0\x08\x05", variables(3)
    elif shape == "endless-name":  # 1,000 of a type whose name is a string of 700 kB without an end
        abbreviations = variable + b"\x07\x24\0\x03\x0e\x0b\x0b\x3e\x0b\0\0"
        before, entries = b"\x07" + bytes(4) + b"\x08\x05", variables(3)
        more = [(".debug_str", 1, 0, b"t" * 700_000)]
    elif (
        shape == "shared-name"
    ):  # 1,000 of a type whose name of 700 kB is in the alternate file (DW_FORM_GNU_strp_alt)
        abbreviations = variable + b"\x07\x24\0\x03" + uleb(0x1F21) + b"\x0b\x0b\x3e\x0b\0\0"
        before, entries = b"\x07" + bytes(4) + b"\x08\x05", variables(3)
        more = [(".gnu_debugaltlink", 1, 0, b"alternate\0" + build_id)]
        shared = [
            (".debug_info", 1, 0, struct.pack("<IHIB", 8, 4, 0, 8) + b"\x01"),
            (".debug_abbrev", 1, 0, b"\x01\x41\0\0\0\0"),
            (".debug_str", 1, 0, b"t" * 700_000 + b"\0"),
        ]
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "alternate"), "wb") as out:
            out.write(elf(shared, 16))
    elif shape == "attributes":  # 1,000 of a type whose size comes after 500 other attributes
        abbreviations = variable + b"\x07\x24\0" + b"\x02\x0f" * 500 + b"\x0b\x0b\x3e\x0b\0\0"
        before, entries = b"\x07" + bytes(500) + b"\x08\x05", variables(3)
    elif (
        shape == "entry-values"
    ):  # 1,000 values at the entry, from call sites of a function whose name is compared
        function = b"\x02\x2e\x01\x11\x01\x12\x06\x03\x08\x3f\x19\0\0"
        abbreviations = (
            variable
            + b"\x07\x24\0\x0b\x0b\x3e\x0b\0\0\x08\x48\x01\x7d\x01\x7f\x13\0\0"
            + b"\x09\x49\0\x02\x18\x7e\x18\0\0\x0a\x2e\0\x03\x08\x3f\x19\x3c\x19\0\0"
        )
        function_name = b"f" * 200_000 + b"\0"
        before = b"\x07\x08\x05" + b"\x0a" + function_name
        entries = variables(3, place=b"\xa3\x01\x50\x9f") + b"".join(
            b"\x08" + struct.pack("<QI", code + 8 + 8 * i, first + 3) + b"\x09\x01\x50\x01\x31\0"
            for i in range(400)
        )
    else:
        sys.exit("no case " + case)
    entries = b"\x01" + where + before + b"\x02" + where + function_name + entries + b"\0\0"
    info = struct.pack("<IHIB", len(entries) + 7, 4, 0, 8) + entries
    parts = [
        cfi(65536),
        (".debug_info", 1, 0, info),
        (".debug_abbrev", 1, 0, unit + function + abbreviations + b"\0"),
        *more,
    ]
    write(
        folder,
        elf(parts, 65536),
        status(1, code, stack),
        [on_stack([code + 8 + 8 * i for i in range(399)] + [0])],
    )
elif case.startswith("split-"):
    # Split debug information (DWARF 5, mostly) that is made to cost much; a frame at each of 5,000
    # addresses.
    shape = case[len("split-") :]
    skeleton = b"\x01\x4a\0\x76\x08\x11\x01\x12\x06\0\0\0"  # the file's name, addresses

    def unit(kind, entries, number=1):
        body = struct.pack("<HBBIQ", 5, kind, 8, 0, number) + entries
        return struct.pack("<I", len(body)) + body

    def index(units, buckets, rows):
        places = struct.pack("<II", 1, 3) + bytes(8 * units) + struct.pack("<II", 18, 6) * units
        return (
            struct.pack("<HHIII", 5, 0, 2, units, buckets)
            + b"\7\0\0\0\0\0\0\0" * len(rows)
            + b"".join(struct.pack("<I", row) for row in rows)
            + places
            + bytes(64)
        )

    info, abbreviations, parts, whole = unit(5, b"\x01"), b"\x01\x11\0\0\0\0", [], b""
    ending, split_name = "program.dwp", b"x.dwo"
    if shape == "ranges":  # functions with one list
        ending = "x.dwo"
        abbreviations = b"\x01\x11\x01\0\0\x02\x2e\0\x55\x17\0\0\0"
        info = unit(5, b"\x01" + b"\x02\x0c\0\0\0" * 20_000 + b"\0")
        ranges = (
            struct.pack("<HBBI", 5, 8, 0, 0)
            + b"".join(b"\x07" + struct.pack("<Q", code + 2 * i) + b"\x01" for i in range(20_000))
            + b"\0"
        )
        parts = [(".debug_rnglists.dwo", 1, 0, struct.pack("<I", len(ranges)) + ranges)]
    elif shape == "attributes":  # entries of two bytes that have 100,000 attributes
        ending = "x.dwo"
        abbreviations = b"\x01\x11\x01\0\0\x02\x24\0\x03\x0f" + b"\x49\x19" * 100_000 + b"\0\0\0"
        info = unit(5, b"\x01" + b"\x02\x01" * 100_000 + b"\0")
    elif shape == "no-id":  # units of DWARF 4 without an ID: each may be the one that is looked for
        info = (struct.pack("<IHIB", 8, 4, 0, 8) + b"\x01") * 20_000
    elif shape == "long-name":  # a file with a name of 700 kB
        split_name = b"x" * 700_000
    elif shape == "names":  # a file with 64 names, and 30,000 units beside it
        ending = "x.dwo"
        whole = b"".join(
            unit(4, b"\x01" + b"./" * i + b"x.dwo\0" + struct.pack("<QI", code + 64 * i, 64), i)
            for i in range(64)
        )
        whole += (struct.pack("<IHBBI", 9, 5, 1, 8, 0) + b"\x02") * 30_000
        skeleton = skeleton[:-1] + b"\x02\x11\0\0\0\0"
        info = b"".join(unit(5, b"\x01", i) for i in range(64))
    elif shape == "rows":  # an index with a row far outside of it
        parts = [(".debug_cu_index", 1, 0, index(1, 2, [0x10000000, 0]))]
    elif shape == "full":  # without an empty bucket, at which a search ends
        parts = [(".debug_cu_index", 1, 0, index(1, 1, [1]))]
    elif shape == "units":  # of more units than rows
        parts = [(".debug_cu_index", 1, 0, index(3, 4, [1, 0, 0, 0]))]
    elif shape == "buckets":  # whose size is small in 32 bits
        parts = [
            (".debug_cu_index", 1, 0, struct.pack("<HHIII", 5, 0, 2, 1, 0x15555556) + bytes(4096))
        ]
    elif shape == "no-buckets":
        parts = [(".debug_cu_index", 1, 0, index(1, 0, []))]
    else:
        sys.exit("no case " + case)
    parts = [(".debug_info.dwo", 1, 0, info), (".debug_abbrev.dwo", 1, 0, abbreviations), *parts]
    whole = whole or unit(4, b"\x01" + split_name + b"\0" + struct.pack("<QI", code, 60000))
    program = elf(
        [cfi(65536), (".debug_info", 1, 0, whole), (".debug_abbrev", 1, 0, skeleton)], 65536
    )
    write(
        folder,
        program,
        status(1, code, stack),
        [on_stack([code + 8 + i for i in range(4999)] + [0])],
    )
    with open(os.path.join(folder, ending), "wb") as out:
        out.write(elf(parts, 16))
elif case == "go-lines":
    # 15,000 threads in one function of Go, at whose address it takes 260,000 steps to find the
    # line.
    size = 270_000
    name, file, values = (
        b"\0main.f\0",
        b"f.go\0",
        b"\0" + b"\x12\1" + b"\x20\1\x1f\1" * 130_000 + b"\0",
    )
    names = 72
    units = names + len(name)
    places = [names, units, units + 64, units + 64 + len(file)]
    data = -(-(places[-1] + len(values)) // 4) * 4
    table = (
        struct.pack("<IBBBB8Q", 0xFFFFFFF1, 0, 0, 1, 8, 1, 1, code, *places, data)
        + name
        + bytes(64)
        + file
        + values
    )
    table = (
        table.ljust(data, b"\0")
        + struct.pack("<III", 0, 12, size)
        + struct.pack("<10I", 0, 1, 0, 0, 1, 1, 1, 0, 0, 0)
        + bytes(20)
    )
    threads = b"".join(status(1 + i, code + size - 20_000 + i, stack) for i in range(15_000))
    write(folder, elf([(".gopclntab", 1, 2, table)], size), threads, [(stack, bytes(64), 64, 6)])
elif case == "section-pieces":
    # The SFrame section of a mapped image, in 8,000 segments of the core that are all the same 400
    # kB.
    count, size, section = 8000, 400_000, 0x10000000
    head = header(ET_DYN, segments=(64, 2)) + program_header(PT_LOAD, 5, 0, 0, 4096)
    head += program_header(PT_GNU_SFRAME, 4, 0, section - text, 1 << 40, align=8)
    table = sframe_header(0, 0, 0, 0).ljust(size, b"\0")
    notes = status(1, text, stack) + files((text, text + 4096, 0, "/missing/program"))
    loads = [(text, head.ljust(4096, b"\0"), 4096, 5), (section, table, size, 6)]
    write_core(folder, notes, loads, copies=[(1, section + size * i) for i in range(1, count)])
elif case in ("headers", "packed"):
    # A program whose tables cost more than it has bytes: 10,000 headers of the same SFrame section,
    # or 200 MB in 0.2.
    functions = 4000
    rows = b"".join(struct.pack("<HBB", i, 3, 8) for i in range(200))
    index = b"".join(
        struct.pack("<iIIIBBH", 16 * i, 65536, 0, 200, 1, 0, 0) for i in range(functions)
    )
    table = sframe_header(functions, 200 * functions, len(rows), len(index)) + index + rows
    packed = struct.pack("<IIQQ", 1, 0, 200 << 20, 1) + zlib.compress(bytes(200 << 20), 1)
    parts = (
        [(".sframe", 0x6FFFFFF4, 2, table)]
        if case == "headers"
        else [(".eh_frame", 1, 0x802, packed), (".debug_frame", 1, 0x800, packed)]
    )
    program = elf(parts, 4096)
    if case == "headers":
        program = with_copies(program, 2, 10_000)
    write(folder, program, status(1, code + 8, stack), [on_stack([code + 8, 0])])
    # The same as a sidecar.
    place = os.path.join(folder, "sidecars", ".build-id", "00")
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, build_id[1:].hex() + ".sframe"), "wb") as out:
        out.write(program)
elif case == "units":
    # 50 headers of sections over the same 20,000 units.
    info = (struct.pack("<IHIB", 8, 4, 0, 8) + b"\x01") * 20_000
    parts = [cfi(65536), (".debug_info", 1, 0, info), (".debug_abbrev", 1, 0, b"\x01\x11\0\0\0\0")]
    program = with_copies(elf(parts, 65536), 3, 50)
    write(
        folder,
        program,
        status(1, code, stack),
        [on_stack([code + 8 + 8 * i for i in range(199)] + [0])],
    )
else:
    sys.exit("no case " + case)
