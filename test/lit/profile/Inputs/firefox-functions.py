"""Loads a profile into the Firefox Profiler's own command line, and compares what it shows of the
functions of all threads with folded stacks: firefox-functions.py CLI PROFILE FOLDED FOLDER"""

import collections
import json
import os
import subprocess
import sys
import tempfile

cli, profile, folded, folder = sys.argv[1:]
sessions = tempfile.TemporaryDirectory()  # the path of a socket is short
environment = dict(os.environ, HOME=folder, PROFILER_CLI_SESSION_DIR=sessions.name)
environment["PROFILER_CLI_NO_SYMBOLICATE"] = "1"


def ask(*arguments):
    done = subprocess.run(
        ["node", cli, *arguments], env=environment, capture_output=True, text=True
    )
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


try:
    ask("load", os.path.abspath(profile))
    found = collections.defaultdict(set)
    threads = json.loads(ask("thread", "list", "--json"))["threads"]
    for thread in threads:
        names, count = functions(thread["threadHandle"])
        assert len(names) <= count, (names, count)
        found[thread["name"]] |= names
    assert found == expected(), (found, expected())
    print("the same functions")
finally:
    subprocess.run(["node", cli, "stop", "--all"], env=environment, stdout=subprocess.DEVNULL)
