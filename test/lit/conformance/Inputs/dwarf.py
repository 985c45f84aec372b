"""dwarf.py CONFORMANCE LLVM-MC LLVM-DWARFDUMP: the rows that the kit for writers calls right are
those that LLVM's interpreter of call frame information finds in what LLVM's assembler makes of the
sources. Those with several parts or functions are left to people."""
import glob
import os
import re
import subprocess
import sys
import tempfile

conformance, assembler, dumper = sys.argv[1:]
sys.path.insert(0, conformance)
from sframe_conformance import rules, writers  # noqa: E402

TRIPLES = {"amd64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "s390x": "s390x-linux-gnu"}
AMD64 = dict(
    zip("RAX RDX RCX RBX RSI RDI RBP RSP R8 R9 R10 R11 R12 R13 R14 R15 RIP".split(), range(17))
)


def register(name, abi):
    """Its DWARF number, from LLVM's name."""
    if abi == "amd64":
        return AMD64[name]
    if abi == "aarch64":
        return 31 if name == "WSP" else int(name[1:])
    return 16 if name == "F0D" else int(name[1:-1])  # R15D


def rule(text, abi):
    """A location as dwarfdump prints it as a rule; None if SFrame has no such rule."""
    if text in ("undefined", "same"):
        return rules.Rule(text)
    if match := re.fullmatch(r"(\[?)CFA([+-]\d+)?(\]?)", text):
        return rules.Rule("stored" if match[1] else "value", rules.CFA, int(match[2] or 0))
    if match := re.fullmatch(r"(\[?)DW_OP_breg(\d+) \w+([+-]\d+)(, DW_OP_deref)?(\]?)", text):
        return rules.Rule("stored", int(match[2]), int(match[3])) if match[1] or match[4] else None
    if match := re.fullmatch(r"(\w+?)([+-]\d+)?", text):
        return rules.Rule("value", register(match[1], abi), int(match[2] or 0))
    return None


def rows(text, abi):
    """(address, CFA, rules by register) of the only function."""
    found = []
    for line in text.split("\n"):
        if not (match := re.match(r"  0x([0-9a-f]+): CFA=(.*)", line)):
            continue
        cfa, _, rest = match[2].partition(": ")
        by_register = {}
        for name, where in re.findall(r"(\w+)=(\[[^\]]*\]|[^,]*)(?:, |$)", rest):
            if name.startswith("reg"):
                by_register[name] = where
            elif name != "DW_OP_deref":
                by_register[register(name, abi)] = rule(where, abi)
        found.append((int(match[1], 16), rule(cfa, abi), by_register))
    first = found[0][0]
    return [(address - first, cfa, by_register) for address, cfa, by_register in found]


def compare(source, found):
    """What is right by the kit, and by DWARF: a text of each difference."""
    abi = source.abi
    for symbol, first, last, place in source.ranges():
        for offset in (first, last):
            _, cfa, by_register = [row for row in found if row[0] <= offset][-1]
            ra, fp = by_register.get(abi.ra, rules.SAME), by_register.get(abi.fp, rules.SAME)
            if place.answer is None:
                if (
                    None not in (cfa, ra, fp)
                    and abi.sp not in by_register
                    and (cfa.offset - abi.cfa_bias) % abi.cfa_scale == 0
                ):
                    yield "%s+%d: SFrame can say it" % (symbol, offset)
                continue
            wanted = place.answer.with_fixed(abi.fixed_ra, 0)
            # A lost FP is no rule of SFrame; what `same` claims of it is harmless, since callers do
            # not use it.
            given = rules.Answer(
                "row",
                cfa,
                ra,
                rules.SAME if fp == rules.UNDEFINED else fp,
                bool(int(by_register.get("reg34", "0"))),
            )
            if rules.differences(wanted, given):
                yield "%s+%d: %s by the kit, %s by DWARF" % (
                    symbol,
                    offset,
                    wanted.text(abi),
                    given.text(abi) if None not in (cfa, ra, fp) else "unknown",
                )


def main():
    compared, left, differ = 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.o")
        for abi, triple in TRIPLES.items():
            for path in sorted(
                glob.glob(os.path.join(glob.escape(conformance), "writers", abi, "*.s"))
            ):
                name = "%s/%s" % (abi, os.path.basename(path)[:-2])
                source = writers.Source(path, name, abi)
                if (
                    source.links
                    or {place.symbol for place in source.places} != {"f"}
                    or ".cfi_return_column" in "".join(source.parts[0][1])
                ):
                    left.append(name)
                    continue
                subprocess.run(
                    [assembler, "-filetype=obj", "-triple=" + triple, path, "-o", output],
                    check=True,
                )
                # It complains about relocations of s390x, and exits with 1.
                text = subprocess.run(
                    [dumper, "--eh-frame", output], capture_output=True, text=True
                ).stdout
                if text.count(" FDE ") != 1:
                    left.append(name)
                    continue
                compared += 1
                for difference in compare(source, rows(text, abi)):
                    differ += 1
                    print("%s: %s" % (name, difference))
    print("not compared: " + " ".join(name for name in left if "/link-" not in name))
    print("%d sources compared, %d differences" % (compared, differ))


main()
