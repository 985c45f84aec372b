"""contents.py DATABASE: all that does not differ from one run to the next: without table run, times
and memory."""
import sqlite3
import sys

VARIES = {"seconds", "gen_seconds", "verify_seconds", "memory"}
connection = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
for table in (
    "package",
    "file",
    "location",
    "profile",
    "reason",
    "left_out",
    "finding_count",
    "finding",
    "wrong_cfi",
):
    columns = [
        row[1]
        for row in connection.execute("PRAGMA table_info(%s)" % table)
        if row[1] not in VARIES
    ]
    for row in connection.execute(
        'SELECT "%s" FROM %s ORDER BY %s'
        % ('", "'.join(columns), table, ", ".join(map(str, range(1, len(columns) + 1))))
    ):
        print(table, *map(repr, row), sep="\t")
