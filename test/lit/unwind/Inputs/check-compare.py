# Reads the JSON of sframe-unwind --compare: exact steppers answer for every frame but the outermost
# ones, and never differ.
import json
import sys

data = json.load(sys.stdin)
for thread in data["threads"]:
    by_name = {c["stepper"]: c for c in thread["comparison"]}
    assert set(by_name) == {"sframe", "cfi", "frame-pointer", "analysis"}, by_name
    sframe, cfi = by_name["sframe"], by_name["cfi"]
    assert sframe["differs"] == 0 and cfi["differs"] == 0, thread
    assert sframe["answered"] == cfi["answered"] > 3, thread
    assert thread["end"]["complete"], thread
print(len(data["threads"]), "threads: sframe and cfi agree")
