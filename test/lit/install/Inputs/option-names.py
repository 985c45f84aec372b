# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""option-names.py PROGRAM...: the names of each program's options, by --help, are given once. CLI11 would find
names given twice, but is not asked (sframe/tool/option_list.h)."""

import collections
import re
import subprocess
import sys

for program in sys.argv[1:]:
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^  (-\S+)", text, re.M)
    names = collections.Counter(name for line in lines for name in line.split(","))
    twice = [name for name, count in names.items() if count > 1]
    print(f"{program}: {len(names)} names, twice: {twice or 'none'}")
