# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for writers: sources in assembly, each with the rows that are right
(docs/conformance.md). A comment that begins with `#:` is for this program:

    #: about   The frame pointer is pushed.
    #: row     f+0 cfa=sp+8 ra=fixed fp=same
    #: row     f+1 cfa=sp+16 ra=fixed fp=[cfa-16]
    #: cannot  f+4 the CFA is an expression
    #: end     f+5

A row goes on to the next one, or to the end. What SFrame cannot say must have no row. With `#: part
NAME` several sources follow, and `#: link` has the arguments of the linker, once or more; what is
checked is the last output. `#: objects NAME` takes the parts and the places of another source of
the same ABI: one program that is linked in several ways."""
import dataclasses
import fnmatch
import glob
import os
import shlex
import tempfile

from . import elf, harness
from .reader import Malformed, Section
from .results import FAILED, LEFT_OUT, PASSED, UNSUPPORTED, Detail, Result
from .rules import ABIS, OUTERMOST, Answer, differences, number, parse_rule


@dataclasses.dataclass
class Place:
    symbol: str
    offset: int
    answer: object  # Answer; None: no row can be right; "end"; "gone": the symbol must not be in the index
    why: str = ""


class Source:
    def __init__(self, path, name, abi):
        self.name, self.abi = name, ABIS[abi]
        self.about, self.level, self.spec, self.is_optional = "", "full", "", False
        self.parts, self.links, self.places, self.checks = [("input", [])], [], [], []
        self.path = path
        with open(path, encoding="utf-8") as file:
            for i, line in enumerate(file, 1):
                if line.startswith("#:"):
                    try:
                        self._directive(*line[2:].strip().split(None, 1))
                    except (ValueError, TypeError, AttributeError) as error:
                        raise ValueError("%s:%d: %s" % (path, i, error)) from None
                else:
                    self.parts[-1][1].append(line)
        if len(self.parts) > 1:
            self.parts = self.parts[1:]

    def _directive(self, keyword, text=""):
        {
            "about": self._on_about,
            "level": self._on_level,
            "spec": self._on_spec,
            "row": self._on_row,
            "cannot": self._on_cannot,
            "end": self._on_end,
            "gone": self._on_gone,
            "objects": self._on_objects,
            "optional": self._on_optional,
            "part": lambda name: self.parts.append((name, [])),
            "link": lambda text: self.links.append(shlex.split(text)),
            "check": lambda text: self.checks.extend(text.split()),
        }[keyword](text)

    def _on_optional(self, text):
        """A linker that refuses is none that supports it."""
        self.is_optional = True

    def _on_about(self, text):
        self.about = (self.about + " " + text).strip()

    def _on_level(self, text):
        self.level = text

    def _on_spec(self, text):
        self.spec = text

    @staticmethod
    def _split(text):
        place, _, rest = text.partition(" ")
        symbol, _, offset = place.rpartition("+")
        return symbol, number(offset), rest.strip()

    def _on_row(self, text):
        symbol, offset, rest = self._split(text)
        words = rest.split()
        if words == ["outermost"]:
            answer = OUTERMOST
        else:
            given = dict(word.split("=", 1) for word in words if "=" in word)
            answer = Answer(
                "row", *(parse_rule(given[name], self.abi) for name in ("cfa", "ra", "fp"))
            )
        arm = self.abi.name.startswith("aarch64") and answer != OUTERMOST
        self.places.append(
            Place(
                symbol,
                offset,
                dataclasses.replace(
                    answer,
                    signed="signed" in words if arm else None,
                    signal="signal" in words,
                    key="b" if arm and "key=b" in words else None,
                ),
            )
        )

    def _on_cannot(self, text):
        symbol, offset, why = self._split(text)
        self.places.append(Place(symbol, offset, None, why))

    def _on_end(self, text):
        symbol, offset, _ = self._split(text)
        self.places.append(Place(symbol, offset, "end"))

    def _on_gone(self, text):
        self.places.append(Place(text, 0, "gone"))

    def _on_objects(self, name):
        other = Source(os.path.join(os.path.dirname(self.path), name + ".s"), name, self.abi.name)
        self.parts += other.parts
        self.places += other.places

    def ranges(self):
        """(symbol, first offset, last offset, Place)."""
        for place, following in zip(self.places, self.places[1:] + [None]):
            if place.answer == "gone":
                continue
            if place.answer != "end":
                if (
                    following is None
                    or following.symbol != place.symbol
                    or following.offset <= place.offset
                ):
                    raise ValueError(
                        "%s: no end of %s+%d" % (self.name, place.symbol, place.offset)
                    )
                yield place.symbol, place.offset, following.offset - 1, place


def _run(command, arguments, folder, seconds):
    """What went wrong, or an empty text; and what the program printed."""
    code, text = harness.run_with_output(command, arguments, seconds, folder)
    if code is None:
        return "hang: no end in %g s" % seconds, text
    if code in harness.NOT_STARTED:
        raise harness.Unusable("%s: %s" % (command, text.strip() or "exit code %d" % code))
    first = (text.strip().splitlines() or ["exit code %d" % code])[0]
    return harness.crash_of(code) or ("fails: " + first if code else ""), text


def check(source, file, result):
    """Compares the rows of a file with those that are right."""
    sections = []
    for part, data in file.sframe():
        if data:
            try:
                section = Section(data, part.address)
            except Malformed as error:
                result.details.append(Detail(".sframe", "a section", str(error), True))
                return
            if file.type == elf.ET_REL:
                section.flags |= 4  # relocations of versions 1 and 2 are relative to the field; linkers make them relative to the section
            if section.abi != source.abi:
                result.details.append(Detail(".sframe", source.abi.name, section.abi.name, True))
                return
            sections.append((part, data, section))
    for symbol, first, last, place in source.ranges():
        address = file.address_of(symbol)
        if address is None:
            result.details.append(
                Detail(symbol, "", "not there", not symbol.startswith("."))
            )  # a linker need not make such a section
            continue
        for offset in dict.fromkeys((first, last)):
            result.details.append(
                _compare(source, sections, address + offset, "%s+%d" % (symbol, offset), place)
            )
    _check_file(source, file, sections, result)


def _find(sections, pc):
    found = Answer("none")
    for _, _, section in sections:
        try:
            answer = section.find(pc)
        except Malformed as error:
            return str(error)
        if answer.kind != "none":
            found = answer
    return found


def _compare(source, sections, pc, where, place):
    given = _find(sections, pc)
    if isinstance(given, str):
        return Detail(where, "", given, True)
    text = given.text(source.abi)
    if place.answer is None:
        return Detail(where, "none: " + place.why, text, given.kind != "none")
    wanted = place.answer
    if given.kind == "none":
        return Detail(where, wanted.text(source.abi), "left out", False)
    header = sections[0][2]
    plain = [answer.with_fixed(header.fixed_ra, header.fixed_fp) for answer in (wanted, given)]
    plain[0] = dataclasses.replace(plain[0], signal=wanted.signal if header.version == 3 else None)
    return Detail(where, wanted.text(source.abi), text, bool(differences(*plain)))


def _check_file(source, file, sections, result):
    """What is to be checked of a linked file beside its rows."""

    def report(check_, right, given, wrong):
        result.details.append(Detail(check_, right, given, wrong))

    for part, _, _ in sections if file.segments else ():
        inside = any(
            s[0] == elf.PT_LOAD and s[3] <= part.address and part.address + part.size <= s[3] + s[5]
            for s in file.segments
        )
        over = [
            p.name
            for p in file.parts
            if p is not part
            and p.address
            and p.address < part.address + part.size
            and part.address < p.address + p.size
            and p.type != elf.SHT_NOBITS
        ]
        report(
            "loaded",
            "inside one PT_LOAD, over no other section",
            "0x%x, %d bytes%s"
            % (part.address, part.size, "".join(", over " + name for name in over)),
            not inside or bool(over),
        )
    if "one-section" in source.checks:
        for part, data, section in sections:
            report(
                "one-section",
                "one header",
                "%d bytes after it" % (len(data) - section.length),
                any(data[section.length :]),
            )
    if "sorted" in source.checks:
        for part, data, section in sections:
            starts = [section.start(i) for i in range(section.num_functions)]
            report(
                "sorted",
                "SORTED set, functions sorted",
                "flags 0x%x, %s"
                % (section.flags, "sorted" if starts == sorted(starts) else "not sorted"),
                not section.flags & 1 or starts != sorted(starts),
            )
    if "segment" in source.checks and sections:
        part = sections[0][0]
        found = [
            "0x%x, %d bytes" % (s[3], s[5]) for s in file.segments if s[0] == elf.PT_GNU_SFRAME
        ]
        right = "PT_GNU_SFRAME: 0x%x, %d bytes" % (part.address, part.size)
        report(
            "segment",
            right,
            "PT_GNU_SFRAME: " + (found[0] if found else "none"),
            ["PT_GNU_SFRAME: " + text for text in found] != [right],
        )
    for place in source.places:
        if place.answer == "gone":
            address = file.address_of(place.symbol)
            report(place.symbol, "not there", "there", address is not None)
    for part, data, section in sections:
        executable = [
            (p.address, p.address + p.size)
            for p in file.parts
            if p.name.startswith((".text", ".plt", ".init", ".fini"))
        ]
        for i in range(section.num_functions):
            if "no-stray" in source.checks and not any(
                start <= section.start(i) < end for start, end in executable
            ):
                report("function %d" % i, "a start in code", "0x%x" % section.start(i), True)


def _check_source(source, assembler, linker, seconds, folder):
    result = Result(source.name, source.about, source.spec)
    for name, lines in source.parts:
        with open(os.path.join(folder, name + ".s"), "w", encoding="utf-8") as file:
            file.writelines(lines)
        problem, _ = _run(assembler, ["-o", name + ".o", name + ".s"], folder, seconds)
        if problem:
            result.details.append(Detail(name + ".s", "assembled", problem, True))
    output = source.parts[0][0] + ".o"
    for arguments in source.links if not result.details else ():
        problem, _ = _run(linker, arguments, folder, seconds)
        if problem.startswith("fails") and source.is_optional:
            result.details.append(Detail("link " + " ".join(arguments), "", problem, False))
            result.verdict = UNSUPPORTED
            return result
        if problem:
            result.details.append(Detail("link " + " ".join(arguments), "linked", problem, True))
            break
        output = arguments[arguments.index("-o") + 1]
    if not result.details:
        try:
            check(source, elf.Elf(os.path.join(folder, output)), result)
        except (elf.Bad, OSError) as error:
            result.details.append(Detail(output, "", str(error), True))
    left_out = [detail for detail in result.details if detail.given == "left out"]
    result.verdict = FAILED if result.faults else LEFT_OUT if left_out else PASSED
    return result


FUNCTION = ".type f, %function\nf: .cfi_startproc\n .4byte 0\n .cfi_endproc\n .size f, .-f\n"


def abi_of(assembler, seconds):
    """What an assembler assembles for. It must write a section for a function whose CFA does not
    change."""
    with tempfile.TemporaryDirectory(prefix="sframe-conformance-") as folder:
        with open(os.path.join(folder, "empty.s"), "w", encoding="utf-8") as file:
            file.write(FUNCTION)
        problem, text = _run(assembler, ["-o", "empty.o", "empty.s"], folder, seconds)
        if problem:
            raise harness.Unusable("%s: %s: %s" % (assembler, problem, text.strip()))
        try:
            made = elf.Elf(os.path.join(folder, "empty.o"))
        except (elf.Bad, OSError) as error:
            raise harness.Unusable("%s: %s" % (assembler, error)) from None
        if not any(part.name == ".sframe" for part in made.parts):
            raise harness.Unusable(
                "%s: writes no section .sframe; GNU as needs the option --gsframe" % assembler
            )
        return made.abi


def run(folder, assembler, linker, abi, level, only, seconds, progress):
    """Tries all sources for an assembler's ABI; with a linker those for linkers, too."""
    abi = abi or abi_of(assembler, seconds)
    found = []
    for path in sorted(
        glob.glob(os.path.join(glob.escape(folder), glob.escape(abi.removesuffix("_be")), "*.s"))
    ):
        name = "%s/%s" % (os.path.basename(path).removesuffix(".s"), abi)
        source = Source(path, name, abi)
        if (
            (source.links and not linker)
            or (level == "minimal" and source.level != "minimal")
            or not any(
                fnmatch.fnmatchcase(name, p) or fnmatch.fnmatchcase(name.split("/")[0], p)
                for p in only
            )
        ):
            continue
        progress(name)
        with tempfile.TemporaryDirectory(prefix="sframe-conformance-") as scratch:
            found.append(_check_source(source, assembler, linker, seconds, scratch))
    return found
