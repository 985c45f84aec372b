# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_json.py FILE.json FILE.gnu: what sframe-dump --format=json prints must be what objdump
# printed of the same (linked) file.
import json
import re
import sys


def rule(text, is_cfa):
    """objdump's words for a rule in ours; the set of what they may stand for."""
    if text == "f":
        return {"fixed"}
    if text in ("u", "U"):
        return {"same", "fixed"}
    stored = text.startswith("(")
    text = text.strip("()").replace("+-", "-")
    match = re.fullmatch(r"(sp|fp|c|r\d+)([+-]\d+)?", text)
    base, offset = match.group(1), match.group(2) or "+0"
    if base == "c":
        return {"[cfa%s]" % offset if offset != "+0" else "[cfa]", "[cfa%s]" % offset}
    if stored:
        return {"[%s%s]" % (base, offset)}
    return {base + offset} if is_cfa else {base + offset, base if offset == "+0" else ""}


def expected(path):
    functions = []
    for line in open(path):
        if match := re.match(
            r"    func idx \[(\d+)\]: pc = 0x([0-9a-f]+), size = (\d+) bytes(.*)", line
        ):
            functions.append(
                {
                    "index": int(match[1]),
                    "start": int(match[2], 16),
                    "size": int(match[3]),
                    "attributes": match[4],
                    "mask": False,
                    "rows": [],
                }
            )
        elif line.startswith("    STARTPC[m]"):
            functions[-1]["mask"] = True
        elif match := re.match(r"    ([0-9a-f]{16})  (.*)", line):
            functions[-1]["rows"].append((int(match[1], 16), match[2].strip()))
    return functions


def columns(text):
    """CFA, FP, RA: columns of 10, which a long rule may fill to the last place."""
    return re.match(
        r"(\(.*?\)|[a-z]+\d*\+?-?\d*)\s*(\(.*?\)|u|c[+-]\d+|[a-z]+\d*(?:[+-]\d+)?)\s*(\S+)$", text
    ).groups()


def check_row(ours, start, mask, row):
    address, text = row
    assert (0 if mask else start) + ours["offset"] == address, (ours, row)
    if text == "RA undefined":
        assert ours["ra"] == "undefined", (ours, row)
        return
    cfa, fp, ra = columns(text)
    assert ours["ra_signed"] == ra.endswith("[s]"), (ours, row)
    assert ours["cfa"] in rule(cfa, True), (ours, row)
    assert ours["fp"] in rule(fp, False) | {"fixed"}, (ours, row)
    assert ours["ra"] in rule(ra.removesuffix("[s]"), False), (ours, row)


def main():
    section = json.load(open(sys.argv[1]))["files"][0]["sections"][0]
    theirs = expected(sys.argv[2])
    assert theirs and len(section["functions"]) == len(theirs) == section["num_fdes"]
    rows = 0
    for ours, function in zip(section["functions"], theirs):
        for key in ("index", "size"):
            assert ours[key] == function[key], (ours, function)
        assert int(ours["start"], 16) == function["start"], (ours, function)
        assert (ours["pc_type"] == "mask") == function["mask"] and ours["rep_size"] >= function[
            "mask"
        ]
        assert ours["signal"] == ('"S' in function["attributes"])
        assert (ours["fde_type"] == "flex") == ('F"' in function["attributes"])
        assert (ours["pauth_key"] == "b") == ("B key" in function["attributes"])
        assert len(ours["rows"]) == len(function["rows"])
        for row, their_row in zip(ours["rows"], function["rows"]):
            check_row(row, function["start"], function["mask"], their_row)
            rows += 1
    assert rows >= section["num_fres"]  # functions may share rows, which the header counts once


main()
