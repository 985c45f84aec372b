# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_core.py CORE.json FILE.json BIAS: the functions of the core are those of the file, BIAS
# higher.
import json
import sys

core, file = (json.load(open(path))["files"][0] for path in sys.argv[1:3])
bias = int(sys.argv[3], 0)
assert core["kind"] == "core-image" and file["kind"] == "file"
ours, theirs = core["sections"][0], file["sections"][0]
assert int(ours["address"], 16) == int(theirs["address"], 16) + bias
assert len(ours["functions"]) == len(theirs["functions"]) > 0
for a, b in zip(ours["functions"], theirs["functions"]):
    assert int(a["start"], 16) == int(b["start"], 16) + bias
    assert (a["size"], a["rows"]) == (b["size"], b["rows"])
