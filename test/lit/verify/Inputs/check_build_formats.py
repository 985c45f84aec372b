"""check_build_formats.py JSON JUNIT GITLAB GITHUB: the reports of one run in the formats of build
services have what its JSON has: each error and warning once, at its place, with the texts as they
are."""
import collections
import json
import re
import sys
import xml.etree.ElementTree

with open(sys.argv[1], encoding="utf-8") as file:
    plain = json.load(file)
shown = [
    (file, finding)
    for file in plain["files"]
    for finding in file["findings"]
    if finding["severity"] != "note"
]
failed = [file for file in plain["files"] if "error" in file]
errors = [finding for _, finding in shown if finding["severity"] == "error"]

# JUnit: a suite per file, whose numbers are those of its cases.
suites = xml.etree.ElementTree.parse(sys.argv[2]).getroot()
assert suites.tag == "testsuites"
assert [suite.get("name") for suite in suites] == [file["path"] for file in plain["files"]], [
    suite.get("name") for suite in suites
]
for suite, file in zip(suites, plain["files"]):
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases) > 0
    for counter, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(counter)) == sum(case.find(element) is not None for case in cases), (
            suite.get("name"),
            counter,
        )
    assert (suite.get("failures") != "0") == any(
        finding["severity"] == "error" for finding in file["findings"]
    )
    assert (suite.get("errors") != "0") == ("error" in file)
    text = "".join(suite.itertext())
    for finding in file["findings"]:
        assert (
            finding["severity"] == "note" or finding["id"] in text and finding["message"] in text
        ), finding
    names = [case.get("name") for case in cases]
    assert "error" in file or names[:3] == ["structure", "cfi", "code"], names
kinds = {"S": "structure", "C": "cfi", "K": "code"}
for case in suites.iter("testcase"):
    for failure in case.findall("failure"):
        assert kinds[failure.get("type")[0]] == case.get("name")
        number = int(re.match(r"\d+", failure.get("message")).group())
        assert number == len(re.findall("^error: ", failure.text, re.M)), failure.text

# GitLab: an object per finding, none twice.
with open(sys.argv[3], encoding="utf-8") as file:
    entries = json.load(file)
assert len(entries) == len(shown) + len(failed), (len(entries), len(shown))
assert len({entry["fingerprint"] for entry in entries}) == len(entries)
names = {"major": "error", "minor": "warning", "critical": "failed"}
assert collections.Counter(names[entry["severity"]] for entry in entries) == collections.Counter(
    [finding["severity"] for _, finding in shown] + ["failed"] * len(failed)
)
for (file, finding), entry in zip(
    shown, [entry for entry in entries if entry["severity"] != "critical"]
):
    assert entry["check_name"] == finding["id"] and finding["message"] in entry["description"]
    assert entry["location"] == {
        "path": finding.get("file", file["path"]),
        "lines": {"begin": finding.get("line", 1)},
    }, entry

# GitHub: what a runner makes of the lines (its documents on workflow commands).
commands = []
with open(sys.argv[4], encoding="utf-8") as file:
    lines = file.read().splitlines()
for line in lines[:-1]:
    command, properties, message = re.fullmatch(
        r"::(error|warning|notice) ([^:]*)::(.*)", line
    ).groups()
    decoded = {}
    for part in properties.split(","):
        key, _, value = part.partition("=")
        for code, character in (
            ("%3A", ":"),
            ("%2C", ","),
            ("%0D", "\r"),
            ("%0A", "\n"),
            ("%25", "%"),
        ):
            value = value.replace(code, character)
        decoded[key] = value
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        message = message.replace(code, character)
    commands.append((command, decoded, message))
assert lines[-1].startswith("FAILED: " if errors or failed else "PASSED: "), lines[-1]
assert len(commands) == len(shown) + len(failed)
for (file, finding), (command, properties, message) in zip(
    shown, [one for one in commands if one[1]["title"] != "Not verified"]
):
    assert command == finding["severity"] and properties["title"].startswith(finding["id"] + " ")
    assert properties["file"] == finding.get("file", file["path"]) and properties.get("line") == (
        str(finding["line"]) if "line" in finding else None
    )
    assert message.startswith(file["path"]) and finding["message"] in message
    for key, label in (("sframe", "SFrame"), ("cfi", "CFI"), ("code", "Code")):
        assert not finding[key] or "\n%s: %s" % (label, finding[key]) in message, message
for file, (command, properties, message) in zip(
    failed, [one for one in commands if one[1]["title"] == "Not verified"]
):
    assert (
        command == "error"
        and properties["file"] == file["path"]
        and file["error"]["message"] in message
    )
print("%d findings, %d errors, %d files not verified" % (len(shown), len(errors), len(failed)))
