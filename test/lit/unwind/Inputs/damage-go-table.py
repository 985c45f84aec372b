"""damage-go-table.py PROGRAM OUTPUT COUNT TOOL ARGUMENTS: makes COUNT copies of a Go program with
other bytes in its .gopclntab, one after the other, and calls the tool with each, after the
arguments. Exit code 0 or 1, or 2 with a message of the tool's; no signal."""
import random
import struct
import subprocess
import sys

program, output, count, command = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
with open(program, "rb") as file:
    original = file.read()
(sections,) = struct.unpack_from("<Q", original, 0x28)
size, number, names = struct.unpack_from("<HHH", original, 0x3A)
headers = [struct.unpack_from("<IIQQQQ", original, sections + i * size) for i in range(number)]
start = headers[names][4]
table = next(h for h in headers if original[start + h[0] :].startswith(b".gopclntab\0"))
random.seed(1)
for i in range(count):
    damaged = bytearray(original)
    # The header's words, then the first lists and any place.
    for _ in range(1 if i < 16 else 2000):
        reach = 72 if i < 16 else 16384 if i % 2 else table[5]
        place = i * 4 + 8 if i < 16 else random.randrange(8, reach)
        damaged[table[4] + place] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
    with open(output, "wb") as file:
        file.write(damaged)
    run = subprocess.run([*command, output], capture_output=True, timeout=60, check=False)
    refused = run.returncode == 2 and b": error: " in run.stderr
    assert run.returncode in (0, 1) or refused, (i, run.returncode, run.stderr[-500:])
print(f"{count} damaged tables")
