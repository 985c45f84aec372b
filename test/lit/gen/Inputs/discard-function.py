# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""discard-function.py FILE ORDER NUMBER: the function of that number in FILE's version 3 section
starts at address 0, as mold leaves functions that it discarded. ORDER: little or big."""
import re
import subprocess
import sys

path, order, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
sections = subprocess.run(
    ["llvm-readelf", "-SW", path], check=True, capture_output=True, text=True
).stdout
address, offset = (
    int(text, 16)
    for text in re.search(r" \.sframe +\S+ +([0-9a-f]+) ([0-9a-f]+) ", sections).groups()
)
header_size, entry_size = 28, 16
field = header_size + entry_size * number
with open(path, "r+b") as file:
    file.seek(offset + 2)
    assert file.read(1) == b"\3"  # the version
    file.seek(offset + field)
    file.write((-(address + field)).to_bytes(8, order, signed=True))
