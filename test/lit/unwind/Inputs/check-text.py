"""check-text.py JSON FILE: the text that --source has in the JSON output is that of the file's
lines around the position, in each place in that file."""
import json
import os
import sys

with open(sys.argv[2], encoding="utf-8") as file:
    lines = file.read().split("\n")[:-1]
with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
places = 0
for thread in document["threads"]:
    for frame in thread["frames"]:
        for place in [frame] + frame.get("inlined", []):
            if os.path.basename(place.get("file", "")) != os.path.basename(sys.argv[2]):
                assert "text" not in place, place
                continue
            first = max(place["line"] - 2, 1)
            assert place["text"] == {
                "first": first,
                "lines": lines[first - 1 : place["line"] + 2],
            }, place
            places += 1
print(places, "places agree")
