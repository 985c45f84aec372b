# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-dump.py INPUTS: compares what the package reads in the files of test/inputs with the JSON
of sframe-dump, and looks up every row."""
import collections
import glob
import json
import subprocess
import sys

import sframe

PROPERTIES = ("version", "byte_order", "abi", "fixed_fp_offset", "fixed_ra_offset", "size")


def described(function, is_object):
    """A function as sframe-dump prints it; in an object its start is given in another way."""
    made = {
        "index": function.index,
        "start": hex(function.start),
        "size": function.size,
        "fde_type": "flex" if function.flexible else "default",
        "pc_type": "mask" if function.block_size else "inc",
        "fre_type": "addr%d" % function.offset_size,
        "signal": function.signal,
        "pauth_key": function.pauth_key,
        "rows": [
            {
                "offset": row.offset,
                "cfa": str(row.cfa),
                "ra": str(row.ra),
                "fp": str(row.fp),
                "ra_signed": row.ra_signed,
            }
            for row in function.rows()
        ],
    }
    if function.block_size:
        made["rep_size"] = function.block_size
    if function.outermost:
        made["outermost"] = True
    if is_object:
        del made["start"]
    return made


def find_rows(section):
    """Each row is found at its address, except rows of blocks and of functions that overlap.
    Returns their number."""
    found, functions = 0, list(section)
    for function in functions:
        for row in function.rows():
            pc = function.start + row.offset
            if function.block_size or [other for other in functions if pc in other] != [function]:
                continue
            match = section.find(pc)
            assert match and match.row == row and match.function == function, (function, row, match)
            found += 1
    return found


def compare(path, expected, counts):
    sections = [section for section in expected["sections"] if "version" in section]
    with sframe.File(path) as file:
        assert len(file.sections) == len(sections), path
        for ours, theirs in zip(file, sections):
            for name in PROPERTIES:
                assert getattr(ours, name) == theirs[name], (path, name)
            assert ours.address == int(theirs["address"], 16)
            assert len(ours.aux_header) == theirs["aux_header_size"]
            assert len(ours) == len(theirs["functions"]) == theirs["num_fdes"]
            is_object = path.endswith(".o")
            for function, wanted in zip(ours, theirs["functions"]):
                made = described(function, is_object)
                assert made == {name: wanted[name] for name in made}, (path, made, wanted)
                assert ("outermost" in wanted) == function.outermost
            if not is_object:
                counts["rows found"] += find_rows(ours)
            counts["V%d %s %s" % (ours.version, ours.abi, ours.byte_order)] += 1
            counts["functions"] += len(ours)


paths = [
    path
    for place in (
        "aarch64/v*",
        "aarch64_be/v*",
        "amd64/v*",
        "s390x/v*",
        "cases/*-order-foreign.sframe",
    )
    for path in sorted(glob.glob(glob.escape(sys.argv[1]) + "/" + place))
    if not path.endswith((".gnu", ".a", ".s"))
]
# A file without a section, which fails, is one of them.
output = subprocess.run(
    ["sframe-dump", "--format=json", *paths], capture_output=True, check=False
).stdout
counts = collections.Counter()
for path, expected in zip(paths, json.loads(output)["files"]):
    assert expected["path"] == path
    compare(path, expected, counts)
for name in sorted(counts):
    print(name, counts[name])
