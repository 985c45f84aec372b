#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints reports of sframe-conformance as a table in Markdown: a line for each case, a column for
each report.

    table.py NAME=REPORT.json...        reports of --format json, of one kit

"all": right in all variants of a case that the reader or writer knows; "5 of 8": in so many; "left
out": no rows, which is no failure; "-": it knows none of them."""
import json
import sys

columns, cases = [], {}
for argument in sys.argv[1:]:
    name, _, path = argument.partition("=")
    columns.append(name)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    for case in report["cases"]:
        key = case["name"].split("/")[0]
        cases.setdefault(key, {}).setdefault(name, []).append(case["verdict"])


def cell(verdicts):
    known = [verdict for verdict in verdicts if verdict != "unsupported"]
    right, wrong = known.count("passed"), known.count("failed") + known.count("known")
    if not known:
        return "-"
    if not wrong and not right:
        return "left out"
    if not wrong:
        return "all"
    return "**%d of %d**" % (right, right + wrong) if right else "**none**"


print("| case | " + " | ".join(columns) + " |")
print("| --- |" + " --- |" * len(columns))
same = []
for key in sorted(cases):
    cells = [cell(cases[key].get(name, ["unsupported"])) for name in columns]
    if all(text in ("all", "-", "left out") for text in cells) and "left out" not in cells:
        same.append(key)
    else:
        print("| %s | %s |" % (key, " | ".join(cells)))
print()
print("All that know them are right in: " + ", ".join(same) + ".")
