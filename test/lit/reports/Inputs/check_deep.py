"""check_deep.py PAGE JSON: of the deep stack, the page has the first 400 frames and the last 100,
and the number of the others."""
import json
import sys

import check_page

data, _ = check_page.load(sys.argv[1])
with open(sys.argv[2]) as file:
    whole = json.load(file)
assert len(data["threads"]) == len(whole["threads"]) == 5
for page, thread in zip(data["threads"], whole["threads"]):
    frames = thread["frames"]
    if len(frames) > 500:
        frames = frames[:400] + [{"left_out": len(frames) - 500}] + frames[-100:]
        assert "recurse" in frames[399]["function"] and frames[-1]["function"] == "_start", frames[
            399
        ]
    assert page["frames"] == frames
assert any("left_out" in frame for frame in data["threads"][0]["frames"])
