# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptions of sections (conformance/readers/cases/NAME.case, docs/conformance.md): a text of
lines, each a keyword and its values, read into what it means. Nothing here knows how a section is
encoded, but for names of fields.

    about     One function with two rows.
    spec      2.4
    variants  version=1,2,3 abi=amd64,aarch64
    function  0x1000 size=16
    row       0 cfa=sp+entry ra=entry fp=same
    row       4 cfa=sp+entry+16 ra=saved fp=saved
    ask       0x1004 = row 1
"""
import dataclasses
import itertools
import re
from typing import Dict, List, Optional

from .rules import ABIS, OUTERMOST, Abi, Answer, number, parse_rule

HOSTS = {"x86_64": "amd64", "aarch64": "aarch64", "s390x": "s390x"}


class Wrong(Exception):
    """A description that cannot be read: the message has file and line."""


@dataclasses.dataclass
class Row:
    offset: int
    answer: Answer  # what it means
    width: int = 0  # of data words; 0: the smallest
    raw: Dict[str, object] = dataclasses.field(
        default_factory=dict
    )  # info=, words=: instead of what it means


@dataclasses.dataclass
class Function:
    start: int
    size: int
    rows: List[Row] = dataclasses.field(default_factory=list)
    shares: Optional[int] = None  # number of the function whose rows it has
    is_flex: bool = False
    is_signal: bool = False
    key_b: bool = False
    rep_size: int = 0  # of a repeating (PCMASK) one
    is_mask: bool = False
    offset_size: int = 0  # 1, 2, 4; 0: by its size
    raw: Dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Section:
    functions: List[Function] = dataclasses.field(default_factory=list)
    header: Dict[str, int] = dataclasses.field(
        default_factory=dict
    )  # fields instead of the right ones
    flags: Optional[int] = None
    aux: bytes = b""
    gap_before_index: int = 0
    gap_before_rows: int = 0
    rows_first: bool = False


@dataclasses.dataclass
class Question:
    pc: int
    answers: List[Answer]
    spec: str


@dataclasses.dataclass
class Case:
    name: str
    about: str
    spec: str
    level: str
    malformed: bool
    seconds: float
    version: int
    abi: Abi
    big: bool
    pcrel: bool
    address: int
    sections: List[Section]
    questions: List[Question]
    edits: List[
        tuple
    ]  # of the finished bytes: ("truncate", size), ("append", bytes), ("poke", place, offset, bytes)

    @property
    def fixed_ra(self):
        return self.sections[0].header.get("fixed_ra", self.abi.fixed_ra)

    @property
    def fixed_fp(self):
        return self.sections[0].header.get("fixed_fp", 0)


def read(path, name, wanted=None, pcrel="yes"):
    """All variants of a description, one after the other; only those with the `wanted` values, if a
    description has them. `pcrel`: whether starts are relative to their fields, where a description
    does not say."""
    with open(path, encoding="utf-8") as file:
        lines = [(i, line.split("#")[0].rstrip()) for i, line in enumerate(file, 1)]
    lines = [(i, line) for i, line in lines if line.strip()]
    dimensions = {"version": ["3"], "abi": ["amd64"]}
    excluded = []
    for i, line in lines:
        if line.split()[0] == "variants":
            for word in line.split()[1:]:
                key, _, values = word.partition("=")
                dimensions[key] = values.split(",")
        elif line.split()[0] == "except":
            excluded.append(dict(word.split("=", 1) for word in line.split()[1:]))
    found = False
    for values in itertools.product(*dimensions.values()):
        variant = dict(zip(dimensions, values))
        if any(
            all(variant.get(key) in value.split(",") for key, value in one.items())
            for one in excluded
        ) or not _is_possible(variant):
            continue
        shown = [
            variant[key]
            if key == "abi"
            else "v" + variant[key]
            if key == "version"
            else "%s-%s" % (key, variant[key])
            for key in dimensions
        ]
        found = True
        if all(variant.get(key, value) == value for key, value in (wanted or {}).items()):
            yield _Reader(
                path, "/".join([name, "-".join(shown)]), {"pcrel": pcrel, **variant}
            ).read(lines)
    if not found:
        raise Wrong("%s: no variant is possible" % path)
    return found


def _is_possible(variant):
    """s390x came with version 2, FUNC_START_PCREL too."""
    return not (
        variant["version"] == "1" and (variant["abi"] == "s390x" or variant.get("pcrel") == "yes")
    )


def _some(items):
    """All of a few; of many the first, the last, and some between."""
    return (
        items
        if len(items) <= 8
        else [*items[:2], *items[len(items) // 3 :][:2], *items[len(items) // 2 :][:1], *items[-2:]]
    )


class _Reader:
    def __init__(self, path, name, variant):
        self.path, self.variant = path, variant
        version, abi = int(variant["version"]), ABIS[variant["abi"]]
        big = abi.big != (variant.get("order", "native") == "foreign")
        pcrel = variant["pcrel"] == "yes" and version > 1
        self.case = Case(
            name,
            "",
            "",
            "full",
            False,
            10.0,
            version,
            abi,
            big,
            pcrel,
            0x400000,
            [Section()],
            [],
            [],
        )
        self.rows = []  # of the whole description, in order: `row N` in questions
        self.own = None  # the last function that has rows of its own
        self.all_answers = None
        self.asked = []
        self.about, self.spec = [], []

    def read(self, lines):
        for i, line in lines:
            keyword, *words = re.sub(r"\$(\w+)", self._value, line).split()
            try:
                getattr(self, "_on_" + keyword)(words)
            except AttributeError:
                raise Wrong("%s:%d: no keyword: %s" % (self.path, i, keyword)) from None
            except (ValueError, IndexError, KeyError, TypeError) as error:
                raise Wrong("%s:%d: %s: %s" % (self.path, i, line.strip(), error)) from None
        case = self.case
        case.about, case.spec = " ".join(self.about), "; ".join(self.spec)
        if case.malformed and not self.asked and self.all_answers is None:
            self.all_answers = [Answer("reject"), Answer("none")]
        automatic = [] if case.malformed and self.all_answers is None else self._automatic()
        case.questions = automatic + [
            Question(pc, answers, case.spec) for pc, answers in self.asked
        ]
        if not case.questions:
            raise Wrong("%s: %s: nothing is asked" % (self.path, case.name))
        return case

    def _value(self, match):
        computed = {
            "max_rows": str(0xFFFF if self.variant["version"] == "3" else 0xFFFFFFFF),
            "entry_size": {"1": "17", "2": "20", "3": "16"}[self.variant["version"]],
            "attributes_size": "5" if self.variant["version"] == "3" else "0",
        }
        return {**computed, **self.variant}[match[1]]

    # What each keyword means

    def _on_variants(self, words):
        pass

    _on_except = _on_variants

    def _on_about(self, words):
        self.about.append(" ".join(words))

    def _on_spec(self, words):
        self.spec.append(" ".join(words))

    def _on_level(self, words):
        if words[0] not in ("minimal", "full"):
            raise ValueError("minimal or full")
        self.case.level = words[0]

    def _on_malformed(self, words):
        """No row may come of what is asked, by default of every function's start."""
        self.case.malformed = True

    def _on_seconds(self, words):
        self.case.seconds = float(words[0])

    def _on_address(self, words):
        self.case.address = number(words[0])

    def _on_flags(self, words):
        names = {"sorted": 1, "frame-pointer": 2, "pcrel": 4}
        self.section.flags = sum(names.get(word) or number(word) for word in words)
        self.case.pcrel = bool(self.section.flags & 4) and self.case.version > 1

    def _on_header(self, words):
        self.section.header.update(
            (key, number(value)) for key, value in (word.split("=") for word in words)
        )

    def _on_aux(self, words):
        self.section.aux = bytes.fromhex("".join(words))

    def _on_gap(self, words):
        setattr(self.section, "gap_before_" + words[0], number(words[1]))

    def _on_order(self, words):
        self.section.rows_first = words == ["rows", "index"]

    def _on_next(self, words):
        """Another section follows."""
        self.case.sections.append(Section())

    @property
    def section(self):
        return self.case.sections[-1]

    def _on_function(self, words):
        made = Function(self._address(words[0]), 0)
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key in ("size", "rep_size", "offset_size"):
                setattr(made, key, number(value))
            elif key == "mask":
                made.is_mask, made.rep_size = True, number(value)
            elif key in ("flex", "signal"):
                setattr(made, "is_" + key, True)
            elif word == "key=b":
                made.key_b = True
            elif key == "shares":
                made.shares = number(value)
            elif key in (
                "info",
                "info2",
                "num_fres",
                "fre_off",
                "start_field",
                "size_field",
                "padding",
            ):
                made.raw[key] = number(value)
            else:
                raise ValueError("no option of a function: " + word)
        self.section.functions.append(made)
        if made.shares is None:
            self.own = made

    def _on_functions(self, words):
        """functions COUNT STEP ...: as many, all with the rows that follow; with `shared`, those
        are the same bytes."""
        count, step = number(words[0]), number(words[1])
        shared = "shared" in words
        self._on_function([word for word in words[2:] if word != "shared"])
        first = self.own
        first_number = len(self.section.functions) - 1 if shared else None
        self.section.functions += [
            dataclasses.replace(
                first, start=(first.start + i * step) % 2**64, shares=first_number
            )
            for i in range(1, count)
        ]

    def _on_row(self, words):
        row = Row(number(words[0]), self._answer(words[1:], row=True))
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key == "width":
                row.width = number(value)
            elif key == "info":
                row.raw["info"] = number(value)
            elif key == "words":
                row.raw["words"] = [number(one) for one in value.split(",") if one]
        function = self.own
        row.answer = dataclasses.replace(
            row.answer,
            signal=function.is_signal if self.case.version == 3 else None,
            key="ab"[function.key_b]
            if self.case.abi.name.startswith("aarch64") and not row.answer.is_outermost
            else None,
        )
        function.rows.append(row)
        self.rows.append(row)

    def _on_rows(self, words):
        """rows COUNT STEP MODULUS ...: as many, each STEP after the one before; {i} is the number
        modulo MODULUS."""
        count, step, modulus = map(number, words[:3])
        for i in range(modulus):
            self._on_row([str(i * step)] + [word.replace("{i}", str(i)) for word in words[3:]])
        first = self.own.rows[-modulus:]
        more = [
            Row(i * step, first[i % modulus].answer, first[i % modulus].width)
            for i in range(modulus, count)
        ]
        self.own.rows += more
        self.rows += more

    def _on_truncate(self, words):
        self.case.edits.append(("truncate", number(words[0])))

    def _on_append(self, words):
        self.case.edits.append(("append", bytes.fromhex("".join(words))))

    def _on_poke(self, words):
        """poke header|index|rows OFFSET BYTES: other bytes there."""
        self.case.edits.append(
            ("poke", words[0], number(words[1]), bytes.fromhex("".join(words[2:])))
        )

    def _on_all(self, words):
        self.all_answers = self._answers(words)

    def _on_ask(self, words):
        self.asked.append((self._address(words[0]), self._answers(words[1:])))

    # Answers

    def _address(self, text):
        return number(text.replace("section", hex(self.case.address))) % 2**64

    def _rule(self, name, text):
        abi = self.case.abi
        text = text.replace("entry", str(abi.entry))
        if name == "ra":
            text = {
                str(abi.entry): "same" if abi.tracks_ra else "fixed",
                "saved": "[cfa%+d]" % abi.ra_slot if abi.tracks_ra else "fixed",
            }.get(text, text)
        elif name == "fp" and text == "saved":
            text = "[cfa%+d]" % abi.fp_slot
        return parse_rule(text, abi)

    def _answer(self, words, row=False):
        if "outermost" in words:
            return OUTERMOST
        given = dict(word.split("=", 1) for word in words if "=" in word)
        rules = {
            name: self._rule(
                name, given.get(name, {"cfa": "sp+entry", "ra": "entry", "fp": "same"}[name])
            )
            for name in ("cfa", "ra", "fp")
        }
        unknown = given.keys() - {
            "cfa",
            "ra",
            "fp",
            "width",
            "info",
            "words",
            "signed",
            "signal",
            "key",
        } | {word for word in words if "=" not in word} - {"signed"}
        if unknown:
            raise ValueError("no part of a row: " + " ".join(sorted(unknown)))
        return Answer(
            "row",
            **rules,
            signed=("signed" in words) if self.case.abi.name.startswith("aarch64") else None
        )

    def _answers(self, words):
        """`= row 2 | none`, `= row cfa=sp+8 ... | reject`, `= any`."""
        if words[0] != "=":
            raise ValueError("= expected")
        found = []
        for part in " ".join(words[1:]).split("|"):
            kind, *rest = part.split()
            if kind == "any":
                found += [Answer("none"), Answer("reject"), Answer("any")]
            elif kind == "row":
                found.append(
                    self.rows[int(rest[0])].answer
                    if rest and rest[0].isdigit()
                    else self._answer(rest)
                )
            elif kind in ("none", "reject") and not rest:
                found.append(Answer(kind))
            else:
                raise ValueError("no answer: " + part)
        return [
            answer.with_fixed(self.case.fixed_ra, self.case.fixed_fp)
            if answer.kind == "row"
            else answer
            for answer in found
        ]

    def _automatic(self):
        """The first and last addresses of functions and rows, and those beside them, by what the
        description says."""
        case = self.case
        functions = case.sections[0].functions
        chosen = _some(functions)
        places = []
        for function in chosen:
            rows = self._rows_of(function)
            places += [
                function.start - 1,
                function.start,
                function.start + function.size - 1,
                function.start + function.size,
            ]
            blocks = (
                range(0, function.size, function.rep_size)
                if function.is_mask and function.rep_size
                else (0,)
            )
            places += [
                function.start + block + row.offset + d
                for block in _some(blocks)
                for row in _some(rows)
                for d in (-1, 0)
            ]
        if self.all_answers is not None:
            places = [function.start for function in chosen]
        found = []
        for pc in dict.fromkeys(place for place in places if 0 <= place < 2**64):
            answers = self.all_answers if self.all_answers is not None else self.meaning(pc)
            if answers and pc not in dict(self.asked):
                found.append(Question(pc, answers, case.spec))
        return found

    def _rows_of(self, function):
        return (
            self.case.sections[0].functions[function.shares].rows
            if function.shares is not None
            else function.rows
        )

    def meaning(self, pc):
        """By the description alone: the function that has the pc, and its last row at or before it
        (2.3.3.1)."""
        case = self.case
        having = [f for f in case.sections[0].functions if f.start <= pc < f.start + f.size]
        if len(having) > 1:
            return None  # the specification does not say which
        if not having:
            return [Answer("none")]
        function = having[0]
        rows = self._rows_of(function)
        if not rows:
            return [OUTERMOST] if case.version == 3 else [Answer("none")]
        offsets = [pc - function.start]
        if function.is_mask:
            # 2.3.3.1 has the pc modulo the block's size, 2.4 offsets from the function's start: the
            # same for a PLT, which is aligned.
            offsets = list(dict.fromkeys([offsets[0] % function.rep_size, pc % function.rep_size]))
        return [answer for offset in offsets for answer in self._at(function, rows, offset)]

    def _at(self, function, rows, offset):
        """The answers for an offset: that of the last row at or before it."""
        case, found = self.case, Answer("none")
        for row in rows:
            if row.offset <= offset:
                found = row.answer
        if found.kind != "row":
            return [found]
        found = found.with_fixed(case.fixed_ra, case.fixed_fp)
        if not function.is_flex or case.abi.cfa_scale == 1 or found.is_outermost:
            return [found]
        # s390x: 3.1.3 scales the CFA's offset, 3.2 does not mention it; producers and readers
        # scale.
        unscaled = (found.cfa.offset - case.abi.cfa_bias) // case.abi.cfa_scale
        return [
            found,
            dataclasses.replace(found, cfa=dataclasses.replace(found.cfa, offset=unscaled)),
        ]
