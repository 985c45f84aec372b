#!/usr/bin/env python3
"""shrunk-sizes.py ORIGINAL (FILE REPORT)...: the sizes in reports of --shrink-cfi are those of the
files and their sections; the files are listed with the most --max-cfi-bytes last."""
import json
import os
import re
import subprocess
import sys


def sizes(path):
    text = subprocess.run(
        ["llvm-readelf", "-SW", path], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"\] (\.eh_frame|\.eh_frame_hdr|\.sframe) +\w+ +\w+ \w+ (\w+)", text)
    return {name: int(size, 16) for name, size in found}


def tables(of):
    return of[".eh_frame"] + of[".eh_frame_hdr"]


before = sizes(sys.argv[1])
shrunk = []
for path, report in zip(sys.argv[2::2], sys.argv[3::2]):
    found, said = sizes(path), json.load(open(report, encoding="utf-8"))
    cfi = said["shrink_cfi"]
    assert (
        cfi["eh_frame"] == found[".eh_frame"] and cfi["eh_frame_hdr"] == found[".eh_frame_hdr"]
    ), (cfi, found)
    assert (
        said["sizes"]["eh_frame"] == before[".eh_frame"]
        and said["sizes"]["sframe"] == found[".sframe"]
    )
    assert cfi["file_size_before"] == os.path.getsize(sys.argv[1]) and cfi[
        "file_size"
    ] == os.path.getsize(path)
    # Of the table: 12 bytes, and 8 for each FDE (Linux Standard Base, section 10.6.2).
    assert found[".eh_frame_hdr"] == 12 + 8 * cfi["fdes"] and cfi["level"] == "lossless"
    shrunk.append(tables(found))
assert tables(before) > shrunk[0] > shrunk[1], (before, shrunk)
print("32 is larger than 128, and both are smaller than before")
