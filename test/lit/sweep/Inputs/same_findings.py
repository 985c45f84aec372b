"""same_findings.py DATABASE REPORT PATH: the numbers of findings of an AMD64 file are those of a
report of sframe-verify."""
import collections
import json
import sqlite3
import sys

database, report, path = sys.argv[1:]
with open(report, encoding="utf-8") as file:
    findings = json.load(file)["files"][0]["findings"]
wanted = collections.Counter(
    (finding["id"], finding["severity"], int(finding.get("in_cfi", False))) for finding in findings
)
connection = sqlite3.connect(database)
(identity,) = connection.execute(
    "SELECT id FROM file WHERE path = ? AND abi = 'amd64'", (path,)
).fetchone()
found = {
    tuple(row[:3]): row[3]
    for row in connection.execute(
        "SELECT id, severity, in_cfi, findings FROM finding_count WHERE file = ? AND profile = 'spec'",
        (identity,),
    )
}
assert wanted and found == wanted, (found, wanted)
