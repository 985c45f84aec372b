# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules and answers: what a reader finds for an address. A rule is written as sframe-dump writes
it: "sp+16", "[cfa-8]", "r10+0", "[r6-24]", "same" (unchanged, or not saved), "undefined", "fixed"
(stored at the offset from the CFA that the header has)."""
import dataclasses
import re
from typing import Optional

CFA = 0xFFFF  # the base that is no register


@dataclasses.dataclass(frozen=True)
class Abi:
    name: str
    number: int  # sfh_abi_arch (2.2.1)
    big: bool
    sp: int  # DWARF numbers
    fp: int
    ra: int
    fixed_ra: int  # of its ABI, for sfh_cfa_fixed_ra_offset; 0: RA is tracked by rows
    entry: int  # CFA - SP at a function's entry
    ra_slot: int  # where this kit's cases save RA and FP, from the CFA
    fp_slot: int
    tracks_ra: bool  # rows have a word for RA
    cfa_scale: int = 1
    cfa_bias: int = 0


ABIS = {
    abi.name: abi
    for abi in (
        Abi("aarch64_be", 1, True, 31, 29, 30, 0, 0, -8, -16, True),
        Abi("aarch64", 2, False, 31, 29, 30, 0, 0, -8, -16, True),
        Abi("amd64", 3, False, 7, 6, 16, -8, 8, -8, -16, False),
        Abi("s390x", 4, True, 15, 11, 14, 0, 160, -48, -72, True, 8, 160),
    )
}


@dataclasses.dataclass(frozen=True)
class Rule:
    kind: str  # same, undefined, fixed, value, stored
    base: int = 0
    offset: int = 0

    def text(self, abi):
        if self.kind not in ("value", "stored"):
            return self.kind
        base = (
            "cfa"
            if self.base == CFA
            else {abi.sp: "sp", abi.fp: "fp"}.get(self.base, "r%d" % self.base)
        )
        text = "%s%+d" % (base, self.offset)
        return "[%s]" % text if self.kind == "stored" else text


SAME, UNDEFINED, FIXED = Rule("same"), Rule("undefined"), Rule("fixed")


def parse_rule(text, abi):
    """ValueError if it is none. The offset may be left out: "r10". Sums and products are allowed:
    "sp+8+3*16"."""
    if text in ("same", "undefined", "fixed"):
        return Rule(text)
    match = re.fullmatch(r"(\[?)(cfa|sp|fp|r\d+)((?:[+-][\dx*a-f+-]+)?)(\]?)", text)
    if not match or bool(match[1]) != bool(match[4]):
        raise ValueError("no rule: %r" % text)
    base = {"cfa": CFA, "sp": abi.sp, "fp": abi.fp}.get(match[2])
    return Rule(
        "stored" if match[1] else "value",
        int(match[2][1:]) if base is None else base,
        number(match[3] or "0"),
    )


def number(text):
    """Sums and products of decimal and hexadecimal numbers."""
    total = 0
    if not re.fullmatch(r"[+-]?\w+([*+-]\w+)*", text):
        raise ValueError("no number: %r" % text)
    for sign, term in re.findall(r"([+-]?)([^+-]+)", text):
        product = 1
        for factor in term.split("*"):
            product *= int(factor, 0)
        total += -product if sign == "-" else product
    return total


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a reader says about a pc. `kind`: row; none (no function or row has it); reject (the
    section, or this part of it, is malformed); unsupported (the reader does not know the version or
    ABI). The rest is of rows; None is "does not say".
    """

    kind: str
    cfa: Optional[Rule] = None
    ra: Optional[Rule] = None
    fp: Optional[Rule] = None
    signed: Optional[bool] = None  # AArch64: the return address has an authentication code
    signal: Optional[bool] = None  # signal frame
    key: Optional[str] = None  # AArch64: a or b

    @property
    def is_outermost(self):
        return self.kind == "row" and self.ra == UNDEFINED

    def with_fixed(self, fixed_ra, fixed_fp):
        """The same with the offsets of the header in place of "fixed"."""

        def known(rule, offset):
            return Rule("stored", CFA, offset) if rule == FIXED else rule

        return dataclasses.replace(self, ra=known(self.ra, fixed_ra), fp=known(self.fp, fixed_fp))

    def text(self, abi):
        if self.kind != "row":
            return self.kind
        if self.is_outermost:
            words = ["row outermost"]
        else:
            words = ["row"] + [
                "%s=%s" % (name, rule.text(abi))
                for name, rule in (("cfa", self.cfa), ("ra", self.ra), ("fp", self.fp))
                if rule
            ]
        words += [
            "%s=%d" % (name, value)
            for name, value in (("signed", self.signed), ("signal", self.signal))
            if value is not None
        ]
        return " ".join(words + (["key=" + self.key] if self.key else []))


OUTERMOST = Answer("row", UNDEFINED, UNDEFINED, UNDEFINED)


def parse_answer(text, abi):
    """The inverse of Answer.text(). ValueError if it is none."""
    words = text.split()
    if not words:
        raise ValueError("an empty answer")
    if words[0] in ("none", "reject", "unsupported"):
        return Answer(words[0])
    if words[0] != "row" or len(words) == 1:
        raise ValueError("not an answer: %r" % text[:200])
    found = {}
    rest = words[1:]
    if rest[0] == "outermost":
        found = {"cfa": UNDEFINED, "ra": UNDEFINED, "fp": UNDEFINED}
        rest = rest[1:]
    for word in rest:
        key, equal, value = word.partition("=")
        if key in found or not equal:
            raise ValueError("not an answer: %r" % text[:200])
        if key in ("cfa", "ra", "fp"):
            found[key] = parse_rule(value, abi)
        elif key in ("signed", "signal") and value in ("0", "1"):
            found[key] = value == "1"
        elif key == "key" and value in ("a", "b"):
            found[key] = value
        else:
            raise ValueError("not an answer: %r" % text[:200])
    if not {"cfa", "ra", "fp"} <= found.keys():
        raise ValueError("a row without cfa=, ra= or fp=: %r" % text[:200])
    return Answer("row", **found)


def differences(wanted, given):
    """The names of what differs between two answers; what `given` does not say does not. Both
    without "fixed"."""
    if wanted.kind != given.kind:
        return ["kind"]
    if wanted.kind != "row":
        return []
    if wanted.is_outermost or given.is_outermost:
        return [] if wanted.is_outermost and given.is_outermost else ["ra"]
    names = [name for name in ("cfa", "ra", "fp") if getattr(wanted, name) != getattr(given, name)]
    return names + [
        name
        for name in ("signed", "signal", "key")
        if None not in (getattr(wanted, name), getattr(given, name))
        and getattr(wanted, name) != getattr(given, name)
    ]
