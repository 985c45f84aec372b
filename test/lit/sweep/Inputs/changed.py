"""changed.py PAGE: what the page of sframe-sweep report --compare has of files that changed, with
their warnings."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    compare = json.loads(re.search('id="data">(.*?)</script>', file.read(), re.S)[1])["compare"]
print(compare["same"], "same")
for row in compare["changed"]:
    print(
        row["package"],
        row["path"],
        row["old"] and row["old"]["warnings"],
        "->",
        row["new"] and row["new"]["warnings"],
    )
