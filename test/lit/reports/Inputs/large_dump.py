"""large_dump.py functions SECTION [COUNT]: a section of version 3 with 9000 functions (or the first
COUNT of them), of 1 to 23 rows of 3 or of 9 bytes. large_dump.py check-functions PAGE: which of
them the page lists, when it has the section eleven times, after one with the first 501 functions.
large_dump.py ranges SOURCE: 62 sections of code, of 1 to 62 bytes, and SFrame without functions.
large_dump.py check-ranges PAGE: which of them have a map."""
import struct
import sys

import check_page

COUNT, FEW, LISTED, PAGE = 9000, 501, 1000, 20000
rows = [1 + i * 7919 % 23 for i in range(COUNT)]
wide = [i % 3 == 0 for i in range(COUNT)]
sizes = [
    5 + count * (9 if is_wide else 3) for count, is_wide in zip(rows, wide)
]  # with the attributes


def write_functions(path, count=COUNT):
    index, functions, count = bytearray(), bytearray(), int(count)
    for i in range(count):
        index += struct.pack("<qII", 64 * i, 64, len(functions))
        functions += struct.pack(
            "<HBBB", rows[i], 2 if wide[i] else 0, 0, 0
        )  # rows at offsets of 4 bytes or 1
        for at in range(rows[i]):
            functions += (
                struct.pack("<IBi", at, 0x43, 8) if wide[i] else struct.pack("<BBb", at, 3, 8)
            )
    header = struct.pack(
        "<HBBBbbBIIIII",
        0xDEE2,
        3,
        1,
        3,
        0,
        -8,
        0,
        count,
        sum(rows[:count]),
        len(functions),
        0,
        len(index),
    )
    with open(path, "wb") as out:
        out.write(header + index + functions)


def listed(count, most):
    """Those with the most rows; of the others, those with the most bytes; in their order."""
    order = sorted(range(count), key=lambda i: (-rows[i], i))
    kept = order[:most] + sorted(order[most:], key=lambda i: (-sizes[i], i))[:most]
    return [(hex(64 * i), 64, rows[i], sizes[i]) for i in sorted(kept)]


def groups(count):
    return [
        {
            "from": low,
            "to": high,
            "functions": sum(low <= number <= high for number in rows[:count]),
        }
        for low, high in ((1, 1), (2, 3), (4, 7), (8, 15), (16, 31))
    ]


def check_functions(path):
    sections = [file["sections"][0] for file in check_page.load(path)[0]["files"]]
    assert len(sections) == 12
    left = PAGE
    for count, section in zip([FEW] + 11 * [COUNT], sections):
        expected = listed(count, min(LISTED, left // 2))
        left -= len(expected)
        assert [
            (f["start"], f["size"], f["rows"], f["bytes"]) for f in section["largest"]
        ] == expected
        assert section["not_listed"] == count - len(expected) and section[
            "rows_per_function"
        ] == groups(count)
    assert [len(section["largest"]) for section in sections] == [FEW] + 9 * [2 * LISTED] + [1498, 0]


range_sizes = [(i * 7 + 40) % 62 + 1 for i in range(62)]


def write_ranges(path):
    with open(path, "w") as out:
        for i, size in enumerate(range_sizes):
            print('.section .text.%d, "ax", @progbits\n.fill %d, 1, 0x90' % (i, size), file=out)
        print(
            '.section .sframe, "a", @0x6ffffff4\n.short 0xdee2\n.byte 3, 1, 3, 0, -8, 0\n.long 0, 0, 0, 0, 0',
            file=out,
        )


def check_ranges(path):
    (file,) = check_page.load(path)[0]["files"]
    # The largest ones, in their order.
    expected = [(".text.%d" % i, size) for i, size in enumerate(range_sizes) if size > 2]
    assert [(part["section"], part["size"]) for part in file["maps"]] == expected and file[
        "maps_left_out"
    ] == 2


{
    "functions": write_functions,
    "check-functions": check_functions,
    "ranges": write_ranges,
    "check-ranges": check_ranges,
}[sys.argv[1]](*sys.argv[2:])
