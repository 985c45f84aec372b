# minidump.py CORE MINIDUMP [OPTION...]: what the writers of minidumps would have kept of the
# process in a core of Linux (AMD64, AArch64). Layouts: breakpad's
# src/google_breakpad/common/minidump_format.h and minidump_cpu_*.h.
#   --style=breakpad   (default) stacks, 256 bytes of code around the pc of the thread that died, /proc files
#   --style=crashpad   stacks; libraries by name without folder; MiscInfo; no /proc files
#   --style=firefox    as breakpad, with MemoryInfoList instead of LinuxMaps
#   --style=full       all memory of the core in a Memory64List, /proc files
#   --stack=BYTES      of each stack at most (breakpad: 32768); full: of each piece of memory
#   --name=TID=NAME    of a thread (repeatable)
#   --guid             build IDs as in a PDB 7.0 record: the first 16 bytes
#   --former-context   AArch64: breakpad's first layout of the registers
#   --program=FILE     the program at its own addresses, for a core without a list of files
import struct
import sys

from elf_writer import program_headers

core, out = sys.argv[1:3]
options = dict(o[2:].partition("=")[::2] for o in sys.argv[3:])
names = dict(o[7:].split("=") for o in sys.argv[3:] if o.startswith("--name="))
style = options.get("style", "breakpad")
data = open(core, "rb").read()
machine = struct.unpack_from("<H", data, 18)[0]
amd64 = machine == 62
assert data[5] == 1 and machine in (62, 183)


def notes(elf):
    for kind, _, offset, _, _, size, _, _ in program_headers(elf):
        at, end = offset, offset + size
        while kind == 4 and at + 12 <= min(end, len(elf)):
            name, body, note = struct.unpack_from("<III", elf, at)
            start = at + 12 + (name + 3) // 4 * 4
            yield elf[at + 12 : at + 12 + name].rstrip(b"\0"), note, elf[start : start + body]
            at = start + (body + 3) // 4 * 4


def build_id(elf):
    return next((body for owner, note, body in notes(elf) if owner == b"GNU" and note == 3), b"")


segments = [
    (vaddr, vaddr + memory, flags, offset, size)
    for kind, flags, offset, vaddr, _, size, memory, _ in program_headers(data)
    if kind == 1
]
threads, files, auxv, signal, name, arguments, pid = [], [], b"", None, b"", b"", 0
for owner, note, body in notes(data):
    if note == 1:
        threads.append((struct.unpack_from("<I", body, 32)[0], body[112:]))
    elif note == 3 and owner == b"CORE":
        pid, name, arguments = (
            struct.unpack_from("<I", body, 24)[0],
            body[40:56].split(b"\0")[0],
            body[56:136].split(b"\0")[0].rstrip(),
        )
    elif note == 6:
        auxv = body
    elif note == 0x53494749 and not signal:
        signal = body
    elif note == 0x46494C45:
        count, page = struct.unpack_from("<QQ", body)
        paths = body[16 + 24 * count :].split(b"\0")
        for i in range(count):
            start, end, offset = struct.unpack_from("<QQQ", body, 16 + 24 * i)
            files.append((start, end, offset * page, paths[i].decode()))
signal_number = struct.unpack_from("<i", signal)[0] if signal else 6
program = options.get("program")
if program:
    for kind, flags, offset, vaddr, _, size, memory, _ in program_headers(
        open(program, "rb").read()
    ):
        if kind == 1:
            files.append(
                (
                    vaddr & ~0xFFF,
                    vaddr + memory + 0xFFF & ~0xFFF,
                    offset & ~0xFFF,
                    "/nowhere/" + program.split("/")[-1],
                )
            )


def memory(start, end):
    """What the core has of it, from the start on."""
    for low, high, _, offset, size in segments:
        if low <= start < low + size:
            return data[offset + start - low : offset + min(end - low, size)]
    return b""


image = bytearray(b"MDMP" + struct.pack("<IIIIIQ", 0xA793, 0, 32, 0, 1700000000, 0))
room = 24 * 12
image += bytes(room)
streams = []


