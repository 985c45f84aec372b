# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# program_headers.py IMAGE COPY TYPE CHANGE...: changes fields of all program headers of this type
# (a number, or all) of a 64-bit ELF file. CHANGE is FIELD=NUMBER, FIELD+NUMBER or FIELD-NUMBER;
# FIELD is type, flags, offset, vaddr, filesz or memsz.
import re
import struct
import sys

FIELDS = {
    "type": (0, "I"),
    "flags": (4, "I"),
    "offset": (8, "Q"),
    "vaddr": (16, "Q"),
    "filesz": (32, "Q"),
    "memsz": (40, "Q"),
}
image, copy, wanted, changes = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
data = bytearray(open(image, "rb").read())
order = "<" if data[5] == 1 else ">"
(table,) = struct.unpack_from(order + "Q", data, 32)
size, count = struct.unpack_from(order + "HH", data, 54)
changed = 0
for at in range(table, table + size * count, size):
    if wanted != "all" and struct.unpack_from(order + "I", data, at)[0] != int(wanted, 0):
        continue
    changed += 1
    for change in changes:
        field, sign, number = re.fullmatch(r"(\w+)([=+-])(\w+)", change).groups()
        offset, code = FIELDS[field]
        (old,) = struct.unpack_from(order + code, data, at + offset)
        new = {"=": 0, "+": old, "-": old}[sign] + int(number, 0) * (-1 if sign == "-" else 1)
        struct.pack_into(order + code, data, at + offset, new)
assert changed
open(copy, "wb").write(data)
