# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much slower is the new one, and is that noise? Confidence intervals of the ratio of two
measurements that assume no distribution: of pairs by Wilcoxon's signed ranks, of two independent
sets by Mann and Whitney's ranks, each inverted into an interval by Hodges and Lehmann (M.
Hollander, D. A. Wolfe: Nonparametric Statistical Methods, chapters 3 and 4). bench/compare uses
them; test/lit/source/bench.test checks them.
"""

import math
import statistics
from typing import NamedTuple


class Interval(NamedTuple):
    """A ratio, and between which ratios it is with the confidence asked for. With too few values
    the ends are 0 and infinity."""

    ratio: float
    low: float
    high: float

    def excludes_one(self):
        return self.low > 1 or self.high < 1


def _interval(differences, mean, deviation, confidence):
    """Of all sorted differences of logarithms; mean and deviation are those of the rank statistic
    if nothing has changed."""
    ratio = math.exp(statistics.median(differences))
    cut = math.floor(mean - statistics.NormalDist().inv_cdf((1 + confidence) / 2) * deviation)
    if cut < 1:
        return Interval(ratio, 0, math.inf)
    return Interval(ratio, math.exp(differences[cut - 1]), math.exp(differences[-cut]))


def of_pairs(old, new, confidence):
    """The ratio new / old of values measured in turn: old[i] next to new[i]. Costs the square of
    their number."""
    logs = [math.log(b / a) for a, b in zip(old, new, strict=True)]
    count = len(logs)
    means = sorted((logs[i] + logs[j]) / 2 for i in range(count) for j in range(i, count))
    return _interval(
        means,
        count * (count + 1) / 4,
        math.sqrt(count * (count + 1) * (2 * count + 1) / 24),
        confidence,
    )


def of_sets(old, new, confidence):
    """The ratio new / old of values that were measured at different times."""
    differences = sorted(math.log(b / a) for a in old for b in new)
    product = len(old) * len(new)
    return _interval(
        differences, product / 2, math.sqrt(product * (len(old) + len(new) + 1) / 12), confidence
    )