def add(content, align=4):
    image.extend(bytes(-len(image) % align))
    at = len(image)
    image.extend(content)
    return at


def location(content):
    return struct.pack("<II", len(content), add(content)) if content else bytes(8)


def stream(kind, content):
    streams.append((kind, len(content), add(content)))


def text(string):
    wide = string.encode("utf-16-le")
    return add(struct.pack("<I", len(wide)) + wide + b"\0\0")


def context(registers):
    """From user_regs_struct."""
    words = struct.unpack_from("<%dQ" % (27 if amd64 else 34), registers)
    if amd64:
        (
            r15,
            r14,
            r13,
            r12,
            rbp,
            rbx,
            r11,
            r10,
            r9,
            r8,
            rax,
            rcx,
            rdx,
            rsi,
            rdi,
            _,
            rip,
            cs,
            flags,
            rsp,
            ss,
            _,
            _,
            ds,
            es,
            fs,
            gs,
        ) = words
        general = (
            rax,
            rcx,
            rdx,
            rbx,
            rsp,
            rbp,
            rsi,
            rdi,
            r8,
            r9,
            r10,
            r11,
            r12,
            r13,
            r14,
            r15,
            rip,
        )
        result = (
            bytes(48)
            + struct.pack("<IIHHHHHHI", 0x10000F, 0x1F80, cs, ds, es, fs, gs, ss, flags)
            + bytes(48)
            + struct.pack("<17Q", *general)
        )
        return result.ljust(1232, b"\0")
    if "former-context" in options:
        return (
            struct.pack("<Q", 0x80000006) + registers[: 33 * 8] + struct.pack("<I", words[33])
        ).ljust(796, b"\0")
    return (struct.pack("<II", 0x400007, words[33]) + registers[: 33 * 8]).ljust(912, b"\0")


def stack_pointer(registers):
    return struct.unpack_from("<Q", registers, 19 * 8 if amd64 else 31 * 8)[0]


def counter(registers):
    return struct.unpack_from("<Q", registers, 16 * 8 if amd64 else 32 * 8)[0]


blocks = []


def block(start, content):
    if not content:
        return bytes(16)
    entry = struct.pack("<QII", start, len(content), add(content))
    blocks.append(entry)
    return entry


cpu = 9 if amd64 else 0x8003 if "former-context" in options else 12
stream(
    7,
    struct.pack("<HHHBBIIIIIHH", cpu, 6, 0, 2, 0, 6, 1, 0, 0x8201, text("Linux 6.1.0"), 0, 0)
    + bytes(24),
)

listed, contexts = b"", {}
for tid, registers in sorted(threads):
    sp = stack_pointer(registers)
    contexts[tid] = location(context(registers))
    low = sp & ~0xFFF if style != "crashpad" else max(sp - 128, sp & ~0xFFF)
    high = next((high for start, high, *_ in segments if start <= low < high), low)
    kept = (
        memory(low, min(high, low + int(options.get("stack", 1 << 20)))) if style != "full" else b""
    )
    listed += struct.pack("<IIIIQ", tid, 0, 0, 0, 0) + block(low, kept) + contexts[tid]
stream(3, struct.pack("<I", len(threads)) + listed)
dead, registers = threads[0]
if style != "crashpad":
    pc = counter(registers)
    for start, end, _, path in files:
        if start <= pc < end and style != "full":
            low, high = max(start, pc - 128), min(end, pc + 128)
            code = memory(low, high)
            if not code and path[0] == "/" and not program:
                offset = low - start + next(o for s, _, o, _ in files if s == start)
                code = open(path, "rb").read()[offset : offset + high - low]
            block(low, code)

images = {}
for start, end, _, path in files:
    first, _ = images.get(path, (start, 0))
    images[path] = (first, end)
