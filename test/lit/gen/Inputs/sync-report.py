"""sync-report.py MORE LESS: a level of --shrink-cfi saves more than another one, by their
reports."""
import json
import sys

levels = ("lossless", "sync", "faults")
more, less = (json.load(open(path, encoding="utf-8"))["shrink_cfi"] for path in sys.argv[1:])
assert levels.index(less["level"]) == levels.index(more["level"]) + 1
assert less["eh_frame"] < more["eh_frame"] and less["addresses_left_to_sframe"] > more.get(
    "addresses_left_to_sframe", 0
)
