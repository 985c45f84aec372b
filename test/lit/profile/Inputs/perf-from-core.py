"""Writes a perf.data as perf would have, had it taken one sample of each thread in a core of Linux:

    perf-from-core.py CORE PROGRAM OUT [OPTION...]

The sample has the thread's registers and a copy of its stack. PROGRAM is mapped at its own
addresses; other code in the core, such as the kernel's for the return from signals, is written into
files OUT.ADDRESS that are mapped. Layouts: Linux,
tools/perf/Documentation/perf.data-file-format.txt; perf_event_open(2); asm/perf_regs.h.

--pipe         as `perf record -o -` writes it
--stack=BYTES  of each stack at most (default: 65536)
"""
import os
import struct
import sys

from elf_writer import ET_DYN, PT_LOAD, header, program_header

core, program, out = sys.argv[1:4]
options = dict(o[2:].partition("=")[::2] for o in sys.argv[4:])
data = open(core, "rb").read()
order = "<" if data[5] == 1 else ">"
machine = struct.unpack_from(order + "H", data, 18)[0]


def headers(elf):
    (offset,) = struct.unpack_from(order + "Q", elf, 32)
    size, count = struct.unpack_from(order + "HH", elf, 54)
    for i in range(count):
        kind, flags, *rest = struct.unpack_from(order + "IIQQQQQQ", elf, offset + i * size)
        yield kind, flags, *rest


def notes(elf):
    for kind, _, offset, _, _, size, _, _ in headers(elf):
        at, end = offset, min(offset + size, len(elf))
        while kind == 4 and at + 12 <= end:
            name, body, note = struct.unpack_from(order + "III", elf, at)
            start = at + 12 + (name + 3) // 4 * 4
            yield note, elf[start : start + body]
            at = start + (body + 3) // 4 * 4


def words(*values):
    return struct.pack(order + "Q" * len(values), *values)


def text(string, align=8):
    body = string.encode() + b"\0"
    return body + bytes(-len(body) % align)


def amd64(regs, _):
    names = "r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig ip cs flags sp ss fs_base gs_base ds es fs gs".split()
    values = dict(zip(names, regs))
    wanted = "ax bx cx dx si di bp sp ip flags cs ss".split() + [f"r{i}" for i in range(8, 16)]
    return 0xFF0FFF, [values[name] for name in wanted], values["sp"], values["ip"]


def aarch64(regs, _):
    return (1 << 33) - 1, regs[:33], regs[31], regs[32]


def s390x(regs, floats):
    return (1 << 34) - 1, [*regs[2:18], *floats, regs[0], regs[1]], regs[17], regs[1]


arch, layout, status_words = {
    62: ("x86_64", amd64, 27),
    183: ("aarch64", aarch64, 34),
    22: ("s390x", s390x, 18),
}[machine]
if machine == 183 and order == ">":
    arch = "aarch64_be"
threads, name, pid = [], "program", 0
for note, body in notes(data):
    if note == 1:
        threads.append(
            [
                struct.unpack_from(order + "I", body, 32)[0],
                struct.unpack_from(f"{order}{status_words}Q", body, 112),
                (0,) * 16,
            ]
        )
    elif note == 2 and machine == 22:
        threads[-1][2] = struct.unpack_from(order + "16Q", body, 8)
    elif note == 3:
        pid, name = (
            struct.unpack_from(order + "I", body, 24)[0],
            body[40:56].split(b"\0")[0].decode(),
        )


def memory(address, most):
    for kind, _, offset, start, _, size, _, _ in headers(data):
        if kind == 1 and start <= address < start + size:
            return data[offset + address - start : offset + min(size, address - start + most)]
    return b""


def record(kind, misc, body):
    assert len(body) % 8 == 0
    return struct.pack(order + "IHH", kind, misc, 8 + len(body)) + body


def flag(bit):
    return 1 << (63 - bit if order == ">" else bit)


sample_type = 1 | 2 | 4 | 256 | 4096 | 8192  # IP, TID, TIME, PERIOD, REGS_USER, STACK_USER
mask = layout(*threads[0][1:])[0]
most = int(options.get("stack", 65528))
attribute = struct.pack(order + "II", 1, 112) + words(
    0, 1000, sample_type, 0, flag(18), 0, 0, 0, 0, mask
)
attribute += struct.pack(order + "II", most, 0) + words(0, 0)


def at_end(tid, time):
    return struct.pack(order + "II", tid, tid) + words(time)


def mapping(path, start, length, offset):
    body = struct.pack(order + "II", pid, pid) + words(start, length, offset)
    return record(
        10,
        2,
        body
        + bytes(24)
        + struct.pack(order + "II", 5, 2)
        + text(os.path.abspath(path))
        + at_end(pid, 2),
    )


records = record(3, 0, struct.pack(order + "II", pid, pid) + text(name) + at_end(pid, 1))
code = []
with open(program, "rb") as file:
    image = file.read()
for kind, flags, offset, start, _, size, _, _ in headers(image):
    if kind == 1 and flags & 1:
        page = start % 4096
        code.append((start - page, (size + page + 4095) // 4096 * 4096))
        records += mapping(program, *code[-1], offset - page)
for kind, flags, offset, start, _, size, _, _ in headers(data):
    if (
        kind == 1
        and flags & 1
        and size
        and not any(first < start + size and start < first + length for first, length in code)
    ):
        path = f"{out}.{start:x}"
        with open(path, "wb") as file:
            head = header(ET_DYN, machine, segments=(64, 1), order=order) + program_header(
                PT_LOAD, 5, 4096, start, size, order=order
            )
            file.write(head + bytes(4096 - len(head)) + data[offset : offset + size])
        records += mapping(path, start, size, 4096)
for number, (tid, regs, floats) in enumerate(threads):
    _, values, sp, pc = layout(regs, floats)
    stack = memory(sp, most)[: 65000 // 8 * 8]
    stack = stack[: len(stack) // 8 * 8]
    body = (
        words(pc)
        + struct.pack(order + "II", pid, tid)
        + words(10 + number, 1000, 2, *values, len(stack))
        + stack
        + words(len(stack))
    )
    if len(body) > 65500:
        cut = 64000
        body = (
            words(pc)
            + struct.pack(order + "II", pid, tid)
            + words(10 + number, 1000, 2, *values, cut)
            + stack[:cut]
            + words(cut)
        )
    records += record(9, 2, body)


def counted(string):
    body = text(string, 64)
    return struct.pack(order + "I", len(body)) + body


features = {6: counted(arch), 11: struct.pack(order + "I", 2) + counted("perf") + counted("record")}
magic = words(0x32454C4946524550)
with open(out, "wb") as file:
    if "pipe" in options:
        file.write(magic + words(16) + record(64, 0, attribute + words(5)))
        for feature, body in features.items():
            file.write(record(80, 0, words(feature) + body + bytes(-len(body) % 8)))
        file.write(records)
    else:
        at_ids = 104
        at_attribute = at_ids + 8
        at_data = at_attribute + len(attribute) + 16
        bits = sum(1 << feature for feature in features)
        header = magic + words(
            104,
            len(attribute) + 16,
            at_attribute,
            len(attribute) + 16,
            at_data,
            len(records),
            0,
            0,
            bits,
            0,
            0,
            0,
        )
        file.write(header + words(5) + attribute + words(at_ids, 8) + records)
        at = at_data + len(records) + 16 * len(features)
        for body in features.values():
            file.write(words(at, len(body)))
            at += len(body)
        for body in features.values():
            file.write(body)
