"""Checks bench/intervals.py with a textbook's examples and made-up measurements, and makes reports
for bench/compare.

    bench.py PROJECT FOLDER
"""

import json
import math
import os
import random
import sys

project, folder = sys.argv[1:]
sys.path.insert(0, os.path.join(project, "bench"))
import intervals

# Hollander and Wolfe, examples 3.1 (pairs: the estimate is -0.46) and 4.1 (two sets: -0.305).
# Theirs are differences, ours are ratios.
pairs = intervals.of_pairs(
    *(
        [math.exp(value) for value in values]
        for values in (
            (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30),
            (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29),
        )
    ),
    0.95
)
assert abs(math.log(pairs.ratio) + 0.46) < 0.005, pairs
assert math.log(pairs.low) <= -0.786 and math.log(pairs.high) >= -0.01, pairs
sets = intervals.of_sets(
    *(
        [math.exp(value) for value in values]
        for values in (
            (0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46),
            (1.15, 0.88, 0.90, 0.74, 1.21),
        )
    ),
    0.95
)
assert abs(math.log(sets.ratio) + 0.305) < 0.005, sets
assert math.log(sets.low) <= -0.76 and math.log(sets.high) >= 0.15, sets

made = random.Random(1)


def times(count, factor=1.0):
    """Like measured ones: a least time, noise above it, and now and then a much slower round."""
    return [
        factor * (100 + made.expovariate(1 / 2)) * (1.5 if made.random() < 0.05 else 1)
        for _ in range(count)
    ]


def alarms(rounds, factor, interval, repetitions=100):
    return sum(
        interval(times(rounds), times(rounds, factor), 0.999).excludes_one()
        for _ in range(repetitions)
    )


for interval in (intervals.of_pairs, intervals.of_sets):
    assert alarms(60, 1, interval) <= 1  # of 100, where one in a thousand is expected
    assert alarms(60, 1.05, interval) >= 95
    assert alarms(60, 0.95, interval) >= 95
    assert interval(times(3), times(3), 0.999).high == math.inf


def report(name, factor):
    """`first` is compared with its peer, `second` with its limit; the machine is busy in some
    rounds."""
    measures = []
    for key, reference in (("dump.first", "peer"), ("dump.second", "limit")):
        busy = [made.choice((1, 1, 1.6)) for _ in range(25)]
        samples = {"ours": times(25, factor), "peer": [], "limit": [], reference: times(25)}
        samples = {
            role: [value * load for value, load in zip(values, busy)]
            for role, values in samples.items()
        }
        measures.append(
            {
                "key": key,
                "title": "made up",
                "names": {"ours": "sframe-dump --made-up", reference: "other"},
                "unit": "ms",
                "samples": samples,
                "cpu": {},
                "memory": {"ours": 5.0},
            }
        )
    with open(os.path.join(folder, name), "w") as file:
        json.dump({"format": 1, "machine": {}, "measures": measures}, file)


report("old.json", 1)
report("equal.json", 1)
report("slower.json", 1.08)
report("faster.json", 0.92)
