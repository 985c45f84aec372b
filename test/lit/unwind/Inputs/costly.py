# Makes small cores, and the files that they name, whose walk would cost without bound.
#   costly.py CASE FOLDER        writes FOLDER/core and FOLDER/program
import lzma
import os
import struct
import sys

sys.dont_write_bytecode = True
from small_cores import code, core, eh_frame, elf, files, stack, status, text, words, write

case, folder = sys.argv[1:]

if case == "fde":
    # One FDE of 400 kB that says nothing; a frame at each of 50,000 addresses that it covers.
    program = elf([(".eh_frame", 1, 2, lambda at: eh_frame(at, code, 65536, b"\x0a\x0b" * 200_000))], 65536)
    ram = words([code + 8 + i % 50_000 for i in range(60_000)] + [0])
    write(folder, program, status(1, code, stack), [(stack, ram, len(ram), 6)])
elif case == "fde-rows":
    # The same with a row for each second address.
    instructions = b"\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b\x41" * 40_000
    program = elf([(".eh_frame", 1, 2, lambda at: eh_frame(at, code, 65536, instructions))], 65536)
    ram = words([code + 8 + i * 7919 % 50_000 for i in range(60_000)] + [0])
    write(folder, program, status(1, code, stack), [(stack, ram, len(ram), 6)])
elif case == "sframe-rows":
    # One SFrame function of 65,000 rows; a frame at each of 50,000 addresses that it covers.
    count = 65_000
    rows = b"".join(struct.pack("<HBB", i, 3, 8) for i in range(count))  # SP-based, one word: CFA = rsp + 8

    def section(at):
        header = struct.pack("<HBBBbbBIIIII", 0xDEE2, 2, 1, 3, 0, -8, 0, 1, count, len(rows), 0, 20)
        return header + struct.pack("<iIIIBBH", code - at, 65536, 0, count, 1, 0, 0) + rows

    program = elf([(".sframe", 1, 2, section)], 65536)
    ram = words([code + 8 + i % 50_000 for i in range(60_000)] + [0])
    write(folder, program, status(1, code, stack), [(stack, ram, len(ram), 6)])
elif case == "threads":
    # 1,600 threads over one stack of 400 kB: 80 million frames.
    program = elf([(".eh_frame", 1, 2, lambda at: eh_frame(at, code, 65536, b""))], 65536)
    ram = words([code + 8 + i % 1000 for i in range(50_000)] + [0])
    write(folder, program, b"".join(status(1 + i, code + 8, stack + 8 * i % 4096) for i in range(1600)), [(stack, ram, len(ram), 6)])
elif case in ("guesses", "scans"):
    # 40,000 frames in code without tables, at as many addresses: by frame records, or by looks up the stack.
    calls = b"\xff\xd0" * 50_000  # call *%rax
    program = elf([], 4096)
    values = []
    for i in range(40_000):
        ra = 0x10000000 + 2 + 2 * (i * 7919 % 49_000)
        values += [stack + 16 * i + 16, ra] if case == "guesses" else [0, ra]
    ram = words(values + [0, 0])
    write(folder, program, status(1, 0x10000002, stack, stack), [(0x10000000, calls, len(calls), 5), (stack, ram, len(ram), 6)])
elif case == "debugdata":
    # 160 kB that become 1 GiB.
    packed = lzma.compress(b"\1" * (1 << 24), preset=1) * 64
    program = elf([(".eh_frame", 1, 2, lambda at: eh_frame(at, code, 65536, b"")), (".gnu_debugdata", 1, 0, packed)], 65536)
    ram = words([code + 8, 0])
    write(folder, program, status(1, code + 8, stack), [(stack, ram, len(ram), 6)])
elif case.startswith("debug-info-"):
    # .debug_info whose compression header claims so many bytes.
    claimed = struct.pack("<IIQQ", 1, 0, int(case[len("debug-info-") :], 0), 1) + b"\x78\x9c\x03\0\0\0\0\1"
    parts = [(".eh_frame", 1, 2, lambda at: eh_frame(at, code, 65536, b"")), (".debug_info", 1, 0x800, claimed), (".debug_abbrev", 1, 0, bytes(16))]
    program = elf(parts, 65536)
    ram = words([code + 8, 0])
    write(folder, program, status(1, code + 8, stack), [(stack, ram, len(ram), 6)])
elif case == "files":
    # 5,000 threads, each in a module of its own, whose file is missing.
    bases = [0x10000000 + 0x10000 * i for i in range(5000)]
    notes = b"".join(status(1 + i, base, 0) for i, base in enumerate(bases))
    notes += files(*((base, base + 4096, 0, "/missing/%d" % base) for base in bases))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "core"), "wb") as out:
        out.write(core(notes, [(base, b"", 4096, 5) for base in bases]))
else:
    sys.exit("no case " + case)
