# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""option-names.py PROGRAM...: --help-json has the options that --help-all prints, and --help some
of them."""

import json
import re
import subprocess
import sys


def printed(program, how):
    return subprocess.run([program, how], capture_output=True, text=True, check=True).stdout


def names(text):
    lines = re.findall(r"^  (-.*?)(?:   .*)?$", text, re.M)
    return re.findall(r"(?:^|(?<=[ ,]))--?[A-Za-z0-9][\w-]*", "\n".join(lines), re.M)


for program in sys.argv[1:]:
    described = [
        name
        for option in json.loads(printed(program, "--help-json"))["options"]
        for name in option["names"]
        if name.startswith("-")
    ]
    all_names, common = names(printed(program, "--help-all")), names(printed(program, "--help"))
    share = round(100 * len(common) / len(all_names))
    wrong = sorted(set(described) ^ set(all_names)) + sorted(set(common) - set(all_names))
    twice = [name for name in described if described.count(name) > 1]
    print(
        f"{program}: {len(described)} names, wrong: {wrong or 'none'}, twice: {twice or 'none'}; --help has {share} % of them"
    )
