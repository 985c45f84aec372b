# Makes cores that are wrong in one way each, walks them, and checks exit code, message and time.
#   bad-cores.py FOLDER
import json
import os
import struct
import subprocess
import sys
import time

from core_writer import (
    NT_PRPSINFO,
    NT_PRSTATUS,
    core,
    files,
    process,
    prstatus,
    status as status_at,
    text,
)
from elf_writer import note

folder = sys.argv[1]
stack = 0x7FFC0000


def status(tid=1, pc=text + 16, sp=stack, fp=0):
    return status_at(tid, pc, sp, fp)


def walk(name, bytes_, *options):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(bytes_)
    started = time.monotonic()
    done = subprocess.run(["sframe-unwind", path, *options], capture_output=True, timeout=120)
    assert time.monotonic() - started < 30, name
    assert done.returncode in (0, 1, 2), (name, done.returncode, done.stderr[-2000:])
    return (
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


def expect(name, bytes_, code, *words, options=()):
    result = walk(name, bytes_, *options)
    assert result[0] == code, (name, result)
    for word in words:
        assert word in result[1] + result[2], (name, word, result)
    return result


code = b"\x90" * 4096
ram = (stack, bytes(4096), None, 6)
program = (text, code, None, 5)
good = status() + process()

expect(
    "plain",
    core(good, [program, ram]),
    1,
    "TID 1:",
    "ended early: no unwind information for the pc (0x400010)",
)
expect("elf32", core(good, [program, ram], elf_class=1), 2, "64-bit")
expect("other-machine", core(good, [program, ram], machine=243), 2, "machine")
expect("no-threads", core(process(), [program, ram]), 2, "no threads")
expect(
    "short-status",
    core(note(NT_PRSTATUS, prstatus(1, [0] * 27)[:200]) + process(), [program, ram]),
    2,
    "NT_PRSTATUS note is too short",
    "no threads",
)
expect(
    "short-process",
    core(status() + note(NT_PRPSINFO, bytes(20)), [program, ram]),
    1,
    "NT_PRPSINFO note is too short",
)
repeated = expect(
    "repeated",
    core(
        status() + process() + note(NT_PRPSINFO, bytes(20)) * 2000 + note(NT_PRSTATUS, bytes(20)),
        [program, ram],
    ),
    1,
    "NT_PRPSINFO note is too short, and 1999 more",
    "NT_PRSTATUS note is too short",
)
assert repeated[2].count("too short") == 2, repeated
expect("notes-past-end", core(good, [program, ram], note_size=1 << 40), 2, "past the end")
expect(
    "note-too-long",
    core(good + struct.pack("<III", 5, 0xFFFFFFF0, 1), [program, ram]),
    1,
    "note runs past the end of its segment",
)
expect(
    "files-count", core(good + files(count=1 << 60), [program, ram]), 1, "NT_FILE note is too short"
)
expect(
    "files-no-paths",
    core(
        good + files((text, text + 4096, 0, b""), (text, text + 1, 0, b""), count=2)[:-4],
        [program, ram],
    ),
    1,
)

# A register in memory that is not there; a stack pointer at the end of the address space.
expect(
    "wild",
    core(status(pc=0, sp=0xFFFFFFFFFFFFFFF8) + process(), [program, ram]),
    1,
    "not in an executable mapping",
)
expect("fp-wraps", core(status(sp=0, fp=0xFFFFFFFFFFFFFFF8) + process(), [program, ram]), 1)
wraps = (0xFFFFFFFFFFFFF000, code, 1 << 40, 5)
expect(
    "wraps", core(status(pc=0xFFFFFFFFFFFFF800, sp=0xFFFFFFFFFFFFFF00) + process(), [wraps, ram]), 1
)
overlap = (text + 100, code * 2, None, 7)
expect("overlap", core(good, [program, overlap, program, ram]), 1)
expect("sparse", core(good, [(text, code, 1 << 46, 5), ram]), 1)

# Frame records that lead to themselves, and down the stack: call *%rax (ff d0) is what the return
# address follows.
calls = (text, b"\xff\xd0" * 2048, None, 5)


def record(at, fp, ra):
    return bytes(at) + struct.pack("<QQ", fp, ra) + bytes(4096 - at - 16)


expect(
    "loop",
    core(
        status(sp=stack, fp=stack + 64) + process(),
        [calls, (stack, record(64, stack + 64, text + 64), None, 6)],
    ),
    1,
    "ended early",
    options=("--steppers=frame-pointer",),
)
result = expect(
    "down",
    core(
        status(sp=stack, fp=stack + 64) + process(),
        [calls, (stack, record(64, stack, text + 64), None, 6)],
    ),
    1,
    "ended early",
    options=("--steppers=frame-pointer",),
)
assert result[1].count("#") == 2, result

# Names that would steer a terminal, or break JSON.
path = b'/tmp/new\nline\x1b[31m\xff"\\'
named = core(
    status()
    + process(b"na\nme\xff")
    + files((text, text + 4096, 1, path), (text + 4096, text + 8192, 2, path)),
    [program, (text + 4096, code, None, 5), ram],
)
result = expect("names", named, 1)
assert "\x1b" not in result[1] + result[2] and "new\nline" not in result[1] + result[2], result
data = json.loads(walk("names.json", named, "--format=json")[1])
assert data["threads"][0]["name"] == "na\nme\ufffd", data
assert any('new\nline\x1b[31m\ufffd"\\' in module["path"] for module in data["modules"]), data

# Many threads, modules and segments: linear.
many = b"".join(status(tid) for tid in range(20_000)) + process()
result = expect("many-threads", core(many, [program, ram]), 1, options=("--no-names", "--group"))
assert "20000 threads" in result[1], result[1][:300]
many = files(
    *[(text + i * 4096, text + i * 4096 + 4096, 1, b"/nowhere/%d" % i) for i in range(60_000)]
)
result = walk(
    "many-files", core(good + many, [(text, b"", 60_000 * 4096, 5), ram]), "--format=json"
)
assert result[0] == 1 and len(json.loads(result[1])["modules"]) == 60_000, result[2]
many = [(text + i * 4096, b"", 4096, 5) for i in range(60_000)]
expect("many-segments", core(good, [*many, ram]), 1)
print("every one distinguished")
