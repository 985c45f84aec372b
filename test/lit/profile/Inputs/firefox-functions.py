"""Loads a profile into the Firefox Profiler's own command line, and compares what it shows of the
functions of all threads with folded stacks: firefox-functions.py CLI PROFILE FOLDED FOLDER"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time

cli, profile, folded, folder = sys.argv[1:]
sessions = tempfile.TemporaryDirectory()  # the path of a socket is short
environment = dict(os.environ, HOME=folder, PROFILER_CLI_SESSION_DIR=sessions.name)
environment["PROFILER_CLI_NO_SYMBOLICATE"] = "1"


session = ["--session", "test"]


def ask(*arguments, patient=False):
    """Its answer; patient: None while it has none yet."""
    done = subprocess.run(
        ["node", cli, *arguments, *session], env=environment, capture_output=True, text=True
    )
    if patient and done.returncode != 0:
        return None
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def functions(thread):
    of = json.loads(ask("thread", "functions", "--thread", thread, "--limit", "0", "--json"))
    return {
        (one["name"], one["selfSamples"], one["totalSamples"]) for one in of["functions"]
    }, of.get("totalFunctionCount")


def expected():
    own, total = collections.defaultdict(collections.Counter), collections.defaultdict(
        collections.Counter
    )
    for line in open(folded):
        stack, count = line.rsplit(" ", 1)
        thread, *frames = stack.split(";")
        own[thread][frames[-1]] += int(count)
        for name in set(frames):
            total[thread][name] += int(count)
    return {
        thread: {(name, own[thread][name], count) for name, count in names.items()}
        for thread, names in total.items()
    }


# Its command "load" gives its daemon half a second to start: too little on a busy machine.
daemon = subprocess.Popen(
    ["node", cli, "--daemon", os.path.abspath(profile), *session],
    env=environment,
    stdout=subprocess.DEVNULL,
)
try:
    listed = None
    while listed is None:
        assert daemon.poll() is None, "the daemon has ended"
        time.sleep(0.1)
        listed = ask("thread", "list", "--json", patient=True)
    found = collections.defaultdict(set)
    for thread in json.loads(listed)["threads"]:
        names, count = functions(thread["threadHandle"])
        assert len(names) <= count, (names, count)
        found[thread["name"]] |= names
    assert found == expected(), (found, expected())
    print("the same functions")
finally:
    daemon.kill()
    daemon.wait()
