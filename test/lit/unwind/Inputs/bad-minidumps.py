# Makes minidumps that are wrong in one way each, walks them, and checks exit code and message.
#   bad-minidumps.py FOLDER [--only-write]
import os
import struct
import subprocess
import sys

folder = sys.argv[1]
stack, code = 0x7FFC00000000, 0x400000
threads, modules, memory, exception, system, memory64, misc, info, names = (
    3,
    4,
    5,
    6,
    7,
    9,
    15,
    16,
    24,
)
status, command, auxv, maps = 0x47670004, 0x47670006, 0x47670008, 0x47670009


class Dump:
    def __init__(self):
        self.data, self.streams = bytearray(4096), []
        self.add_stream(
            system,
            struct.pack("<HHHBBIIIIIHH", 9, 6, 0, 2, 0, 6, 1, 0, 0x8201, 0, 0, 0) + bytes(24),
        )

    def add(self, content):
        self.data += bytes(-len(self.data) % 4)
        at = len(self.data)
        self.data += content
        return at

    def add_stream(self, kind, content, size=None, at=None):
        self.streams.append(
            (kind, len(content) if size is None else size, self.add(content) if at is None else at)
        )
        return self

    def context(self, flags=0x10000F, size=1232):
        general = [0] * 17
        general[4], general[16] = stack + 64, code + 16
        return self.add(
            (
                bytes(48) + struct.pack("<I", flags) + bytes(68) + struct.pack("<17Q", *general)
            ).ljust(1232, b"\0")[:size]
        )

    def add_threads(self, *contexts, count=None, size=1232, tids=None):
        at = self.add(bytes(4096))
        entries = b"".join(
            struct.pack(
                "<IIIIQQIIII",
                tids[i] if tids else 7 + i,
                0,
                0,
                0,
                0,
                stack,
                4096,
                at,
                size,
                context,
            )
            for i, context in enumerate(contexts)
        )
        return self.add_stream(
            threads, struct.pack("<I", len(contexts) if count is None else count) + entries
        )

    def bytes(self, count=None, start=32, version=0xA793, magic=b"MDMP"):
        self.data[:32] = magic + struct.pack(
            "<IIIIIQ", version, len(self.streams) if count is None else count, start, 0, 0, 0
        )
        for i, entry in enumerate(self.streams[:300]):
            self.data[32 + 12 * i : 44 + 12 * i] = struct.pack("<III", *entry)
        return bytes(self.data)


def plain():
    dump = Dump()
    return dump.add_threads(dump.context())


def with_system(content):
    dump = plain()
    dump.streams[0] = (system, len(content), dump.add(content))
    return dump.bytes()


def system_of(platform, cpu=9):
    return struct.pack("<HHHBBIIIIIHH", cpu, 6, 0, 2, 0, 6, 1, 0, platform, 0, 0, 0) + bytes(24)


def module(start, size, name, record=(0, 0)):
    return (
        struct.pack("<QIIII", start, size, 0, 0, name)
        + bytes(52)
        + struct.pack("<II", *record)
        + bytes(24)
    )


def many_modules(count, name_length):
    dump = plain()
    name = dump.add(struct.pack("<I", 2 * name_length) + b"x\0" * name_length)
    return dump.add_stream(
        modules,
        struct.pack("<I", count)
        + b"".join(module(code + (i << 12), 4096, name) for i in range(count)),
    ).bytes()


def self_referring():
    """Everything at the same place."""
    dump = plain()
    for kind in (modules, memory, memory64, names, info, maps, status):
        dump.add_stream(kind, b"", size=4096, at=0)
    return dump.bytes()


def overlapping_memory():
    dump = plain()
    at = dump.add(bytes(1 << 16))
    ranges = [(stack + 16 * i, 1 << 15, at) for i in range(20000)]
    return dump.add_stream(
        memory, struct.pack("<I", len(ranges)) + b"".join(struct.pack("<QII", *r) for r in ranges)
    ).bytes()


def shared_contexts(count):
    """A million threads with the registers of one: only as many are read as have room in the
    file."""
    dump = plain()
    context = dump.context()
    dump.streams = dump.streams[:1]
    return dump.add_threads(*[context] * count).bytes()


def million_streams():
    dump = plain()
    dump.streams += [(maps, 32, 1 << 31)] * 290
    data = bytearray(dump.bytes(count=1000000, start=0x8000))
    data += bytes(0x8000 - len(data)) if len(data) < 0x8000 else b""
    at = 0x8000
    entries = (
        b"".join(struct.pack("<III", *e) for e in dump.streams[:2])
        + struct.pack("<III", maps, 32, 1 << 31) * 999998
    )
    return bytes(data[:at]) + entries if len(plain().data) <= at else None


