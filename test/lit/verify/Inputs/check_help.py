"""check_help.py SARIF FINDINGS.MD: each rule's helpUri ends in the anchor of its heading, made as
GitHub makes anchors."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    (run,) = json.load(file)["runs"]
assert not [result for result in run["results"] if result["level"] == "note"]
with open(sys.argv[2], encoding="utf-8") as file:
    headings = re.findall(r"^#+ (.*)", file.read(), re.M)
anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
for rule in run["tool"]["driver"]["rules"]:
    address, _, anchor = rule["helpUri"].partition("#")
    assert re.fullmatch(r"https://\S+/docs/findings\.md", address), address
    assert anchor in anchors and anchor.startswith(rule["id"].lower() + "-"), anchor
