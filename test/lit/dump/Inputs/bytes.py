# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bytes.py FILE...: what sframe-dump -v prints of each well-formed file has each byte of its
sections once, and as it is in the file; in the order of the bytes, unless rows are before the
index. Sections of files that are no objects are read here, by the ELF section headers; those of
objects have relocations applied, so that only their size is compared."""
import re
import struct
import subprocess
import sys


def sections(data):
    """The bytes of each section .sframe, or the whole file if it is a raw section. None: not
    compared."""
    if data[:2] in (b"\xe2\xde", b"\xde\xe2"):
        return [data]
    if data[:4] != b"\x7fELF":
        return None
    order = "<" if data[5] == 1 else ">"
    (kind,) = struct.unpack_from(order + "H", data, 16)
    (table,) = struct.unpack_from(order + "Q", data, 40)
    entry, count, names = struct.unpack_from(order + "HHH", data, 58)
    headers = [struct.unpack_from(order + "IIQQQQ", data, table + i * entry) for i in range(count)]
    found = []
    for name, type_, _, _, offset, size in headers:
        start = headers[names][4] + name
        if data[start : data.index(b"\0", start)] == b".sframe" and size:
            found.append(size if kind == 1 else data[offset : offset + size])
    return found


compared, length = 0, 0
for path in sys.argv[1:]:
    done = subprocess.run(
        ["sframe-dump", "-v", path], capture_output=True, encoding="utf-8", errors="replace"
    )
    if done.returncode != 0:
        continue
    with open(path, "rb") as file:
        expected = sections(file.read())
    if not expected:
        continue
    found = []
    for line in done.stdout.split("\n"):
        if re.search(r": section \.sframe(,| at)", line):
            if ", part " not in line:
                found.append([])
        elif match := re.match(
            r"  0x([0-9a-f]{4,}) +((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)", line.rstrip()
        ):
            found[-1].append((int(match[1], 16), bytes.fromhex(match[2])))
    assert len(found) == len(expected), (path, len(found), len(expected))
    for lines, other in zip(found, expected):
        one = b""
        assert lines == sorted(lines) or "rows-before-index" in path, path
        for offset, bytes_ in sorted(lines):
            assert offset == len(one), "%s: 0x%x after 0x%x" % (path, offset, len(one))
            one += bytes_
        assert (
            len(one) == other if isinstance(other, int) else one == other
        ), "%s: %d bytes, not %d" % (path, len(one), len(other))
        length += len(one)
    compared += 1
print("%d files, %d bytes" % (compared, length))
