# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for compilers: random programs (programs.py), compiled with options that change frames,
whose call frame information must agree with their code. sframe-verify looks at each twice:
--compiler-bugs finds rows that the machine code contradicts, where it proves another one right, and
--check=run executes the program and compares each step. What both find is a confirmed bug; it is
reduced to the smallest program that shows it, and reported once for each compiler; without the
options, if it is there without them. What only the first finds is not reported: most of it the
program does not execute.

Unless options are chosen, it first tries sources that showed a bug of some compiler,
conformance/compilers/*.c*, which begin with

    // about    No row for the pop of %rbp where the stack is realigned.
    // machine  x86_64
    // key      missing-cfa-register-pop-sp-up-fp
    // options  -mstackrealign
    // seen     clang 23.1"""
import dataclasses
import fnmatch
import glob
import json
import os
import platform
import re
import shlex
import tempfile
from typing import List

from . import elf, harness, programs
from .options import MACHINES, OPTIONS, RUST
from .results import FAILED, LEFT_OUT, PASSED, UNSUPPORTED, Detail, Result

GO, OCAML = "go", "ocaml"  # sources only, no random programs
EXTENSIONS = {programs.C: ".c", programs.CXX: ".cc", programs.RUST: ".rs", GO: ".go", OCAML: ".ml"}
MADE = r"(__regcall3__)?f\d+(\.\w+)*|%s" % "|".join(
    programs.HELPER_NAMES
)  # the functions of programs.py, and what compilers make of them
NOT_PERMITTED = ("C111",)  # malformed CFI
NOT_COMPARED = "R406"  # executed, without a row
SMALLEST_TIME = 60  # seconds; for the checks
MOST_STEPS = 400000  # of a program; most take some thousand, panics of Rust a hundred times as many


def _found_from_anywhere(command):
    """The command, whose program is named from the working directory here, for another one."""
    program, *arguments = shlex.split(command) or [""]
    return shlex.join([os.path.abspath(program) if "/" in program else program, *arguments])


class Compiler:
    """A command like gcc's, for one machine."""

    languages = (programs.C, programs.CXX)
    asks_for_machine = "-dumpmachine"
    start = "main"  # the function from which on a program is followed

    def __init__(self, command, seconds, folder):
        program, *arguments = command.split() or [""]
        self.name = " ".join([os.path.basename(program), *arguments])
        self.command, self.seconds, self.folder = _found_from_anywhere(command), seconds, folder
        code, text = self._run("%s %s" % (self.command, self.asks_for_machine))
        self.machine = self._machine_of(text).split("-")[0]
        if code or self.machine not in MACHINES:
            raise harness.Unusable(
                "%s: %s" % (command, text.strip() or "no answer to " + self.asks_for_machine)
            )
        self.is_native = self.machine == platform.machine()

    def _machine_of(self, text):
        return text.strip()

    def options(self):
        """All that are tried."""
        return [*OPTIONS[None], *OPTIONS[self.machine]]

    def _run(self, command):
        return harness.run_with_output(command, [], self.seconds, self.folder)

    def knows(self, options, language):
        """Whether it can make a program with the options."""
        if language not in self.languages:
            return False
        source = self._write("int main(void) { return 0; }\n", language)
        return self._compile(source, "knows", options, language, "-Werror")

    def compiles(self, program, options):
        return self._compile(
            self._write(program.text(), program.language),
            "program",
            options,
            program.language,
            "-w",
            "-fsyntax-only",
        )

    def program(self, program, options):
        """Two paths: a program without its libraries' code, to be looked at, and one with the same
        functions, to be executed; None if there is none. For another machine the second one is
        static: the emulator executes fewer steps before main().
        """
        source = self._write(program.text(), program.language)
        checked, executed = "program", "program" if self.is_native else "program.static"
        if not self._compile(
            source, "program.o", options, program.language, "-w", "-c"
        ) or not self._link(checked, options, program.language):
            return None
        if not self.is_native and not self._link(executed, options, program.language, "-static"):
            return None
        return os.path.join(self.folder, checked), os.path.join(self.folder, executed)

    def _link(self, output, options, language, *more):
        return self._compile("program.o", output, options, language, "-w", *more)

    def _write(self, text, language):
        path = os.path.join(self.folder, "program" + EXTENSIONS[language])
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _compile(self, source, output, options, language, *more):
        return (
            self._run(self.line(options, language, os.path.basename(source), output, *more))[0] == 0
        )

    def line(self, options, language, source, output, *more):
        """The command that compiles a source. Unwind tables are at every instruction, as
        distributions ask for."""
        given = [options] if options else []
        libraries = (
            ["-lstdc++"]
            if language == programs.CXX and not {"-fsyntax-only", "-c"} & set(more)
            else []
        )
        return " ".join(
            [
                self.command,
                "-O2",
                "-fasynchronous-unwind-tables",
                *given,
                *more,
                source,
                *libraries,
                "-o",
                output,
            ]
        )


class OtherCompiler(Compiler):
    """A command that is not like gcc's, for its own machine: it makes a program at once."""

    asks_for_machine, pattern = "", r"(\w+)"
    empty = ""
    machines = {"amd64": "x86_64", "arm64": "aarch64"}

    def _machine_of(self, text):
        found = re.search(self.pattern, text, re.M)
        return self.machines.get(found[1], found[1]) if found else ""

    def options(self):
        return [""]

    def knows(self, options, language):
        return language in self.languages and self._compile(
            self._write(self.empty, language), "knows", options, language
        )

    def compiles(self, program, options):
        return self._compile(
            self._write(program.text(), program.language), "program", options, program.language
        )

    def program(self, program, options):
        return (
            (os.path.join(self.folder, "program"),) * 2 if self.compiles(program, options) else None
        )


class Rustc(OtherCompiler):
    """The standard library is not part of what it links, so that only the program is looked at."""

    languages, empty = (programs.RUST,), "fn main() {}\n"
    asks_for_machine, pattern = "-vV", r"^host: (\w+)"

    def options(self):
        return RUST

    def line(self, options, language, source, output, *more):
        fixed = "-C opt-level=2 -C overflow-checks=off -C force-unwind-tables=yes -C prefer-dynamic=yes -C rpath=yes"
        return " ".join([self.command, fixed, options, source, "-o", output])


class Go(OtherCompiler):
    languages, empty, start = (GO,), "package main\nfunc main() {}\n", "main.main"
    asks_for_machine, pattern = "env GOARCH", r"^(\w+)$"

    def line(self, options, language, source, output, *more):
        return " ".join(
            [
                "GOCACHE=%s" % shlex.quote(os.path.join(self.folder, "cache")),
                self.command,
                "build",
                options,
                "-o",
                output,
                source,
            ]
        )


class Ocamlopt(OtherCompiler):
    languages = (OCAML,)
    asks_for_machine, pattern = "-config", r"^architecture: (\w+)"

    def line(self, options, language, source, output, *more):
        return " ".join([self.command, options, source, "-o", output])


OTHERS = {"rustc": Rustc, "go": Go, "ocamlopt": Ocamlopt}


def compiler(command, seconds, folder):
    """The one for a command, by the name of its program."""
    program = os.path.basename((shlex.split(command) or [""])[0])
    return OTHERS.get(re.split(r"[-.\d]", program)[0], Compiler)(command, seconds, folder)


@dataclasses.dataclass
class Bug:
    """A place with wrong rows, as sframe-verify describes it."""

    title: str
    key: str  # what it has in common with others: the pattern and the instruction
    function: str
    place: range  # offsets in the function with wrong rows
    lines: List[dict]  # address, instruction, cfi, code
    is_confirmed: bool = False

    def details(self):
        return [
            Detail(
                "%s %s" % (line["address"], line["instruction"]),
                line["code"] or "",
                line["cfi"],
                line["code"] is not None,
            )
            for line in self.lines
        ]


class KnownSource:
    """A source that showed a bug; as a program it is like those of programs.py."""

    def __init__(self, path):
        self.name, extension = os.path.splitext(os.path.basename(path))
        self.language = next(
            language for language, known in EXTENSIONS.items() if known == extension
        )
        with open(path, encoding="utf-8") as file:
            self._text = file.read()
        said = dict(
            re.findall(r"^// (about|machine|key|options|functions) +(.*)$", self._text, re.M)
        )
        self.about, self.machine, self.key, self.options = (
            said.get(word, "") for word in ("about", "machine", "key", "options")
        )
        self.functions = said.get("functions", MADE)
        if self.machine not in MACHINES or not self.key:
            raise ValueError("%s: no machine or no key" % path)

    def text(self):
        return self._text


class Checker:
    """The programs that look at what is compiled."""

    def __init__(self, verify, gen, seconds, folder, executes_all):
        self.verify, self.gen = map(_found_from_anywhere, (verify, gen))
        self.folder, self.executes_all = folder, executes_all
        self.seconds = max(seconds, SMALLEST_TIME)
        self.failure = ""  # why the last program could not be checked to its end: what else it has is not known

    def _run(self, command, *arguments):
        code, output, errors = harness.run_with_outputs(
            command, arguments, self.seconds, self.folder
        )
        if code is None:
            self.failure = "no end in %g s" % self.seconds
        elif code in harness.NOT_STARTED:
            raise harness.Unusable(_last_line(errors) or "%s: exit code %d" % (command, code))
        elif code not in (0, 1):
            self.failure = _last_line(errors) or harness.crash_of(code) or "exit code %d" % code
        else:
            return output
        return None

    def bugs(self, built, one, functions=MADE, with_like=False):
        """What contradicts the code in the functions of such names, of what Compiler.program()
        returns; the confirmed ones are marked. What only the execution contradicts is confirmed,
        too; for other machines that is looked for only if it is asked for: an emulator takes
        seconds. A group of --compiler-bugs has one place of each kind: what is only seen, at an
        instruction like one of those, is left out, unless `with_like`."""
        program, executed = built
        output = self._run(self.verify, "--compiler-bugs", "--format=json", program)
        groups = (
            [group for compiler in json.loads(output)["compilers"] for group in compiler["groups"]]
            if output
            else []
        )
        found = [
            self._bug(group)
            for group in groups
            if re.fullmatch(functions, _symbol(group["example"]["function"]))
        ]
        return (
            self._confirmed(executed, one, found, functions, with_like)
            if found or one.is_native or self.executes_all or with_like
            else found
        )

    def malformed(self, built, _one, functions, _with_like):
        """CFI that DWARF does not permit: the rule itself is the proof."""
        converted = built[0] + ".converted"
        if self._run(self.gen, built[0], "-o", converted, "--report=none") is None:
            return []
        output = self._run(self.verify, "--check=cfi", "--format=json", converted)
        found = []
        for finding in (
            [finding for file in json.loads(output)["files"] for finding in file["findings"]]
            if output
            else []
        ):
            name = _symbol(finding["function"] or "")
            if finding["id"] in NOT_PERMITTED and re.fullmatch(functions, name):
                line = {
                    "address": finding["pc"],
                    "instruction": "to " + finding["end"],
                    "cfi": finding["message"],
                    "code": "not permitted (DWARF 5, 6.4.2)",
                }
                found.append(
                    Bug(
                        finding["message"],
                        "cfi-" + finding["id"].lower(),
                        name,
                        range(0),
                        [line],
                        True,
                    )
                )
        return found

    @staticmethod
    def _bug(group):
        example = group["example"]
        start = int(example["function"].partition("+")[2] or "0", 16)
        size = int(example["end"], 16) - int(example["pc"], 16)
        key = "%s-%s-%s" % (
            group["shape"],
            group["fault"],
            _word(group["instruction"] or "nowhere"),
        )
        return Bug(
            group["title"],
            key,
            _symbol(example["function"]),
            range(start, start + size),
            example["lines"],
        )

    def _confirmed(self, program, one, found, functions, with_like):
        converted = program + ".converted"
        if self._run(self.gen, program, "-o", converted, "--report=none") is None:
            return found
        try:
            symbols = elf.Elf(converted)
        except (OSError, elf.Bad) as error:
            self.failure = str(error)
            return found
        start = ["--run-from", one.start] if one.is_native else []
        output = self._run(
            self.verify,
            "--check=run",
            *start,
            "--run-steps",
            str(MOST_STEPS),
            "--format=json",
            "--max-findings=100000",
            "--",
            converted
        )
        findings = (
            [finding for file in json.loads(output)["files"] for finding in file["findings"]]
            if output
            else []
        )
        for finding in findings:
            if not finding["id"].startswith("R4") or finding["id"] == NOT_COMPARED:
                continue
            step = range(int(finding["pc"], 16), int(finding["end"], 16))
            is_found = False
            for bug in found:
                at = symbols.address_of(bug.function) or 0
                if max(at + bug.place.start, step.start) < min(at + bug.place.stop, step.stop):
                    bug.is_confirmed = is_found = True
            name = _symbol(finding["function"] or "")
            is_like = is_found or _mnemonic(finding) in {
                _mnemonic(line) for bug in found for line in bug.lines if line["code"]
            }
            if (with_like or not is_like) and re.fullmatch(functions, name):
                found.append(
                    self._seen(finding, name, step, symbols.address_of(name) or step.start)
                )
        return found

    @staticmethod
    def _seen(finding, name, step, at):
        """What only the execution contradicts: its first instruction."""
        title, instruction = finding["message"].split(" (")[0], finding["instruction"] or ""
        rules = finding["cfi"] or finding["sframe"] or ""
        line = {
            "address": finding["pc"],
            "instruction": instruction,
            "cfi": "%s: %s" % (rules, title),
            "code": _right(title),
        }
        key = "run-%s-%s" % (finding["id"].lower(), _mnemonic(finding) or "nowhere")
        return Bug(title, key, name, range(step.start - at, step.stop - at), [line], True)


def _last_line(text):
    return text.strip().splitlines()[-1] if text.strip() else ""


def _symbol(place):
    return place.split("+")[0].split("(")[0]


def _right(title):
    """The CFA that was right, of a message such as "the CFA rule sp+16 yields CFA-8": here sp+24.
    Empty if it is not known."""
    found = re.fullmatch(r"the CFA rule (\w+)([+-]\d+) yields CFA([+-]\d+)", title)
    return "cfa=%s%+d" % (found[1], int(found[2]) - int(found[3])) if found else ""


def _mnemonic(line):
    return (line["instruction"] or "").partition(" ")[0]


def _word(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _of(checker, one, program, options, key):
    """The confirmed bug of a kind in a program; None if there is none."""
    built = one.program(program, options)
    return (
        next((bug for bug in checker.bugs(built, one) if bug.is_confirmed and bug.key == key), None)
        if built
        else None
    )


def _known_parts(compiler, program, options):
    """Without the functions that the compiler refuses."""
    if compiler.compiles(program, options):
        return program
    for function in program.functions:
        if not compiler.compiles(
            dataclasses.replace(program, functions=(dataclasses.replace(function, callee=-1),)),
            options,
        ):
            program = program.without(function.number)
    return program


@dataclasses.dataclass
class Report:
    """A confirmed bug with its smallest program."""

    name: str
    machine: str
    options: str
    command: str
    text: str
    extension: str
    bug: Bug

    def save(self, folder):
        """The source, which begins with the report."""
        path = os.path.join(folder, re.sub(r"[^\w.+=-]+", "_", self.name) + self.extension)
        rows = [
            "//   %-10s %-34s %s%s"
            % (
                line["address"],
                line["instruction"],
                line["cfi"],
                "; right: " + line["code"] if line["code"] else "",
            )
            for line in self.bug.lines
        ]
        known = [
            "// about    " + self.bug.title,
            "// machine  " + self.machine,
            "// key      " + self.bug.key,
        ] + (["// options  " + self.options] if self.options else [])
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                "\n".join(
                    [*known, "// " + self.command, "// " + self.bug.function + ":", *rows, ""]
                )
                + "\n"
                + self.text
            )


class Run:
    """All programs with one compiler."""

    def __init__(self, compiler, checker, save, progress):
        self.compiler, self.checker, self.save, self.progress = compiler, checker, save, progress
        self.reported = {}  # key: Report

    def known(self, source):
        """The result for a source that showed a bug; None if it is for another machine."""
        if (
            source.machine != self.compiler.machine
            or source.language not in self.compiler.languages
        ):
            return None
        result = Result(
            "/".join([self.compiler.machine, self.compiler.name, "known", source.name]),
            source.about,
            "",
        )
        self.progress(result.name)
        built = (
            self.compiler.program(source, source.options)
            if self.compiler.knows(source.options, source.language)
            else None
        )
        if not built:
            result.verdict = UNSUPPORTED
            return result
        self.checker.failure = ""
        look = self.checker.malformed if source.key.startswith("cfi-") else self.checker.bugs
        for bug in look(built, self.compiler, source.functions, source.key.startswith("run-")):
            if bug.is_confirmed and bug.key == source.key:
                result.verdict = FAILED
                result.details += bug.details()
        if self.checker.failure and result.verdict != FAILED:
            result.verdict = LEFT_OUT
            result.details.append(Detail("", "", "not checked: " + self.checker.failure, False))
        return result

    def with_options(self, options, language, seeds):
        """The result for one combination; None if the compiler does not know the options."""
        if not self.compiler.knows(options, language):
            return None
        name = "/".join([self.compiler.machine, self.compiler.name, language, options or "-O2"])
        result = Result(
            name, "%d programs agree with their call frame information." % len(seeds), "", LEFT_OUT
        )
        for seed in seeds:
            self.progress("%s, program %d" % (name, seed))
            self._try(programs.make(seed, language, self.compiler.machine), options, result, seed)
        return result

    def _try(self, program, options, result, seed):
        program = _known_parts(self.compiler, program, options)
        built = self.compiler.program(program, options) if program.functions else None
        if not built:
            return
        self.checker.failure = ""
        bugs = self.checker.bugs(built, self.compiler)
        if self.checker.failure:
            result.details.append(
                Detail("program %d" % seed, "", "not checked: " + self.checker.failure, False)
            )
        elif result.verdict == LEFT_OUT:
            result.verdict = PASSED
        for bug in bugs:
            if not bug.is_confirmed:
                continue
            result.verdict = FAILED
            report = self.reported.get(bug.key) or self._report(program, options, bug)
            if not any(detail.place == report.name for detail in result.details):
                result.details.append(Detail(report.name, "", bug.title, True))

    def _report(self, program, options, bug):
        def found(smaller, chosen):
            return _of(self.checker, self.compiler, smaller, chosen, bug.key)

        smallest = programs.reduced(program, lambda smaller: found(smaller, options) is not None)
        needed, reduced = "", found(smallest, "")
        if options and not reduced:
            needed, reduced = options, found(smallest, options)
        bug = reduced or bug
        name = "/".join(
            [self.compiler.machine, self.compiler.name, bug.key] + ([needed] if needed else [])
        )
        extension = EXTENSIONS[smallest.language]
        report = Report(
            name,
            self.compiler.machine,
            needed,
            self.compiler.line(needed, smallest.language, "FILE" + extension, "FILE"),
            smallest.text(),
            extension,
            bug,
        )
        self.reported[bug.key] = report
        if self.save:
            report.save(self.save)
        return report


def run(
    folder,
    only,
    commands,
    options,
    languages,
    seeds,
    verify,
    gen,
    save,
    seconds,
    executes_all,
    progress,
):
    """A result for each source of `folder`, one for each combination of compiler, options and
    language, then one for each bug. Reduced sources go to the directory `save`, if there is one."""
    known = [
        KnownSource(path)
        for extension in EXTENSIONS.values()
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*" + extension)))
    ]
    known = [
        source
        for source in known
        if any(fnmatch.fnmatchcase(source.name, pattern) for pattern in only)
    ]
    combinations, bugs = [], []
    if save:
        os.makedirs(save, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sframe-conformance-") as scratch:
        checker = Checker(verify, gen, seconds, scratch, executes_all)
        for command in commands:
            one = compiler(command, seconds, scratch)
            of_compiler = Run(one, checker, save, progress)
            if not options:
                combinations += [result for result in map(of_compiler.known, known) if result]
            for language in (
                [language for language in languages if language in one.languages] if seeds else []
            ):
                for chosen in options or one.options():
                    result = of_compiler.with_options(chosen, language, seeds)
                    if result:
                        combinations.append(result)
            for report in of_compiler.reported.values():
                bugs.append(
                    Result(report.name, report.bug.title, "", FAILED, "", report.bug.details())
                )
    return combinations + bugs
