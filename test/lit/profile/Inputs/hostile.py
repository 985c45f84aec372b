"""Recordings whose names have any bytes, and such that are cut off anywhere or changed: hostile.py
FOLDER RECORDING

What is printed has no control character, JSON and XML can be read, and the programs end by
themselves."""
import json
import os
import random
import struct
import subprocess
import sys
import xml.dom.minidom

folder, recording = sys.argv[1:3]
NAME = b"a\x1b[31m;\"'</script><b>&\xff\xc3\n\xe2\x80\xae%n$(x)`x`"


def words(*values):
    return struct.pack("<%dQ" % len(values), *values)


def text(name):
    return name + bytes(8 - len(name) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def named(path):
    """A piped recording: a sample with a call chain in a file, a thread and an event of this
    name."""
    attribute = struct.pack("<II", 2, 112) + words(0, 1000, 1 | 2 | 4 | 32, 0, 1 << 18, *[0] * 8)
    at_end = struct.pack("<IIQ", 7, 7, 1)
    records = record(64, 0, attribute + words(5))
    records += record(78, 0, words(2, 5) + text(NAME))
    records += record(3, 0, struct.pack("<II", 7, 7) + text(NAME) + at_end)
    records += record(
        1, 2, struct.pack("<IIQQQ", 7, 7, 0x1000, 0x1000, 0) + text(b"/" + NAME) + at_end
    )
    records += record(
        9, 2, words(0x1100) + struct.pack("<IIQ", 7, 7, 2) + words(3, 2**64 - 512, 0x1100, 0x1201)
    )
    with open(path, "wb") as file:
        file.write(words(0x32454C4946524550, 16) + records)


def run(*options, expect=(0, 1, 2)):
    result = subprocess.run(["sframe-profile", *options], capture_output=True, timeout=60)
    assert result.returncode in expect, (options, result)
    return result


def check_text(output):
    wrong = [byte for byte in output if byte < 32 and byte not in b"\n\t" or byte == 127]
    assert not wrong and "\u202e" not in output.decode(), output


path = os.path.join(folder, "named.data")
named(path)
formats = ("folded", "perf", "svg", "html", "speedscope", "firefox", "pprof")
for name in formats:
    result = run(path, "--format=" + name, expect=(1,))
    check_text(result.stderr)
    assert result.stdout
    if name != "pprof":
        check_text(result.stdout)
    if name == "folded":
        assert result.stdout.count(b"\n") == 1 and result.stdout.count(b";") == 2, result.stdout
    if name == "svg":
        xml.dom.minidom.parseString(result.stdout)
    if name == "html":
        assert result.stdout.count(b"</script>") == 2 and b"<b>" not in result.stdout
    if name in ("speedscope", "firefox"):
        json.loads(result.stdout)

data = open(recording, "rb").read()
changed = os.path.join(folder, "changed.data")
source = random.Random(1)
for number in range(150):
    if number < 50:
        bytes_now = bytearray(data[: len(data) * number // 50])
    else:
        bytes_now = bytearray(data)
        for _ in range(source.choice((1, 3, 30))):
            bytes_now[
                source.randrange(len(data)) if number % 2 else source.randrange(600)
            ] = source.choice((0, 255, source.randrange(256)))
    with open(changed, "wb") as file:
        file.write(bytes_now)
    result = run(changed, "--format=" + formats[number % len(formats)])
    check_text(result.stderr)
    assert result.returncode != 2 or not result.stdout, result
print("fine")
