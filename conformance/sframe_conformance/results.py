# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of a run, whatever the kit: of each case one, and the list of failures that are known."""
import dataclasses
import fnmatch
from typing import List

PASSED, FAILED, KNOWN, UNSUPPORTED, LEFT_OUT = (
    "passed",
    "failed",
    "known",
    "unsupported",
    "left-out",
)
VERDICTS = (PASSED, FAILED, KNOWN, UNSUPPORTED, LEFT_OUT)


@dataclasses.dataclass
class Detail:
    """One question, or one address."""

    place: str
    wanted: str
    given: str
    is_wrong: bool

    def text(self):
        return (
            "%s: %s; right: %s" % (self.place, self.given, self.wanted)
            if self.wanted
            else "%s: %s" % (self.place, self.given)
        )


@dataclasses.dataclass
class Result:
    name: str
    about: str
    spec: str
    verdict: str = PASSED
    reason: str = ""  # of a known failure
    details: List[Detail] = dataclasses.field(default_factory=list)

    @property
    def faults(self):
        return [detail for detail in self.details if detail.is_wrong]


def read_known(path):
    """Lines `PATTERN  why`, # for comments: failures that are known, by names of cases."""
    known = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split(None, 1)
            if words:
                if len(words) < 2:
                    raise ValueError("%s: no reason: %s" % (path, words[0]))
                known.append((words[0], words[1].strip()))
    return known


def mark_known(results, known):
    """Failures that the list has become `known`. Returns the patterns of which all cases that were
    tried are right."""
    right = []
    for pattern, reason in known:
        tried = [result for result in results if fnmatch.fnmatchcase(result.name, pattern)]
        for result in tried:
            if result.verdict == FAILED:
                result.verdict, result.reason = KNOWN, reason
        if any(result.verdict == PASSED for result in tried) and not any(
            result.verdict in (FAILED, KNOWN) for result in tried
        ):
            right.append(pattern)
    return right
