# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-crash.py CORE [EXECUTABLE]: compares the crash of a core with the JSON of sframe-unwind,
and with what the core must have: --expect KEY=TEXT."""
import argparse
import json
import subprocess

import sframe


def described(fault):
    """As sframe-unwind's JSON has a fault."""
    return {
        "code": fault.code,
        "code_name": fault.code_name,
        "meaning": fault.meaning,
        "guess": fault.guess,
        "access": None if fault.access == "unknown" else fault.access,
        "address": None if fault.address is None else hex(fault.address),
        "instruction": fault.instruction
        and {
            "pc": hex(fault.pc),
            "text": fault.instruction,
            "registers": {name: hex(value) for name, value in fault.registers.items()},
        },
    }


def equal(ours, theirs):
    for key, value in described(ours).items():
        other = theirs.get(key)
        if key == "access" and other:
            other = other.replace(" and ", "_")
        assert value == other, (key, value, other)


parser = argparse.ArgumentParser()
parser.add_argument("core")
parser.add_argument("executable", nargs="?")
parser.add_argument("--expect", action="append", default=[])
options = parser.parse_args()
command = ["sframe-unwind", "--format=json", options.core] + (
    [options.executable] if options.executable else []
)
expected = json.loads(subprocess.run(command, check=False, capture_output=True).stdout)

with sframe.core(options.core, executable=options.executable) as process:
    crash = process.crash()
theirs = expected["crash"]
assert crash.tid == theirs["tid"]
assert crash.fault.signal == expected["signal"]
equal(crash.fault, theirs)
assert (crash.first_fault is None) == ("first_fault" not in theirs)
if crash.first_fault:
    equal(crash.first_fault, theirs["first_fault"])
    assert crash.first_fault.frame == theirs["first_fault"]["frame"]
assert crash.message == theirs.get("message")
sender = theirs.get("sender")
assert crash.sender == (sender and (sender["pid"], sender["user"]))
assert (crash.signature, crash.signature_frames) == (
    expected["signature"],
    expected["signature_frames"],
)
assert crash.arguments == expected["command"], (crash.arguments, expected["command"])
for key, value in (item.split("=", 1) for item in options.expect):
    found = crash
    for name in key.split("."):
        found = getattr(found, name)
    assert str(found) == value, (key, found, value)
print("%s: %s" % (crash.fault.signal_name, crash.fault.meaning))
