# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stats-csv.py CSV FILE...: the lines of the table are what --format=json counts of each file, and
the last is their sum."""
import csv
import json
import subprocess
import sys

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
numbers = 0
for path, row in zip(sorted(sys.argv[2:]), rows):
    assert row.pop("file") == path, (row, path)
    shown = json.loads(
        subprocess.run(
            ["sframe-dump", "--stats", "--format=json", path], capture_output=True, check=True
        ).stdout
    )
    text = json.dumps(shown)
    for key, value in row.items():
        assert int(value) == 0 or value in text, (path, key, value)
        numbers += 1
total = rows[-1]
assert total.pop("file") == "total" and len(rows) == len(sys.argv) - 1, rows
for key, value in total.items():
    assert int(value) == sum(int(row[key]) for row in rows[:-1]), key
print("%d files, %d numbers as in JSON; the total is their sum" % (len(rows) - 1, numbers))
