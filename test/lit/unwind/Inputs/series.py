# Stacks of a series of samples, which sframe-unwind prints as JSON, one document after another.
import collections
import json
import subprocess


def count_stacks(pid, *options):
    """How often each stack was seen: "thread;outermost;...;innermost"."""
    command = ["sframe-unwind", "--pid", str(pid), "--format=json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert done.returncode in (0, 1), done.returncode
    counts, rest = collections.Counter(), done.stdout.lstrip()
    while rest:
        document, end = json.JSONDecoder().raw_decode(rest)
        rest = rest[end:].lstrip()
        for thread in document["threads"]:
            frames = [
                frame.get("function") or "[%s]" % (frame.get("module") or "unknown")
                for frame in reversed(thread["frames"])
            ]
            counts[";".join([thread["name"], *frames])] += 1
    return counts, done.returncode
