"""check_sweep.py PAGE NEW OLD: the page's numbers are those that SQLite computes from the
databases."""
import sqlite3
import sys

import check_page

data, _ = check_page.load(sys.argv[1])
new, old = (sqlite3.connect(path) for path in sys.argv[2:])
one = lambda connection, query: connection.execute(query).fetchone()[0]
for key in ("executable_bytes", "covered_bytes", "errors", "sframe_shared", "agree"):
    assert (
        data["totals"][key]
        == one(new, "SELECT sum(%s) FROM file" % key)
        == sum(data["files"][key])
        == sum(row[key] for row in data["compilers"])
    )
    assert data["compare"]["totals"][key] == one(old, "SELECT sum(%s) FROM file" % key)
    assert sum(data["packages"][key]) == data["totals"][key]
assert data["files_left_out"] == 0 and len(data["files"]["id"]) == one(
    new, "SELECT count(*) FROM file"
)
kinds = {(kind["id"], kind["severity"], kind["in_cfi"]): kind for kind in data["findings"]}
for (identity, severity, in_cfi), kind in kinds.items():
    assert (
        kind["findings"]
        == new.execute(
            "SELECT sum(findings) FROM finding_count WHERE id = ? AND severity = ? AND in_cfi = ?",
            (identity, severity, in_cfi),
        ).fetchone()[0]
    )
assert kinds["K201", "error", 0]["example"]["evidence"]["at"] == "0x1001"
changed = {(row["package"], row["path"]): row for row in data["compare"]["changed"]}
# By the package's name, without its version. The older one has no errors.
places = "SELECT p.name || ':' || p.architecture, l.path FROM location l JOIN package p ON p.id = l.package"
before, after = (set(connection.execute(places)) for connection in (old, new))
assert {place for place, row in changed.items() if row["old"] is None} == after - before
assert {place for place, row in changed.items() if row["new"] is None} == before - after
assert all(
    row["new"]["errors"] >= row["old"]["errors"] == 0
    for row in changed.values()
    if row["old"] and row["new"]
)
assert data["failures"][0]["failure"] == "damaged archive" and len(data["failures"]) == 1
