"""check-tree.py JSON: the tree on standard input has, for each thread but the first, its functions
in order."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    threads = json.load(file)["threads"][1:]
lines = sys.stdin.read().split(" threads, without the one above:\n")[1].splitlines()
paths, stack, starts = {}, [], []  # starts: (column of the count, length of the stack before it)
for line in lines:
    if not line:
        continue
    entry = re.match(r"^((?:[|] |  | *)*(?:[|]-|`-)? ?)( *)([0-9]+)  (\S.*)$", line)
    if entry and (line[0] != " " or "- " in line[: entry.start(3)]):
        column = entry.end(1)
        while starts and starts[-1][0] >= column:
            del stack[starts.pop()[1] :]
        starts.append((column, len(stack), int(entry.group(3))))
        text = entry.group(4)
    else:
        text = line.lstrip("| ")
    if text.startswith("TID "):
        tids = [int(tid) for tid in re.findall("[0-9]+", text)]
        assert len(tids) == starts[-1][2] or len(starts) > 1, line
        for tid in tids:
            paths[tid] = list(stack)
        continue
    times = re.search("  ([0-9]+) times$", text)
    stack += [re.split(" [+] |  ", text)[0]] * (int(times.group(1)) if times else 1)
for thread in threads:
    expected = [frame["function"] for frame in reversed(thread["frames"])]
    assert paths[thread["tid"]] == expected, (paths[thread["tid"]], expected)
print(len(threads), "threads, all in the tree")
