"""large_dump.py functions SECTION: a section of version 3 with 9000 functions, of 1 to 23 rows of 3 or of 9 bytes.
large_dump.py check-functions PAGE: which of them the page lists, when it has the section eleven times.
large_dump.py ranges SOURCE: 62 sections of code, of 1 to 62 bytes, and SFrame without functions.
large_dump.py check-ranges PAGE: which of them have a map."""
import struct
import sys

import check_page

COUNT, LISTED, PAGE = 9000, 1000, 20000
rows = [1 + i * 7919 % 23 for i in range(COUNT)]
wide = [i % 3 == 0 for i in range(COUNT)]
sizes = [5 + count * (9 if is_wide else 3) for count, is_wide in zip(rows, wide)]  # with the attributes


def write_functions(path):
    index, functions = bytearray(), bytearray()
    for i in range(COUNT):
        index += struct.pack("<qII", 64 * i, 64, len(functions))
        functions += struct.pack("<HBBB", rows[i], 2 if wide[i] else 0, 0, 0)  # rows at offsets of 4 bytes or 1
        for at in range(rows[i]):
            functions += struct.pack("<IBi", at, 0x43, 8) if wide[i] else struct.pack("<BBb", at, 3, 8)
    header = struct.pack("<HBBBbbBIIIII", 0xdee2, 3, 1, 3, 0, -8, 0, COUNT, sum(rows), len(functions), 0, len(index))
    with open(path, "wb") as out:
        out.write(header + index + functions)


def check_functions(path):
    sections = [file["sections"][0] for file in check_page.load(path)[0]["files"]]
    # Those with the most rows; of the others, those with the most bytes; in their order.
    order = sorted(range(COUNT), key=lambda i: (-rows[i], i))
    kept = order[:LISTED] + sorted(order[LISTED:], key=lambda i: (-sizes[i], i))[:LISTED]
    expected = [(hex(64 * i), 64, rows[i], sizes[i]) for i in sorted(kept)]
    expected_groups = []
    for low, high in ((1, 1), (2, 3), (4, 7), (8, 15), (16, 31)):
        expected_groups.append({"from": low, "to": high, "functions": sum(low <= count <= high for count in rows)})
    assert len(sections) == 11
    for section in sections[:10]:
        assert [(f["start"], f["size"], f["rows"], f["bytes"]) for f in section["largest"]] == expected
        assert section["not_listed"] == COUNT - 2 * LISTED and section["rows_per_function"] == expected_groups
    assert sections[10]["largest"] == [] and sections[10]["not_listed"] == COUNT
    assert sum(len(section["largest"]) for section in sections) == PAGE


range_sizes = [(i * 7 + 40) % 62 + 1 for i in range(62)]


def write_ranges(path):
    with open(path, "w") as out:
        for i, size in enumerate(range_sizes):
            print('.section .text.%d, "ax", @progbits\n.fill %d, 1, 0x90' % (i, size), file=out)
        print('.section .sframe, "a", @0x6ffffff4\n.short 0xdee2\n.byte 3, 1, 3, 0, -8, 0\n.long 0, 0, 0, 0, 0', file=out)


def check_ranges(path):
    file, = check_page.load(path)[0]["files"]
    # The largest ones, in their order.
    expected = [(".text.%d" % i, size) for i, size in enumerate(range_sizes) if size > 2]
    assert [(part["section"], part["size"]) for part in file["maps"]] == expected and file["maps_left_out"] == 2


{"functions": write_functions, "check-functions": check_functions, "ranges": write_ranges, "check-ranges": check_ranges}[sys.argv[1]](sys.argv[2])
