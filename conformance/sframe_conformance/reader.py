# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A reader as the specification has it: slow, short, and independent of all others. What writers
make is read by it, and it is tested by the readers' kit itself:

    sframe-conformance readers --command 'python3 -m sframe_conformance.reader'
"""
import dataclasses
import sys

from .rules import ABIS, CFA, FIXED, OUTERMOST, SAME, Answer, Rule

MAGIC, SORTED, PCREL = 0xDEE2, 1, 4
HEADER_SIZE = 28


class Malformed(Exception):
    """A rule of the specification is broken at this place."""

    def __init__(self, text, offset):
        super().__init__("%s (offset 0x%x)" % (text, offset))


@dataclasses.dataclass
class Entry:
    start: int
    size: int
    rows_at: int
    count: int
    info: int
    info2: int
    rep_size: int


class Section:
    """The section at the start of `data`. Raises Malformed for a bad header; other faults when they
    are read."""

    def __init__(self, data, address):
        self.data, self.address = data, address
        if len(data) < HEADER_SIZE:
            raise Malformed("no header", len(data))
        self.order = "little" if data[:2] == b"\xe2\xde" else "big"
        if self.number(0, 2) != MAGIC:
            raise Malformed("not the magic number", 0)
        self.version, self.flags = data[2], data[3]
        if self.version not in (1, 2, 3):
            raise Malformed("not a version", 2)
        if self.flags & ~(0x3 if self.version == 1 else 0x7):
            raise Malformed("flags that are not defined", 3)
        abis = [abi for abi in ABIS.values() if abi.number == data[4]]
        if not abis:
            raise Malformed("not an ABI", 4)
        self.abi = abis[0]
        self.fixed_fp, self.fixed_ra = self.signed(5, 1), self.signed(6, 1)
        base = HEADER_SIZE + data[7]
        self.num_functions = self.number(8, 4)
        self.entry_size = {1: 17, 2: 20, 3: 16}[self.version]
        self.index, self.rows = base + self.number(20, 4), base + self.number(24, 4)
        self.rows_end = self.rows + self.number(16, 4)
        index_end = self.index + self.num_functions * self.entry_size
        self.length = max(index_end, self.rows_end)
        if self.length > len(data) or self.rows > len(data):
            raise Malformed("a sub-section that is longer than the section", 16)
        if self.num_functions and self.rows < index_end and self.index < self.rows_end:
            raise Malformed("sub-sections that overlap", 24)

    def number(self, at, size):
        return int.from_bytes(self.data[at : at + size], self.order)

    def signed(self, at, size):
        return int.from_bytes(self.data[at : at + size], self.order, signed=True)

    def start(self, i):
        """The address of a function (2.3.1)."""
        at = self.index + i * self.entry_size
        base = self.address + (at if self.flags & PCREL else 0)
        return (base + self.signed(at, 8 if self.version == 3 else 4)) % 2**64

    def entry(self, i):
        at = self.index + i * self.entry_size
        if self.version < 3:
            rows_at = self.rows + self.number(at + 8, 4)
            rep_size = self.data[at + 17] if self.version == 2 else 0
            return Entry(
                self.start(i),
                self.number(at + 4, 4),
                rows_at,
                self.number(at + 12, 4),
                self.data[at + 16] & 0x3F,
                0,
                rep_size,
            )
        attribute = self.rows + self.number(at + 12, 4)
        if attribute + 5 > self.rows_end:
            raise Malformed("attributes past the rows' end", at + 12)
        return Entry(
            self.start(i),
            self.number(at + 8, 4),
            attribute + 5,
            self.number(attribute, 2),
            *self.data[attribute + 2 : attribute + 5]
        )

    def find(self, pc):
        """The answer for an address. A linear search: whether functions are sorted does not
        matter."""
        size_at = 8 if self.version == 3 else 4
        found = None
        for i in range(self.num_functions):
            distance = (pc - self.start(i)) % 2**64
            if distance < self.number(self.index + i * self.entry_size + size_at, 4):
                if found is not None:
                    raise Malformed(
                        "two functions have the address", self.index + i * self.entry_size
                    )
                found = i
        if found is None:
            return Answer("none")
        entry = self.entry(found)
        offset = (pc - entry.start) % 2**64
        if entry.info & 0x10:
            if not entry.rep_size:
                raise Malformed("blocks without bytes", entry.rows_at - 1)
            offset %= entry.rep_size
        last = None
        for row_offset, at in self.row_places(entry):
            if row_offset > offset:
                break
            last = at
        if last is None:
            return (
                self.marked(entry, OUTERMOST)
                if self.version == 3 and entry.count == 0
                else Answer("none")
            )
        return self.marked(entry, self.answer(entry, last))

    def all_rows(self):
        """(address, size, answer) of all rows of all functions, as a writer made them."""
        for i in range(self.num_functions):
            entry = self.entry(i)
            end = entry.rep_size if entry.info & 0x10 else entry.size
            places = list(self.row_places(entry))
            if not places and self.version == 3:
                yield entry, 0, entry.size, OUTERMOST
            for k, (offset, at) in enumerate(places):
                following = places[k + 1][0] if k + 1 < len(places) else end
                yield entry, offset, following - offset, self.marked(entry, self.answer(entry, at))

    def row_places(self, entry):
        """The offsets of a function's rows, and where their info bytes are."""
        offset_size = {0: 1, 1: 2, 2: 4}.get(entry.info & 15)
        if offset_size is None:
            raise Malformed("a type of rows that does not exist", entry.rows_at)
        at, before = entry.rows_at, -1
        for _ in range(entry.count):
            if at + offset_size + 1 > self.rows_end:
                raise Malformed("a row past the rows' end", at)
            offset = self.number(at, offset_size)
            if offset <= before:
                raise Malformed("rows that do not increase", at)
            before = offset
            at += offset_size
            size = {0: 1, 1: 2, 2: 4}.get(self.data[at] >> 5 & 3)
            if size is None:
                raise Malformed("a size of data words that does not exist", at)
            end = at + 1 + (self.data[at] >> 1 & 15) * size
            if end > self.rows_end:
                raise Malformed("data words past the rows' end", at)
            yield offset, at
            at = end

    def marked(self, entry, answer):
        arm = self.abi.name.startswith("aarch64")
        return dataclasses.replace(
            answer,
            signed=answer.signed if arm else None,
            signal=bool(entry.info & 0x80) if self.version == 3 else None,
            key="ab"[entry.info >> 5 & 1] if arm else None,
        )

    def answer(self, entry, at):
        """The rules of a row (3)."""
        info = self.data[at]
        size, count = 1 << (info >> 5 & 3), info >> 1 & 15
        if count == 0:
            return OUTERMOST
        places = [at + 1 + i * size for i in range(count)]
        cfa, ra, fp = {0: self.default_rules, 1: self.flexible_rules}.get(
            entry.info2 & 0x1F, self.unknown_rules
        )(info, size, places)
        return Answer("row", cfa, ra, fp, signed=bool(info & 0x80))

    def unknown_rules(self, info, size, places):
        raise Malformed("a type of functions that does not exist", places[0])

    def cfa_offset(self, word):
        return word * self.abi.cfa_scale + self.abi.cfa_bias

    def default_rules(self, info, size, places):
        words = [self.signed(place, size) for place in places]
        fixed_fp = FIXED if self.fixed_fp else SAME

        def slot(word):
            if self.abi.name == "s390x" and self.version == 2 and word & 1:
                return Rule("value", word >> 1, 0)
            return Rule("stored", CFA, word)

        cfa = Rule("value", self.abi.sp if info & 1 else self.abi.fp, self.cfa_offset(words[0]))
        if not self.abi.tracks_ra:
            return cfa, FIXED, slot(words[1]) if len(words) > 1 else fixed_fp
        ra = slot(words[1]) if len(words) > 1 and words[1] else SAME  # SFRAME_FRE_RA_OFFSET_INVALID
        return cfa, ra, slot(words[2]) if len(words) > 2 else fixed_fp

    def flexible_rules(self, info, size, places):
        rules, left = [], list(places)
        for name in ("cfa", "ra", "fp"):
            control = self.number(left.pop(0), size) if left else 0
            if control == 0:
                rules.append(
                    {
                        "cfa": None,
                        "ra": FIXED if self.fixed_ra else SAME,
                        "fp": FIXED if self.fixed_fp else SAME,
                    }[name]
                )
                continue
            if not left:
                raise Malformed("a control word without an offset", places[-1])
            offset = self.signed(left.pop(0), size)
            rules.append(
                Rule(
                    "stored" if control & 2 else "value",
                    control >> 3 if control & 1 else CFA,
                    self.cfa_offset(offset) if name == "cfa" else offset,
                )
            )
        if rules[0] is None or rules[0].base == CFA or left:
            raise Malformed("data words that are no rules", places[0])
        return rules


def main():
    section = None
    for line in sys.stdin:
        keyword, *words = line.rstrip("\n").split(" ", 3)
        if keyword == "section":
            with open(words[2], "rb") as file:
                data = file.read()
            try:
                section = Section(data, int(words[0], 16))
            except Malformed:
                section = None
        else:
            try:
                answer = section.find(int(words[0], 16)) if section else Answer("reject")
            except Malformed:
                answer = Answer("reject")
            print(answer.text(section.abi if section else None), flush=True)


if __name__ == "__main__":
    main()
