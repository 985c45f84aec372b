# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes of described sections, by the specification's tables alone: SFrame 3, sections 2 and 3; for
version 2 its errata 1 and 2; for version 1 the list of changes (1.3). Independent of libsframe,
which is one of the readers under test."""
from .rules import CFA, FIXED, SAME, Answer

MAGIC = 0xDEE2
SORTED, PCREL = 1, 4
HEADER_SIZE = 28
ENTRY_SIZES = {1: 17, 2: 20, 3: 16}
SIZES = {"B": 1, "b": 1, "H": 2, "I": 4, "i": 4, "q": 8}
HEADER = (
    ("magic", "H"),
    ("version", "B"),
    ("flags", "B"),
    ("abi", "B"),
    ("fixed_fp", "b"),
    ("fixed_ra", "b"),
    ("aux_len", "B"),
    ("num_fdes", "I"),
    ("num_fres", "I"),
    ("fre_len", "I"),
    ("fde_off", "I"),
    ("fre_off", "I"),
)


def build(case):
    """The bytes of a case, and the offsets of `header`, `index` and `rows` in it."""
    out, places = b"", None
    for section in case.sections:
        out += b"\0" * (-len(out) % 8)
        encoder = _Encoder(case, section, case.address + len(out))
        out += encoder.encode()
        places = places or encoder.places
    for edit in case.edits:
        if edit[0] == "truncate":
            out = out[: edit[1] if edit[1] >= 0 else len(out) + edit[1]]
        elif edit[0] == "append":
            out += edit[1]
        else:
            at = places[edit[1]] + edit[2]
            if at + len(edit[3]) > len(out):
                raise ValueError("%s: nothing is there to change" % case.name)
            out = out[:at] + edit[3] + out[at + len(edit[3]) :]
    return out


def fits(value, width):
    return -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1


class _Encoder:
    def __init__(self, case, section, address):
        self.case, self.section, self.address = case, section, address
        self.prefix = ">" if case.big else "<"
        self.places = {}

    def number(self, format_, value):
        """Fields that a description sets may have any value: as many bits as there are."""
        size = SIZES[format_]
        return (value % (1 << 8 * size)).to_bytes(size, "big" if self.case.big else "little")

    def encode(self):
        case, section = self.case, self.section
        rows, offsets, total = b"", [], 0
        for function in section.functions:
            if function.shares is not None:
                offsets.append(offsets[function.shares])
            else:
                offsets.append(len(rows))
                rows += self.rows(function)
            total += len(
                section.functions[function.shares].rows
                if function.shares is not None
                else function.rows
            )
        index_size = ENTRY_SIZES[case.version] * len(section.functions)
        start = HEADER_SIZE + len(section.aux)
        index_at, rows_at = (
            section.gap_before_index,
            section.gap_before_index + index_size + section.gap_before_rows,
        )
        if section.rows_first:
            rows_at, index_at = 0, len(rows) + -len(rows) % 8
        self.places = {"header": 0, "index": start + index_at, "rows": start + rows_at}
        flags = SORTED | (PCREL if case.pcrel else 0) if section.flags is None else section.flags
        fields = {
            "magic": MAGIC,
            "version": case.version,
            "flags": flags,
            "abi": case.abi.number,
            "fixed_fp": 0,
            "fixed_ra": case.abi.fixed_ra,
            "aux_len": len(section.aux),
            "num_fdes": len(section.functions),
            "num_fres": total % 2**32,
            "fre_len": len(rows),
            "fde_off": index_at,
            "fre_off": rows_at,
        }
        if section.header.keys() - fields.keys():
            raise ValueError(
                "%s: no field of the header: %s"
                % (case.name, " ".join(section.header.keys() - fields.keys()))
            )
        fields.update(section.header)
        header = (
            b"".join(self.number(format_, fields[name]) for name, format_ in HEADER) + section.aux
        )
        index = b"".join(
            self.entry(function, start + index_at + i * ENTRY_SIZES[case.version], offsets[i])
            for i, function in enumerate(section.functions)
        )
        parts = sorted([(index_at, index), (rows_at, rows)], key=lambda part: part[0])
        out = header
        for at, part in parts:
            out += b"\xaa" * (start + at - len(out)) + part  # what is in gaps must not matter
        return out

    def entry(self, function, field_at, fre_off):
        """An entry of the index (2.3.1); with the attributes, in versions 1 and 2."""
        raw = function.raw
        base = self.address + field_at if self.case.pcrel else self.address
        start = raw.get("start_field", function.start - base)
        if "start_field" not in raw:
            start = (start + 2**63) % 2**64 - 2**63
            if self.case.version < 3 and not fits(start, 4):
                raise ValueError(
                    "%s: a start that is too far away for the version" % self.case.name
                )
        out = self.number("q" if self.case.version == 3 else "i", start)
        out += self.number("I", raw.get("size_field", function.size)) + self.number(
            "I", raw.get("fre_off", fre_off)
        )
        if self.case.version < 3:
            own = (
                self.section.functions[function.shares] if function.shares is not None else function
            )
            out += self.number("I", raw.get("num_fres", len(own.rows))) + self.number(
                "B", raw.get("info", self.info(own))
            )
            if self.case.version == 2:
                out += self.number("B", function.rep_size) + self.number("H", raw.get("padding", 0))
        return out

    def info(self, function):
        """The info byte of a function (2.3.3)."""
        return (
            {1: 0, 2: 1, 4: 2}[self.offset_size(function)]
            | function.is_mask << 4
            | function.key_b << 5
            | function.is_signal << 7
        )

    @staticmethod
    def offset_size(function):
        return function.offset_size or (
            1 if function.size < 1 << 8 else 2 if function.size < 1 << 16 else 4
        )

    def rows(self, function):
        """A function's rows (2.4), in version 3 with its attributes (2.3.2) before them."""
        out = []
        raw = function.raw
        if self.case.version == 3:
            out.append(
                self.number("H", raw.get("num_fres", len(function.rows)))
                + self.number("B", raw.get("info", self.info(function)))
                + self.number("B", raw.get("info2", function.is_flex))
                + self.number("B", function.rep_size)
            )
        elif function.is_flex or function.is_signal:
            raise ValueError(
                "%s: flexible functions and signal frames came with version 3" % self.case.name
            )
        offset_format = {1: "B", 2: "H", 4: "I"}[self.offset_size(function)]
        known = {}  # long lists have few different rows
        for row in function.rows:
            offset = self.number(offset_format, row.offset)
            if row.raw:
                out += [offset, self.after_offset(function, row)]
                continue
            key = row.answer, row.width
            if key not in known:
                known[key] = self.after_offset(function, row)
            out += [offset, known[key]]
        return b"".join(out)

    def after_offset(self, function, row):
        """The info byte of a row (2.4.1) and its data words."""
        words = row.raw.get("words")
        if words is None:
            words = self.words(function, row.answer)
        pairs = [
            word if isinstance(word, tuple) else (word, False) for word in words
        ]  # (number, whether it is a control word)
        width = row.width or next(
            w
            for w in (1, 2, 4)
            if w == 4
            or all(
                0 <= value < 1 << 8 * w if control else fits(value, w) for value, control in pairs
            )
        )
        info = (
            bool(row.answer.signed) << 7
            | {1: 0, 2: 1, 4: 2}[width] << 5
            | len(words) << 1
            | (row.answer.cfa.base == self.case.abi.sp)
        )
        return self.number("B", row.raw.get("info", info)) + b"".join(
            self.number({1: "B", 2: "H", 4: "I"}[width], value) for value, _ in pairs
        )

    def words(self, function, answer: Answer):
        """The data words of a row: numbers, control words as (number, True)."""
        if answer.is_outermost:
            return []
        return self.flexible_words(answer) if function.is_flex else self.default_words(answer)

    def cfa_word(self, offset):
        abi = self.case.abi
        word, rest = divmod(offset - abi.cfa_bias, abi.cfa_scale)
        if rest:
            raise ValueError("%s: the CFA's offset cannot be scaled" % self.case.name)
        return word

    def default_words(self, answer):
        """Section 3.1."""
        case, words = self.case, [self.cfa_word(answer.cfa.offset)]

        def slot(rule):
            if (
                rule.kind == "value"
                and rule.offset == 0
                and case.abi.name == "s390x"
                and case.version == 2
            ):
                return rule.base << 1 | 1  # a register: SFRAME_V2_S390X_OFFSET_ENCODE_REGNUM
            if rule.kind != "stored" or rule.base != CFA:
                raise ValueError("%s: a rule that needs a flexible function" % case.name)
            return rule.offset

        has_fp = answer.fp not in (SAME, FIXED)
        if case.abi.tracks_ra and (answer.ra != SAME or has_fp):
            words.append(
                0 if answer.ra == SAME else slot(answer.ra)
            )  # SFRAME_FRE_RA_OFFSET_INVALID
        return words + ([slot(answer.fp)] if has_fp else [])

    def flexible_words(self, answer):
        """Section 3.2: pairs of control word and offset; one word of 0 for an RA without a rule
        before an FP with one."""

        def pair(rule, offset):
            in_register = rule.base != CFA
            return [
                (
                    (rule.base if in_register else 0) << 3
                    | (rule.kind == "stored") << 1
                    | in_register,
                    True,
                ),
                offset,
            ]

        words = pair(answer.cfa, self.cfa_word(answer.cfa.offset))
        has_fp = answer.fp not in (SAME, FIXED)
        if answer.ra not in (SAME, FIXED):
            words += pair(answer.ra, answer.ra.offset)
        elif has_fp:
            words.append((0, True))
        return words + (pair(answer.fp, answer.fp.offset) if has_fp else [])
