# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""remove-search-table.py FROM TO: TO is the file FROM with a .eh_frame_hdr whose count and table
are omitted, as GNU ld writes it for CFI that it cannot parse."""
import re
import subprocess
import sys

source, target = sys.argv[1:]
headers = subprocess.run(
    ["llvm-readelf", "-lW", source], check=True, capture_output=True, text=True
).stdout
offset = int(re.search(r"GNU_EH_FRAME +(0x[0-9a-f]+)", headers).group(1), 16)
with open(source, "rb") as file:
    contents = bytearray(file.read())
version, omit = 1, 0xFF
assert contents[offset] == version
contents[offset + 2 : offset + 4] = bytes((omit, omit))
with open(target, "wb") as file:
    file.write(contents)
