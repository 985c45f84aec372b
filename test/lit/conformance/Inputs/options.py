"""options.py CONFORMANCE: --help names the options that there are."""
import re
import sys

sys.path.insert(0, sys.argv[1])
from sframe_conformance import cli  # noqa: E402

known = {flag for action in cli._parser()._actions for flag in action.option_strings if flag.startswith("--")}
named = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", cli.HELP, re.M))
assert known == named, known ^ named
print("%d options, all in --help" % len(known))
