# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for readers: cases, questions, and what counts as right."""
import fnmatch
import glob
import json
import os

from . import description
from .builder import build
from .results import FAILED, PASSED, UNSUPPORTED, Detail, Result
from .rules import differences


def load(folder, level="full", abi="amd64", only=("*",), pcrel="yes"):
    """The cases of a folder, in the order of their files; each is made when it is needed. `level`
    minimal: version 3 for one ABI, in its own byte order. `pcrel`: "no" for starts that are
    relative to the section, where a case does not choose.
    """
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.case"))):
        name = os.path.basename(path).removesuffix(".case")
        if not any(fnmatch.fnmatchcase(name, pattern.split("/")[0]) for pattern in only):
            continue
        for case in description.read(
            path,
            name,
            None
            if level == "full"
            else {"version": "3", "abi": abi, "order": "native", "pcrel": pcrel},
            pcrel,
        ):
            if (level == "full" or case.level == "minimal") and any(
                fnmatch.fnmatchcase(case.name, pattern) or "/" not in pattern for pattern in only
            ):
                yield case


def as_json(case, data, file):
    """What question.schema.json describes."""
    return {
        "format": 1,
        "case": case.name,
        "about": case.about,
        "spec": case.spec,
        "level": case.level,
        "malformed": case.malformed,
        "section": file,
        "size": len(data),
        "address": hex(case.address),
        "version": case.version,
        "abi": case.abi.name,
        "byte_order": "big" if case.big else "little",
        "fixed_ra": case.fixed_ra,
        "fixed_fp": case.fixed_fp,
        "questions": [
            {"pc": hex(q.pc), "answers": [a.text(case.abi) for a in q.answers], "spec": q.spec}
            for q in case.questions
        ],
    }


def make(cases, folder):
    """Writes NAME.sframe and NAME.json of each; a / of a name is a - of the files."""
    os.makedirs(folder, exist_ok=True)
    count = 0
    for count, case in enumerate(cases, 1):
        data = build(case)
        name = case.name.replace("/", "-")
        with open(os.path.join(folder, name + ".sframe"), "wb") as file:
            file.write(data)
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(as_json(case, data, name + ".sframe"), file, indent=1)
            file.write("\n")
    return count


def check(case, outcome):
    """One result for all questions of a case."""
    result = Result(case.name, case.about, case.spec)
    unsupported = 0
    for i, question in enumerate(case.questions):
        given = outcome[i]
        wanted = " | ".join(dict.fromkeys(answer.text(case.abi) for answer in question.answers))
        if given is None:
            text, wrong = outcome.end or "no answer", True
        elif isinstance(given, str):
            text, wrong = given, True
        elif given.kind == "unsupported":
            text, wrong = given.kind, False
            unsupported += 1
        else:
            text = given.text(case.abi)
            plain = given.with_fixed(case.fixed_ra, case.fixed_fp) if given.kind == "row" else given
            wrong = not any(
                answer.kind == "any" or not differences(answer, plain)
                for answer in question.answers
            )
        result.details.append(Detail("0x%x" % question.pc, wanted, text, wrong))
        if given is None:
            break  # the ones after it have none either
    if outcome.end and len(outcome.answers) >= len(case.questions):
        result.details.append(Detail("after the last answer", "", outcome.end, True))
    if result.faults:
        result.verdict = FAILED
    elif unsupported and not case.sections[0].header.keys() & {
        "magic",
        "version",
        "abi",
    }:  # of which that is the right answer
        result.verdict = UNSUPPORTED
    else:
        result.verdict = PASSED
    return result


def run(reader, cases, seconds, progress):
    """Asks a reader all cases."""
    found = []
    for case in cases:
        progress(case.name)
        found.append(check(case, reader.ask(case, build(case), seconds or case.seconds)))
    return found
