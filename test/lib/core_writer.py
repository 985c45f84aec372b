"""Cores of Linux (of AMD64 by default) and the programs that they name, byte by byte: for tests
that need no compiler and no real process, and for seeds of fuzz targets.

    write("folder", elf([cfi(4096)], 4096), status(1, code, stack), [on_stack([code + 8, 0])])
"""
import os
import struct

from elf_writer import (
    EM_AMD64,
    ET_CORE,
    ET_EXEC,
    NT_GNU_BUILD_ID,
    PT_LOAD,
    PT_NOTE,
    SHF_ALLOC,
    SHF_EXEC,
    SHT_PROGBITS,
    File,
    aligned,
    eh_frame,
    header,
    note,
    program_header,
    words,
)

PAGE = 4096
NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_X86_SHSTK, NT_ARM_GCS, NT_FILE, NT_SIGINFO = (
    1,
    3,
    6,
    0x204,
    0x410,
    0x46494C45,
    0x53494749,
)
text, stack = 0x400000, 0x7FF000000000
code = text + PAGE
build_id = bytes(range(20))


def elf(parts, code_size, identity=build_id):
    """A program: code at text + 4096, the parts follow: (name, type, flags, bytes[, link, entry
    size]), numbered from 2 on. All is one segment. Bytes may be a function of their address."""
    identity = note(NT_GNU_BUILD_ID, identity, b"GNU") if identity else b""
    file = File(ET_EXEC, entry=code, segments=(64, 2))
    file.data += bytes(PAGE + code_size - 64)
    file.data[0x200 : 0x200 + len(identity)] = identity
    file.section(".text", SHT_PROGBITS, (PAGE, code_size), SHF_ALLOC | SHF_EXEC, code)
    for name, kind, flags, content, *more in parts:
        address = text + file.add(b"")[0]
        where = file.add(content(address) if callable(content) else content)
        link, entry = more or (0, 0)
        file.section(
            name, kind, where, flags, address if flags & SHF_ALLOC else 0, link, entry=entry
        )
    size = file.add(b"")[0]
    file.data[64:176] = program_header(PT_LOAD, 5, 0, text, size) + program_header(
        PT_NOTE, 4, 0x200, text + 0x200, len(identity), align=4
    )
    return file.content()


def cfi(size, instructions=b"", start=code):
    """A part: .eh_frame, in which one FDE covers so many bytes."""
    return ".eh_frame", SHT_PROGBITS, SHF_ALLOC, lambda at: eh_frame(at, start, size, instructions)


def prstatus(tid, registers, signal=0):
    """What NT_PRSTATUS has: general registers as the kernel numbers them."""
    head = struct.pack("<IIIHHQQIIII", signal, 0, 0, 11, 0, 0, 0, tid, 1, 1, 1)
    return head + bytes(64) + words(registers) + bytes(8)


def status(tid, pc, sp, fp=0):
    registers = [0] * 27
    registers[16], registers[19], registers[4] = pc, sp, fp
    return note(NT_PRSTATUS, prstatus(tid, registers))


def process(name=b"program"):
    return note(NT_PRPSINFO, bytes(40) + name.ljust(16, b"\0") + bytes(80))


def files(*entries, count=None):
    """NT_FILE: (start, end, offset, path) of each, as many as `count` says, by default all. Offsets
    are in pages."""
    body = words([len(entries) if count is None else count, PAGE])
    body += b"".join(words(entry[:3]) for entry in entries)
    return note(NT_FILE, body + b"".join(os.fsencode(path) + b"\0" for *_, path in entries))


def core(notes, loads, machine=EM_AMD64, copies=(), note_size=None, elf_class=2):
    """loads: (address, bytes, memory size, flags). copies: (number, address), a load with the bytes
    of another one."""
    count = 1 + len(loads) + len(copies)
    at = 64 + 56 * count
    out = header(ET_CORE, machine, (64, count), elf_class=elf_class)
    out += program_header(
        PT_NOTE, 0, at, 0, len(notes) if note_size is None else note_size, align=4
    )
    at, places = at + len(notes), []
    for address, content, memory, flags in loads:
        places.append((at, len(content), memory, flags))
        at += len(content)
    addresses = [address for address, *_ in loads] + [address for _, address in copies]
    for address, (place, size, memory, flags) in zip(
        addresses, places + [places[number] for number, _ in copies]
    ):
        out += program_header(PT_LOAD, flags, place, address, size, memory)
    return out + notes + b"".join(content for _, content, *_ in loads)


def on_stack(values, address=stack):
    """A load: words, which may be written."""
    return address, words(values), 8 * len(values), 6


def write(folder, program, notes, loads, in_core=PAGE, name=None):
    """FOLDER/program, and FOLDER/core, which names it and has its first `in_core` bytes."""
    path, size = write_program(folder, program), len(aligned(program, PAGE))
    notes += files((text, text + size, 0, path if name is None else name))
    write_core(folder, notes, [(text, program[:in_core], size, 5), *loads])


def write_program(folder, program, name="program"):
    """FOLDER/NAME alone: its path, as a core has it."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(os.path.abspath(folder), name)
    with open(path, "wb") as file:
        file.write(program)
    return path


def write_core(folder, notes, loads, copies=()):
    """FOLDER/core alone."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "core"), "wb") as file:
        file.write(core(notes, loads, copies=copies))
