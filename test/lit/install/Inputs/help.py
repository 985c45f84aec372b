# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""help.py PROGRAM...: the lines of --help and --help-all are at most as long as COLUMNS, or 80, but
for commands of EXAMPLES that are longer by themselves."""
import os
import re
import subprocess
import sys

# What CLI11 prints of options: a type, a range, the values of a flag.
INTERNALS = re.compile(r":(?:UINT|FLOAT|TEXT|INT)\b|\bin \[|\{[\w,]+\}|\bREQUIRED\b|UINT|FLOAT")

for program in sys.argv[1:]:
    fit = 0
    for columns in None, 60, 120, 10**20:
        lengths = []
        for how in "--help", "--help-all":
            environment = dict(os.environ, COLUMNS=str(columns)) if columns else os.environ
            text = subprocess.run(
                [program, how], capture_output=True, text=True, check=True, env=environment
            ).stdout
            lines = text.split("\n")
            long = [
                line
                for line in lines
                if len(line) > (columns or 80) and not re.match(r"  (?:sframe-|\S+ \| )", line)
            ]
            internals = INTERNALS.findall(text)
            lengths.append(len(lines))
            at_80 = [line for line in lines if len(line) > 80 and not columns]
            if long or internals or at_80:
                sys.exit(
                    "%s %s, %s columns: %s %s" % (program, how, columns, long + at_80, internals)
                )
            fit += 1
        if not lengths[0] < lengths[1]:
            sys.exit("%s: --help has %d lines, --help-all %d" % (program, *lengths))
    print("%s: %d texts fit" % (program, fit))
