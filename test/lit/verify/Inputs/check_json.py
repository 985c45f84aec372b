# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_json.py FILE: the keys that the command line contract names, with the values for function.s
# with CFA=24.
import json
import sys

files = json.load(open(sys.argv[1]))["files"]
assert len(files) == 1 and files[0]["path"].endswith(".so")
(finding,) = files[0]["findings"]
assert {k: finding[k] for k in ("id", "severity", "function", "sframe", "cfi", "code")} == {
    "id": "C102",
    "severity": "error",
    "function": "f",
    "sframe": "cfa=sp+24 ra=[cfa-8] fp=[cfa-16]",
    "cfi": "cfa=sp+16 ra=[cfa-8] fp=[cfa-16]",
    "code": None,
}, finding
assert finding["message"] == "CFA is sp+24 in SFrame, sp+16 in the CFI"
assert (
    finding["pc"].startswith("0x")
    and int(finding["pc"], 16) % 16 == 1
    and int(finding["end"], 16) - int(finding["pc"], 16) == 15
)
wanted = {
    "functions": 1,
    "agree": 0,
    "contradiction": 1,
    "undecided": 0,
    "unreached": 0,
    "errors": 1,
    "warnings": 0,
    "notes": 0,
}
summary = files[0]["summary"]
assert {k: summary[k] for k in wanted} == wanted, summary
assert summary["addresses"] == 16
