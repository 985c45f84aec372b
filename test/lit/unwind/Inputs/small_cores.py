# Cores (of AMD64 by default) and ELF files of AMD64, made byte by byte, for tests that need no compiler and
# no real process.
import os
import struct

text, stack = 0x400000, 0x7FF000000000
code = text + 4096
build_id = bytes(range(20))


def uleb(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def eh_frame(address, start, size, instructions):
    """One CIE (CFA = rsp + 8, return address there) and one FDE."""
    cie = struct.pack("<I", 0) + b"\x01zR\0" + uleb(1) + b"\x78" + uleb(16) + uleb(1) + b"\x1b" + b"\x0c\x07\x08\x90\x01"
    cie += bytes(-len(cie) % 4)
    at = 4 + len(cie)
    fde = struct.pack("<IiI", at + 4, start - (address + at + 8), size) + b"\0" + instructions
    fde += bytes(-len(fde) % 4)
    return struct.pack("<I", len(cie)) + cie + struct.pack("<I", len(fde)) + fde + bytes(4)


def elf(parts, code_size, with_id=True):
    """parts: (name, type, flags, bytes[, link, entry size]); code is at text + 4096, the parts follow. Their sections are
    numbered from 2 on. All is one segment."""
    note = struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id if with_id else b""
    out = bytearray(4096 + code_size)
    out[0x200 : 0x200 + len(note)] = note
    headers, names = [], b"\0"

    def header(name, kind, flags, offset, size, link=0, entry=0):
        nonlocal names
        headers.append(struct.pack("<IIQQQQIIQQ", len(names), kind, flags, text + offset if flags & 2 else 0, offset, size, link, 0, 8, entry))
        names += name.encode() + b"\0"

    headers.append(bytes(64))
    header(".text", 1, 6, 4096, code_size)
    for name, kind, flags, content, *more in parts:
        content = content(text + len(out)) if callable(content) else content
        header(name, kind, flags, len(out), len(content), *more)
        out += content + bytes(-len(content) % 8)
    loaded = len(out)
    at = len(out)
    header(".shstrtab", 3, 0, at, 0)
    headers[-1] = headers[-1][:32] + struct.pack("<Q", len(names)) + headers[-1][40:]
    out += names + bytes(-len(names) % 8)
    out[0:64] = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, text + 4096, 64, len(out), 0, 64, 56, 2, 64, len(headers), len(headers) - 1)
    out[64:176] = struct.pack("<IIQQQQQQ", 1, 5, 0, text, text, loaded, loaded, 4096) + struct.pack("<IIQQQQQQ", 4, 4, 0x200, text + 0x200, text + 0x200, len(note), len(note), 4)
    return bytes(out + b"".join(headers))


def note(kind, body, owner=b"CORE"):
    name = owner + b"\0"
    return struct.pack("<III", len(name), len(body), kind) + name + bytes(-len(name) % 4) + body + bytes(-len(body) % 4)


def status(tid, pc, sp, fp=0):
    registers = [0] * 27
    registers[16], registers[19], registers[4] = pc, sp, fp
    return note(1, struct.pack("<IIIHHQQIIII", 0, 0, 0, 11, 0, 0, 0, tid, 1, 1, 1) + bytes(64) + struct.pack("<27Q", *registers) + bytes(8))


def files(*entries):
    body = struct.pack("<QQ", len(entries), 4096)
    body += b"".join(struct.pack("<QQQ", start, end, offset) for start, end, offset, _ in entries)
    return note(0x46494C45, body + b"".join(os.fsencode(path) + b"\0" for *_, path in entries))


def core(notes, loads, machine=62, copies=()):
    """loads: (address, bytes, memory size, flags). copies: (number, address), a load with the bytes of another one"""
    count = 1 + len(loads) + len(copies)
    at = 64 + 56 * count
    out = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, machine, 1, 0, 64, 0, 0, 64, 56, count, 0, 0, 0)
    out += struct.pack("<IIQQQQQQ", 4, 0, at, 0, 0, len(notes), len(notes), 4)
    data, places = notes, []
    for address, content, memory, flags in loads:
        places.append((at + len(data), len(content), memory, flags))
        out += struct.pack("<IIQQQQQQ", 1, flags, at + len(data), address, address, len(content), memory, 4096)
        data += content
    for number, address in copies:
        place, size, memory, flags = places[number]
        out += struct.pack("<IIQQQQQQ", 1, flags, place, address, address, size, memory, 4096)
    return out + data


def write(folder, program, notes, loads, in_core=4096, name=None):
    """FOLDER/program, and FOLDER/core, which names it and has its first `in_core` bytes."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(os.path.abspath(folder), "program")
    size = -(-len(program) // 4096) * 4096
    with open(path, "wb") as file:
        file.write(program)
    notes += files((text, text + size, 0, path if name is None else name))
    with open(os.path.join(folder, "core"), "wb") as file:
        file.write(core(notes, [(text, program[:in_core], size, 5), *loads]))


def words(values):
    return struct.pack("<%dQ" % len(values), *values)
