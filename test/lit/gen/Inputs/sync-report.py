"""sync-report.py LOSSLESS SYNC: --shrink-cfi=sync saves more, by the reports of both levels."""
import json
import sys

lossless, sync = (json.load(open(path, encoding="utf-8"))["shrink_cfi"] for path in sys.argv[1:])
assert lossless["level"] == "lossless" and sync["level"] == "sync"
assert sync["eh_frame"] < lossless["eh_frame"] and sync["addresses_left_to_sframe"] > 0
