"""check-modules.py CORE JSON: the modules of eu-unstrip -n, if it is installed: START+SIZE
BUILD-ID@ADDRESS FILE ..."""
import json, re, shutil, subprocess, sys

core, path = sys.argv[1:]
ours = {int(module["start"], 16): module for module in json.load(open(path))["modules"]}
assert all(
    module["has_cfi"] is not None and module["file_state"] in ("found", "memory")
    for module in ours.values()
), ours
if not shutil.which("eu-unstrip"):
    sys.exit(0)
lines = subprocess.run(
    ["eu-unstrip", "-n", "--core", core], capture_output=True, text=True
).stdout.splitlines()
theirs = {
    int(start, 16): build_id
    for start, build_id in (re.match(r"(0x\w+)\+0x\w+ (\w+)", line).groups() for line in lines)
}
assert theirs.keys() == ours.keys(), (theirs.keys(), ours.keys())
for start, build_id in theirs.items():
    assert ours[start]["build_id"] == build_id, (ours[start], build_id)
print(len(theirs), "modules agree")
