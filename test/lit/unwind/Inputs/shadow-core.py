# shadow-core.py CORE WALK OUT [FRAME=WORD...]: a copy of CORE (uncompressed, AMD64 or AArch64) as
# the kernel writes it on a machine with hardware shadow stacks. WALK is sframe-unwind's JSON of
# CORE, with registers: the shadow stack has the return addresses of its first thread. FRAME=WORD
# overwrites the return address of that frame on the stack, and the word below it. FRAME=WORD,all
# overwrites everything from there to the return address of the frame after the next one. Prints the
# innermost frame whose return address was overwritten.
#
# Linux Documentation/arch/x86/shstk.rst, Documentation/arch/arm64/gcs.rst: entries grow down. For a
# signal the kernel pushes a mark, then the address to which the handler returns. The mark is the
# pointer before it with bit 63 set (x86), or its own address without the lower 12 bits (arm64). The
# first entry on arm64 is 0. NT_X86_SHSTK (0x204): the pointer. NT_ARM_GCS (0x410):
# features_enabled, features_locked, gcspr_el0.
import json
import struct
import sys

from elf_writer import note, program_headers

core, walk, out = sys.argv[1:4]
data = bytearray(open(core, "rb").read())
e = "<" if data[5] == 1 else ">"
machine = struct.unpack_from(e + "H", data, 18)[0]
is_arm = machine == 183
headers = [list(header) for header in program_headers(data)]
frames = json.load(open(walk))["threads"][0]["frames"]
number = lambda frame, key: int(frame[key], 16)

base, size = 0x7E0000000000 if not is_arm else 0x7E00000000, 0x10000
assert all(not h[3] <= base < h[3] + h[6] for h in headers)
entries, top = {}, base + size  # address: word
if is_arm:
    top -= 8
pointer = top
for here, caller in reversed(list(zip(frames, frames[1:]))):
    before, pointer = pointer, pointer - 8
    if not here["signal_frame"]:
        entries[pointer] = number(caller, "pc")
    else:
        entries[pointer] = pointer & ~0xFFF if is_arm else before | 1 << 63


def file_offset(address):
    for kind, _, offset, start, _, present, _, _ in headers:
        if kind == 1 and start <= address < start + present:
            return offset + address - start
    raise KeyError(hex(address))


def slot(frame):
    """Where the return address of a frame is on the stack: the nearest place below its CFA, not
    below SP."""
    lowest = number(frames[frame]["registers"], "sp" if is_arm else "rsp")
    for at in range(number(frames[frame], "cfa") - 8, lowest - 8, -8):
        (word,) = struct.unpack_from(e + "Q", data, file_offset(at))
        if (
            word & 0x7FFFFFFFFF == number(frames[frame + 1], "pc") & 0x7FFFFFFFFF
        ):  # without a signature
            return at
    raise KeyError(frame)


def is_at(frame, places):
    try:
        return slot(frame) in places
    except KeyError:
        return False  # in a register


damaged = []
for damage in sys.argv[4:]:
    frame, word = damage.split("=")
    word, *to_next = word.split(",")
    first = slot(int(frame))
    last = slot(int(frame) + 1) if to_next else first
    places = range(first - 8, last + 8, 8)
    damaged += [
        i for i in range(len(frames) - 1) if not frames[i]["signal_frame"] and is_at(i, places)
    ]
    for at in places:
        struct.pack_into(e + "Q", data, file_offset(at), int(word, 0))


if damaged:
    print(min(damaged))


def notes():
    """The notes, with the new one after those of the first thread."""
    (old,) = [h for h in headers if h[0] == 4]
    body = struct.pack(e + "QQQ", 1, 0, pointer) if is_arm else struct.pack(e + "Q", pointer)
    new = note(0x410 if is_arm else 0x204, body, b"LINUX", e)
    at, end, seen = old[2], old[2] + old[5], 0
    while at < end:
        owner, length, kind = struct.unpack_from(e + "III", data, at)
        seen += kind == 1
        if seen == 2:
            break
        at += 12 + (owner + 3 & ~3) + (length + 3 & ~3)
    return old, bytes(data[old[2] : at]) + new + bytes(data[at:end])


old, content = notes()
data += bytes(-len(data) % 8)
old[2], old[5], old[6] = len(data), len(content), 0
data += content + bytes(-len(content) % 8)
headers.append([1, 6, len(data), base, 0, size, size, 4096])
shadow = bytearray(size)
for address, word in entries.items():
    struct.pack_into(e + "Q", shadow, address - base, word)
data += shadow
struct.pack_into(e + "Q", data, 32, len(data))
struct.pack_into(e + "H", data, 56, len(headers))
data += b"".join(struct.pack(e + "IIQQQQQQ", *h) for h in headers)
open(out, "wb").write(data)
