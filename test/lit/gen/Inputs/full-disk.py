"""Converts a copy of the tree "kept" while the disk is full from the first, second, ... call on
(shim.so). Each file must be as in "kept" or as in "new", and the report must have as many failures
as there are old files."""
import json
import os
import shutil
import subprocess


def contents(folder):
    files = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            files[name] = file.read()
    return files


def run(number):
    shutil.rmtree("in")
    shutil.copytree("kept", "in")
    environment = dict(
        os.environ,
        LD_PRELOAD="./shim.so",
        FAULT_KIND="ENOSPC",
        FAULT_NTH=str(number),
        FAULT_STAYS="1",
        FAULT_COUNT="count",
    )
    done = subprocess.run(
        ["sframe-gen", "-j1", "--no-sandbox", "--in-place", "-r", "in", "--report=json"],
        env=environment,
        capture_output=True,
    )
    now = contents("in")
    old = [name for name in kept if now.get(name) == kept[name]]
    if set(now) != set(kept) or any(now[name] not in (kept[name], new[name]) for name in kept):
        return "torn"
    if done.returncode != (2 if number else 0):
        return "exit code %d" % done.returncode
    if not done.stdout:  # it could not be written
        return None if b"cannot write the output" in done.stderr else "no report"
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    if summary["files"]["failed"] != len(old) or sum(summary["failed"].values()) != len(old):
        return "wrong summary: %s" % summary
    return None


kept, new = contents("kept"), contents("new")
wrong = runs = 0
calls = None
for number in range(10000):
    if calls is not None and number > calls:
        break
    what = run(number)
    if number == 0:
        with open("count") as file:
            calls = int(file.read())
    runs += 1
    if what:
        wrong += 1
        print("call %d: %s" % (number, what))
print("%d runs, %d wrong" % (runs, wrong))
