# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""left-out.py REPORT REASON=COUNT...: the JSON report has these reasons for what was left out, and
no others."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as report:
    found = json.load(report)["reasons"]
expected = {name: int(count) for name, count in (text.split("=") for text in sys.argv[2:])}
sys.exit(0 if found == expected else "%s, expected %s" % (found, expected))
