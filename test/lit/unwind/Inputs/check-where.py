"""check-where.py JSON: prints the place of the crash, after checking it against the frame that it
is of."""
import json
import os
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
where = document["crash"]["where"]
frame = document["threads"][0]["frames"][where["frame"]]
assert frame["function"].startswith(where["function"]), (frame, where)
assert not any(
    one["function"].startswith(where["function"])
    for one in document["threads"][0]["frames"][: where["frame"]]
), where
# Its caller is further out; what is between them is not the program's own.
caller = document["crash"]["called_by"]
assert caller["frame"] > where["frame"], (where, caller)
assert document["threads"][0]["frames"][caller["frame"]]["function"].startswith(
    caller["function"]
), caller
print(
    where["function"],
    os.path.basename(where["file"]),
    *("%s=%s" % (one["name"], one["value"]) for one in where["args"])
)