def truncated(size):
    return plain().bytes()[:size]


def nameless(rva):
    dump = plain()
    return dump.add_stream(names, struct.pack("<IIQ", 1, 7, rva)).bytes()


end = len(plain().data)
cases = [
    ("plain", plain().bytes(), 1, "ended early"),
    ("short-header", b"MDMP" + bytes(8), 2, "minidump is too short for its header (offset 0xc)"),
    ("version", plain().bytes(version=1), 2, "minidump of an unknown version (offset 0x4)"),
    ("no-streams", plain().bytes(count=0), 2, "minidump without streams (offset 0x20)"),
    (
        "directory-outside",
        plain().bytes(start=0xFFFFFFF0),
        2,
        "minidump without streams (offset 0xfffffff0)",
    ),
    (
        "directory-cut",
        plain().bytes(count=1 << 31),
        1,
        "the minidump's directory runs past the end of the file (offset 0x20)",
    ),
    (
        "million-streams",
        million_streams(),
        1,
        "stream LinuxMaps runs past the end of the file (offset 0x80000000)",
    ),
    ("no-system", with_system(b"")[:], 2, "minidump without the stream SystemInfo"),
    ("short-system", with_system(bytes(55)), 2, "minidump without the stream SystemInfo"),
    (
        "windows",
        with_system(system_of(2)),
        2,
        "minidump of Windows: only those of Linux are supported (offset 0x",
    ),
    (
        "mac",
        with_system(system_of(0x8101)),
        2,
        "minidump of macOS: only those of Linux are supported",
    ),
    ("unknown-system", with_system(system_of(0x9999)), 2, "minidump of an unknown system"),
    ("x86", with_system(system_of(0x8201, 0)), 2, "machine that SFrame does not support"),
    ("no-threads", Dump().bytes(), 2, "no threads"),
    (
        "thread-count",
        (lambda d: d.add_threads(d.context(), count=1 << 31))(Dump()).bytes(),
        1,
        "stream ThreadList has fewer entries than it says (offset 0x",
    ),
    (
        "thread-count-too-low",
        (lambda d: d.add_threads(d.context(), d.context(), count=1))(Dump()).bytes(),
        1,
        "stream ThreadList has more entries than it says (offset 0x",
    ),
    (
        "thread-list-empty",
        Dump().add_stream(threads, b"").bytes(),
        2,
        "stream ThreadList is empty (offset 0x",
    ),
    (
        "thread-twice",
        (lambda d: d.add_threads(d.context(), d.context(), tids=(7, 7)))(Dump()).bytes(),
        1,
        "stream ThreadList has 1 thread with the ID of an earlier one (offset 0x",
    ),
    (
        "thread-three-times",
        (lambda d: d.add_threads(d.context(), d.context(), d.context(), tids=(7, 7, 7)))(
            Dump()
        ).bytes(),
        1,
        "stream ThreadList has 2 threads with the ID of an earlier one (offset 0x",
    ),
    (
        "thread-list-outside",
        Dump().add_stream(threads, b"", size=100, at=1 << 31).bytes(),
        2,
        "stream ThreadList runs past the end of the file (offset 0x80000000)",
    ),
    (
        "contexts-outside",
        Dump().add_threads(1 << 30, 0xFFFFFFFF).bytes(),
        2,
        "2 threads have no usable registers (offset 0x40000000)",
    ),
    (
        "context-of-x86",
        (lambda d: d.add_threads(d.context(flags=0x1003F)))(Dump()).bytes(),
        2,
        "1 thread has no usable registers",
    ),
    (
        "context-without-pc",
        (lambda d: d.add_threads(d.context(flags=0x100002)))(Dump()).bytes(),
        2,
        "1 thread has no usable registers",
    ),
    (
        "short-context",
        (lambda d: d.add_threads(d.context(), size=0xFF))(Dump()).bytes(),
        2,
        "1 thread has no usable registers",
    ),
    (
        "short-exception",
        plain().add_stream(exception, bytes(100)).bytes(),
        1,
        "stream Exception is too short (offset 0x",
    ),
    (
        "exception-elsewhere",
        plain().add_stream(exception, struct.pack("<II", 99, 0) + bytes(160)).bytes(),
        1,
        "",
    ),
    (
        "wild-signal",
        plain()
        .add_stream(
            exception,
            struct.pack("<IIIiQQII", 7, 0, 0xFFFFFFFF, -6, 0, 0, 0xFFFFFFFF, 0) + bytes(128),
        )
        .bytes(),
        1,
        "",
    ),
    (
        "memory-count",
        plain().add_stream(memory, struct.pack("<I", 0xFFFFFFFF)).bytes(),
        1,
        "stream MemoryList has fewer entries than it says",
    ),
    (
        "memory-outside",
        plain().add_stream(memory, struct.pack("<IQII", 1, stack + 4096, 1 << 20, end)).bytes(),
        1,
        "core is truncated",
    ),
    (
        "memory-at-the-top",
        plain().add_stream(memory, struct.pack("<IQII", 1, 0xFFFFFFFFFFFFF000, 4096, 32)).bytes(),
        1,
        "",
    ),
    (
        "memory64-outside",
        plain()
        .add_stream(memory64, struct.pack("<QQQQ", 1, 0xFFFFFFFFFFFFFFFF, stack, 1 << 40))
        .bytes(),
        1,
        "core is truncated",
    ),
    (
        "memory64-count",
        plain().add_stream(memory64, struct.pack("<QQ", 0xFFFFFFFFFFFFFFFF, 0)).bytes(),
        1,
        "stream Memory64List has fewer entries than it says",
    ),
    (
        "memory64-wraps",
        plain()
        .add_stream(
            memory64,
            struct.pack(
                "<QQQQQQ", 2, 32, stack + 4096, 0xFFFFFFFFFFFFFFFF, stack, 0xFFFFFFFFFFFFFFFF
            ),
        )
        .bytes(),
        1,
        "core is truncated",
    ),
    ("overlapping-memory", overlapping_memory(), 1, ""),
    (
        "module-count",
        plain().add_stream(modules, struct.pack("<I", 1 << 20) + bytes(60)).bytes(),
        1,
        "stream ModuleList has fewer entries than it says",
    ),
    (
        "module-name-outside",
        plain().add_stream(modules, struct.pack("<I", 1) + module(code, 4096, 0xFFFFFFF0)).bytes(),
        1,
        "",
    ),
    (
        "module-id-outside",
        plain()
        .add_stream(modules, struct.pack("<I", 1) + module(code, 4096, 0, (1 << 31, 1 << 31)))
        .bytes(),
        1,
        "",
    ),
    (
        "module-at-the-top",
        plain()
        .add_stream(
            modules,
            struct.pack("<I", 2) + module(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF, 0) + module(code, 0, 0),
        )
        .bytes(),
        1,
        "",
    ),
    ("long-names", many_modules(8000, 30000), 1, ""),
    ("shared-contexts", shared_contexts(100000), 1, "threads have no usable registers"),
    ("name-outside", nameless(0xFFFFFFFFFFFFFFFE), 1, ""),
    (
        "info-size",
        plain().add_stream(info, struct.pack("<IIQ", 0, 48, 0xFFFFFFFFFFFFFFFF)).bytes(),
        1,
        "",
    ),
    (
        "maps",
        plain()
        .add_stream(maps, b"0-ffffffffffffffff rwxp 0 0:0 0 /x\n" * 1000 + b"-\n1-2\n\xff")
        .bytes(),
        1,
        "",
    ),
    (
        "many-maps",
        plain()
        .add_stream(
            maps,
            b"".join(b"%x-%x r-xp 0 0:0 1 /%x\n" % (i << 12, i + 1 << 12, i) for i in range(30000)),
        )
        .bytes(),
        1,
        "",
    ),
    ("self-referring", self_referring(), 1, ""),
    *((f"truncated-{size}", truncated(size), None, "") for size in range(4, end, 611)),
]
for name, content, code_expected, message in cases:
    path = os.path.join(folder, name + ".dmp")
    with open(path, "wb") as out:
        out.write(content)
    if "--only-write" in sys.argv:
        continue
    done = subprocess.run(
        ["sframe-unwind", "--no-files", path], capture_output=True, text=True, timeout=60
    )
    output = done.stdout + done.stderr
    assert done.returncode in (0, 1, 2), (name, done.returncode, output)
    assert code_expected is None or done.returncode == code_expected, (
        name,
        done.returncode,
        output[-2000:],
    )
    assert done.stderr.count("\n") < 100, (name, done.stderr[:2000])
    assert message in output, (name, output[-2000:])
    assert done.returncode != 2 or f"{path}: " in done.stderr, (name, output)
print("every one distinguished")
