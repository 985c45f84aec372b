"""check-many.py FILE: the lines of several cores are the documents of each, and the groups are
theirs."""
import json
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    *lines, last = [json.loads(line) for line in file]
walked = failed = 0
groups = {}
for line in lines:
    path = line.pop("core")
    alone = json.loads(
        subprocess.run(
            ["sframe-unwind", path, "--format=json"], capture_output=True, text=True
        ).stdout
    )
    assert line == alone, path
    if "error" in line:
        failed += 1
        continue
    walked += 1
    groups.setdefault(line["signature"], []).append(path)
assert last["summary"] == {
    "cores": len(lines),
    "walked": walked,
    "failed": failed,
    "skipped": last["summary"]["skipped"],
}, last
assert last["summary"]["skipped"] == 2, last
assert {group["signature"]: group["cores"] for group in last["groups"]} == groups, (last, groups)
assert all(group["count"] == len(group["cores"]) for group in last["groups"])
print(
    walked,
    "cores as alone,",
    failed,
    "failed, groups of",
    ", ".join(str(group["count"]) for group in last["groups"]),
)