entry = dict(zip(*[iter(struct.unpack("<%dQ" % (len(auxv) // 8), auxv))] * 2)) if auxv else {}
order = sorted(images, key=lambda p: not images[p][0] <= entry.get(9, 0) < images[p][1])
listed, count = b"", 0


def module(start, end, path, identity):
    record = b""
    if identity:
        record = (
            struct.pack("<I", 0x53445352) + identity[:16].ljust(16, b"\0") + bytes(5)
            if "guid" in options
            else struct.pack("<I", 0x4270454C) + identity
        )
    return (
        struct.pack("<QIIII", start, end - start, 0, 0, text(path))
        + bytes(52)
        + location(record)
        + bytes(8 + 16)
    )


for path in order:
    elf = open(program or path, "rb").read()
    if elf[:4] == b"\x7fELF":
        shown = path.split("/")[-1] if style == "crashpad" and path != order[0] else path
        listed += module(*images[path], shown, build_id(elf))
        count += 1
vdso = entry.get(33)
if vdso:
    end = next(high for low, high, *_ in segments if low == vdso)
    listed += module(vdso, end, "linux-gate.so", build_id(memory(vdso, end)))
    count += 1
stream(4, struct.pack("<I", count) + listed)

if style == "full":
    most = int(options.get("stack", 1 << 40))
    present = [
        (low, min(size, most), offset)
        for low, _, _, offset, size in segments
        if size and offset + size <= len(data)
    ]
    start = add(b"".join(data[offset : offset + size] for _, size, offset in present), 4096)
    stream(
        9,
        struct.pack("<QQ", len(present), start)
        + b"".join(struct.pack("<QQ", low, size) for low, size, _ in present),
    )
else:
    stream(5, struct.pack("<I", len(blocks)) + b"".join(blocks))

code, address = (
    (struct.unpack_from("<i", signal, 8)[0], struct.unpack_from("<Q", signal, 16)[0])
    if signal
    else (0, 0)
)
parameters = []
if style == "crashpad" and code <= 0:
    parameters, address = [address & 0xFFFFFFFF, address >> 32, 0], 0
record = struct.pack("<IiQQII", signal_number, code, 0, address, len(parameters), 0) + struct.pack(
    "<15Q", *parameters, *[0] * (15 - len(parameters))
)
stream(6, struct.pack("<II", dead, 0) + record + contexts[dead])

if names:
    stream(
        24,
        struct.pack("<I", len(names))
        + b"".join(struct.pack("<IQ", int(tid), text(string)) for tid, string in names.items()),
    )
if style == "crashpad":
    stream(15, struct.pack("<IIIIII", 24, 1, pid, 0, 0, 0))
else:
    lines, areas = "", b""
    for low, high, flags, _, _ in segments:
        offset, path = next(
            (
                (offset + low - start, path)
                for start, end, offset, path in files
                if start <= low < end
            ),
            (0, "[vdso]" if low == vdso else ""),
        )
        rwx = "".join(
            letter if flags & bit else "-" for letter, bit in (("r", 4), ("w", 2), ("x", 1))
        )
        lines += (
            "%x-%x %sp %08x 08:01 %d %s"
            % (low, high, rwx, offset, 7 if path[:1] == "/" else 0, path)
            + "\n"
        )
        protection = {0: 1, 4: 2, 6: 4, 5: 0x20, 7: 0x40, 1: 0x10, 2: 4, 3: 0x40}[flags & 7]
        areas += struct.pack(
            "<QQIIQIIII", low, low, protection, 0, high - low, 0x1000, protection, 0x20000, 0
        )
    if style == "firefox":
        stream(16, struct.pack("<IIQ", 16, 48, len(areas) // 48) + areas)
    else:
        stream(0x47670009, lines.encode())
    stream(
        0x47670004,
        ("Name:\tits-thread\nTgid:\t%d\nPid:\t%d\n" % (pid, dead)).encode()
        if dead != pid
        else ("Name:\t%s\nTgid:\t%d\nPid:\t%d\n" % (name.decode(), pid, pid)).encode(),
    )
    stream(0x47670006, arguments.replace(b" ", b"\0") + b"\0")
    stream(0x47670008, auxv)

struct.pack_into("<I", image, 8, len(streams))
for i, (kind, size, at) in enumerate(streams):
    struct.pack_into("<III", image, 32 + 12 * i, kind, size, at)
assert 12 * len(streams) <= room
open(out, "wb").write(image)
