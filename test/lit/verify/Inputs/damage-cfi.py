#!/usr/bin/env python3
"""damage-cfi.py FILE OUT [--level=N]: FILE with another offset of a CFA in .eh_frame: that of the
last DW_CFA_def_cfa_offset 16 after an advance (0e 10). With --level, with level N in the note of
.note.sframe."""
import re
import subprocess
import sys

path, out = sys.argv[1:3]
contents = bytearray(open(path, "rb").read())
level = int(sys.argv[3].removeprefix("--level=")) if len(sys.argv) > 3 else None
name = ".eh_frame" if level is None else ".note.sframe"
text = subprocess.run(
    ["llvm-readelf", "-SW", path], capture_output=True, text=True, check=True
).stdout
offset, size = (
    int(number, 16)
    for number in re.search(re.escape(name) + r" +\w+ +\w+ (\w+) (\w+)", text).groups()
)
if level is not None:
    contents[offset + 20] = level
else:
    at = re.compile(rb"[\x41-\x7f]\x0e\x10").search(contents, offset, offset + size).start()
    contents[at + 2] ^= 8
open(out, "wb").write(contents)
