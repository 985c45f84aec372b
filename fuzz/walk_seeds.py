#!/usr/bin/env python3
"""walk_seeds.py FOLDER STEPPERS [NAME PROGRAM CORE]...: seeds of programs and their cores, small
enough to be mutated well.

A seed is the length of the program (3 bytes, little-endian), a choice of steppers (a byte), the
program, and the core. STEPPERS: the choices, in hexadecimal, with commas; a seed for each. Or
words, for all steppers:
  bare           the program has neither sections nor tables
  sframe         the same with SFrame
  gzip, report   the core is compressed, and in a crash report of Apport
  core           seeds are cores alone
Of a core's segments only the pages that are not zero are kept; those between are left out of the
file, as the kernel leaves out what it need not write.
"""
import base64
import gzip
import struct
import sys

PAGE = 4096
PT_NULL, PT_LOAD, PT_GNU_EH_FRAME, PT_GNU_SFRAME = 0, 1, 0x6474E550, 0x6474E554


def without_tables(program, tables=(PT_GNU_EH_FRAME, PT_GNU_SFRAME)):
    bare = bytearray(program)
    order = ">" if program[5] == 2 else "<"
    (at,) = struct.unpack_from(order + "Q", program, 32)
    size, count = struct.unpack_from(order + "HH", program, 54)
    for entry in range(at, at + size * count, size):
        if struct.unpack_from(order + "I", program, entry)[0] in tables:
            struct.pack_into(order + "I", bare, entry, PT_NULL)
    struct.pack_into(order + "Q", bare, 40, 0)
    struct.pack_into(order + "HHH", bare, 58, 0, 0, 0)
    return bytes(bare)


def smaller(core):
    if core[:4] == b"MDMP":
        return core
    order = ">" if core[5] == 2 else "<"
    header = list(struct.unpack_from(order + "16sHHIQQQIHHHHHH", core))
    kept = []  # (program header, bytes)
    for i in range(header[10]):
        segment = list(struct.unpack_from(order + "IIQQQQQQ", core, header[5] + i * header[9]))
        kind, flags, offset, address, physical, size, memory, align = segment
        contents = core[offset : offset + size]
        if kind != PT_LOAD:
            kept.append((segment, contents))
            continue
        pages = [at for at in range(0, size, PAGE) if any(contents[at : at + PAGE])]
        if not pages:
            kept.append(([kind, flags, 0, address, physical, 0, memory, align], b""))
        while pages:  # runs of neighbours
            run = [pages.pop(0)]
            while pages and pages[0] == run[-1] + PAGE:
                run.append(pages.pop(0))
            part = contents[run[0] : run[-1] + PAGE]
            kept.append(([kind, flags, 0, address + run[0], 0, len(part), len(part), align], part))
    header[5], header[10], header[6], header[11], header[12], header[13] = 64, len(kept), 0, 0, 0, 0
    at = 64 + 56 * len(kept)
    heads, bodies = b"", b""
    for segment, contents in kept:
        segment[2] = at + len(bodies)
        heads += struct.pack(order + "IIQQQQQQ", *segment)
        bodies += contents
    return struct.pack(order + "16sHHIQQQIHHHHHH", *header) + heads + bodies


def report(core):
    packed = gzip.compress(core, mtime=0)
    lines = [b"ProblemType: Crash", b"ExecutablePath: /srv/program", b"CoreDump: base64"]
    lines += [b" " + base64.b64encode(packed[at : at + 600]) for at in range(0, len(packed), 600)]
    return b"\n".join(lines) + b"\n"


def seed_of(chosen, program, core):
    if chosen == "core":
        return core
    choice = 0
    if chosen == "bare":
        program = without_tables(program)
    elif chosen == "sframe":
        program = without_tables(program, (PT_GNU_EH_FRAME,))
    elif chosen == "gzip":
        core = gzip.compress(core, mtime=0)
    elif chosen == "report":
        core = report(core)
    else:
        choice = int(chosen, 16)
    return struct.pack("<I", choice << 24 | len(program)) + program + core


folder, steppers, *rest = sys.argv[1:]
for name, program_path, core_path in zip(rest[::3], rest[1::3], rest[2::3]):
    program, core = open(program_path, "rb").read(), smaller(open(core_path, "rb").read())
    for chosen in steppers.split(","):
        with open(
            folder + "/" + name + ("" if chosen in ("core", "0") else "-" + chosen), "wb"
        ) as seed:
            seed.write(seed_of(chosen, program, core))
