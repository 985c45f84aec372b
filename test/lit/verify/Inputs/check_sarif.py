# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_sarif.py FILE [SCHEMA]: what SARIF 2.1.0 demands of the parts that sframe-verify writes
# (sections 3.13 to 3.33 of the standard): required properties, closed sets of values, indices that
# fit. With SCHEMA, the published JSON schema, also against that.
import json
import re
import shlex
import sys
from urllib.parse import unquote

log = json.load(open(sys.argv[1]))
if len(sys.argv) > 2:
    import jsonschema

    jsonschema.validate(log, json.load(open(sys.argv[2])))

KINDS = {"instruction"}
LEVELS = {"none", "note", "warning", "error"}
ALLOWED = {
    "log": {"$schema", "version", "runs"},
    "run": {"tool", "columnKind", "results", "invocations"},
    "invocation": {"commandLine", "executionSuccessful", "exitCode", "toolExecutionNotifications"},
    "notification": {"level", "message", "locations"},
    "driver": {"name", "version", "rules"},
    "rule": {
        "id",
        "shortDescription",
        "fullDescription",
        "helpUri",
        "help",
        "defaultConfiguration",
    },
    "result": {
        "ruleId",
        "ruleIndex",
        "level",
        "message",
        "locations",
        "partialFingerprints",
        "properties",
    },
    "location": {"physicalLocation", "logicalLocations"},
    "physical": {"artifactLocation", "region", "address"},
    "address": {"absoluteAddress", "relativeAddress", "length", "kind", "name"},
}


def known(kind, value):
    assert isinstance(value, dict) and set(value) <= ALLOWED[kind], (kind, value)
    return value


assert known("log", log)["version"] == "2.1.0"
(run,) = log["runs"]
assert known("run", run)["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
driver = known("driver", run["tool"]["driver"])
assert driver["name"] == "sframe-verify" and driver["version"]
rules = driver["rules"]
for rule in rules:
    assert all(
        known("rule", rule)[key]["text"] for key in ("shortDescription", "fullDescription", "help")
    )
    assert rule["defaultConfiguration"]["level"] in LEVELS
assert len({rule["id"] for rule in rules}) == len(rules)
URI = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=@/]|%[0-9A-F]{2})+|file:///.*"
(invocation,) = run["invocations"]
notifications = known("invocation", invocation)["toolExecutionNotifications"]
for notification in notifications:
    assert (
        known("notification", notification)["level"] in LEVELS and notification["message"]["text"]
    )
    (location,) = notification["locations"]
    uri = known("physical", known("location", location)["physicalLocation"])["artifactLocation"][
        "uri"
    ]
    assert re.fullmatch(URI, uri), uri
    print(notification["level"], unquote(uri).split("/")[-1], notification["message"]["text"])
assert isinstance(invocation["executionSuccessful"], bool)
assert invocation["executionSuccessful"] == all(n["level"] != "error" for n in notifications)
assert (
    isinstance(invocation["exitCode"], int)
    and shlex.split(invocation["commandLine"])[0] == "sframe-verify"
)
if notifications:
    print("successful:", invocation["executionSuccessful"])
    print("exit code:", invocation["exitCode"])
fingerprints = set()
for result in run["results"]:
    assert rules[known("result", result)["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in LEVELS and result["message"]["text"]
    for location in result["locations"]:
        physical = known("physical", known("location", location)["physicalLocation"])
        uri = physical["artifactLocation"]["uri"]
        assert re.fullmatch(URI, uri), uri
        address = known("address", physical.get("address", {}))
        assert address.get("kind", "instruction") in KINDS
        for key in ("absoluteAddress", "relativeAddress", "length"):
            assert isinstance(address.get(key, 0), int) and address.get(key, 0) >= 0
        assert physical.get("region", {}).get("startLine", 1) >= 1
        for logical in location.get("logicalLocations", []):
            assert logical["kind"] == "function" and logical["fullyQualifiedName"]
        print(
            result["ruleId"],
            result["level"],
            unquote(uri).split("/")[-1],
            address.get("name"),
            physical.get("region", {}).get("startLine"),
        )
    (fingerprint,) = result["partialFingerprints"].values()
    assert fingerprint not in fingerprints
    fingerprints.add(fingerprint)
print("%d results" % len(run["results"]))
