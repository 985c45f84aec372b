# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for compilers: random programs (programs.py), compiled with options that change frames, whose call frame information must agree
with their code. sframe-verify looks at each twice: --compiler-bugs finds rows that the machine code contradicts, where it proves another
one right, and --check=run executes the program and compares each step. What both find is a confirmed bug; it is reduced to the smallest
program that shows it, and reported once for each compiler; without the options, if it is there without them. What only the first finds
is not reported: most of it the program does not execute.

Unless options are chosen, it first tries sources that showed a bug of some compiler, conformance/compilers/*.c*, which begin with

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
import subprocess
import tempfile
from typing import List

from . import elf, harness, programs
from .options import MACHINES, OPTIONS
from .results import FAILED, LEFT_OUT, PASSED, UNSUPPORTED, Detail, Result

EXTENSIONS = {programs.C: ".c", programs.CXX: ".cc"}
NOT_COMPARED = "R406"  # executed, without a row
SMALLEST_TIME = 60     # seconds; for the checks


def _found_from_anywhere(command):
    """The command, whose program is named from the working directory here, for another one."""
    program, *arguments = shlex.split(command) or [""]
    return shlex.join([os.path.abspath(program) if "/" in program else program, *arguments])


class Compiler:
    """A command, for one machine."""

    def __init__(self, command, seconds, folder):
        program, *arguments = command.split() or [""]
        self.name = " ".join([os.path.basename(program), *arguments])
        self.command, self.seconds, self.folder = _found_from_anywhere(command), seconds, folder
        code, text = self._run(self.command + " -dumpmachine")
        self.machine = text.strip().split("-")[0]
        if code or self.machine not in MACHINES:
            raise harness.Unusable("%s: %s" % (command, text.strip() or "no answer to -dumpmachine"))
        self.is_native = self.machine == platform.machine()

    def _run(self, command):
        return harness.run_with_output(command, [], self.seconds, self.folder)

    def knows(self, options, language):
        """Whether it can make a program with the options."""
        source = self._write("int main(void) { return 0; }\n", language)
        return self._compile(source, "knows", options, language, "-Werror")

    def compiles(self, program, options):
        return self._compile(self._write(program.text(), program.language), "program", options, program.language, "-w", "-fsyntax-only")

    def program(self, program, options):
        """Two paths: a program without its libraries' code, to be looked at, and one with the same functions, to be executed; None if
        there is none. For another machine the second one is static: the emulator executes fewer steps before main()."""
        source = self._write(program.text(), program.language)
        checked, executed = "program", "program" if self.is_native else "program.static"
        if not self._compile(source, "program.o", options, program.language, "-w", "-c") or not self._link(checked, options, program.language):
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
        return self._run(self.line(options, language, os.path.basename(source), output, *more))[0] == 0

    def line(self, options, language, source, output, *more):
        """The command that compiles a source. Unwind tables are at every instruction, as distributions ask for."""
        given = [options] if options else []
        libraries = ["-lstdc++"] if language == programs.CXX and not {"-fsyntax-only", "-c"} & set(more) else []
        return " ".join([self.command, "-O2", "-fasynchronous-unwind-tables", *given, *more, source, *libraries, "-o", output])


@dataclasses.dataclass
class Bug:
    """A place with wrong rows, as sframe-verify describes it."""
    title: str
    key: str                # what it has in common with others: the pattern and the instruction
    function: str
    place: range            # offsets in the function with wrong rows
    lines: List[dict]       # address, instruction, cfi, code
    is_confirmed: bool = False

    def details(self):
        return [Detail("%s %s" % (line["address"], line["instruction"]), line["code"] or "", line["cfi"], line["code"] is not None) for line in self.lines]


class KnownSource:
    """A source that showed a bug; as a program it is like those of programs.py."""

    def __init__(self, path):
        self.name, extension = os.path.splitext(os.path.basename(path))
        self.language = next(language for language, known in EXTENSIONS.items() if known == extension)
        with open(path, encoding="utf-8") as file:
            self._text = file.read()
        said = dict(re.findall(r"^// (about|machine|key|options) +(.*)$", self._text, re.M))
        self.about, self.machine, self.key, self.options = (said.get(word, "") for word in ("about", "machine", "key", "options"))
        if self.machine not in MACHINES or not self.key:
            raise ValueError("%s: no machine or no key" % path)

    def text(self):
        return self._text


class Checker:
    """The programs that look at what is compiled."""

    def __init__(self, verify, gen, seconds, folder):
        self.verify, self.gen = (shlex.split(_found_from_anywhere(command)) for command in (verify, gen))
        self.folder = folder
        self.seconds = max(seconds, SMALLEST_TIME)
        self.late = 0  # checks that did not end in time: what they would have confirmed is not known

    def _run(self, command):
        try:
            done = subprocess.run(command, capture_output=True, timeout=self.seconds, cwd=self.folder, stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            self.late += 1
            return None
        except OSError as error:
            raise harness.Unusable("%s: %s" % (command[0], error.strerror)) from None
        if done.returncode not in (0, 1):
            message = done.stderr.decode(errors="replace").strip()
            raise harness.Unusable("%s: %s" % (command[0], message.splitlines()[-1] if message else "exit code %d" % done.returncode))
        return done.stdout

    def bugs(self, built, is_native):
        """What contradicts the code in the functions that programs.py made, of what Compiler.program() returns; the confirmed ones are
        marked."""
        program, executed = built
        output = self._run([*self.verify, "--compiler-bugs", "--format=json", program])
        groups = [group for compiler in json.loads(output)["compilers"] for group in compiler["groups"]] if output else []
        found = [self._bug(group) for group in groups if re.fullmatch(r"f\d+", _symbol(group))]
        if found:
            self._confirm(executed, is_native, found)
        return found

    @staticmethod
    def _bug(group):
        example = group["example"]
        instruction = re.sub(r"[^a-z0-9]+", "-", (group["instruction"] or "nowhere").lower()).strip("-")
        start = int(example["function"].partition("+")[2] or "0", 16)
        size = int(example["end"], 16) - int(example["pc"], 16)
        return Bug(group["title"], "%s-%s-%s" % (group["shape"], group["fault"], instruction), _symbol(group), range(start, start + size), example["lines"])

    def _confirm(self, program, is_native, found):
        converted = program + ".converted"
        if self._run([*self.gen, program, "-o", converted, "--report=none"]) is None:
            return
        start = ["--run-from", "main"] if is_native else []
        output = self._run([*self.verify, "--check=run", *start, "--format=json", "--max-findings=100000", "--", converted])
        findings = [finding for file in json.loads(output)["files"] for finding in file["findings"]] if output else []
        steps = [range(int(f["pc"], 16), int(f["end"], 16)) for f in findings if f["id"].startswith("R4") and f["id"] != NOT_COMPARED]
        addresses = elf.Elf(converted)
        for bug in found:
            at = addresses.address_of(bug.function) or 0
            bug.is_confirmed = any(max(at + bug.place.start, step.start) < min(at + bug.place.stop, step.stop) for step in steps)


def _symbol(group):
    return group["example"]["function"].split("+")[0].split("(")[0]


def _of(checker, compiler, program, options, key):
    """The confirmed bug of a kind in a program; None if there is none."""
    built = compiler.program(program, options)
    return next((bug for bug in checker.bugs(built, compiler.is_native) if bug.is_confirmed and bug.key == key), None) if built else None


def _known_parts(compiler, program, options):
    """Without the functions that the compiler refuses."""
    if compiler.compiles(program, options):
        return program
    for function in program.functions:
        if not compiler.compiles(dataclasses.replace(program, functions=(dataclasses.replace(function, callee=-1),)), options):
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
        rows = ["//   %-10s %-34s %s%s" % (line["address"], line["instruction"], line["cfi"], "; right: " + line["code"] if line["code"] else "") for line in self.bug.lines]
        known = ["// about    " + self.bug.title, "// machine  " + self.machine, "// key      " + self.bug.key] + (["// options  " + self.options] if self.options else [])
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*known, "// " + self.command, "// " + self.bug.function + ":", *rows, ""]) + "\n" + self.text)


class Run:
    """All programs with one compiler."""

    def __init__(self, compiler, checker, save, progress):
        self.compiler, self.checker, self.save, self.progress = compiler, checker, save, progress
        self.reported = {}  # key: Report

    def known(self, source):
        """The result for a source that showed a bug; None if it is for another machine."""
        if source.machine != self.compiler.machine:
            return None
        result = Result("/".join([self.compiler.machine, self.compiler.name, "known", source.name]), source.about, "")
        self.progress(result.name)
        built = self.compiler.program(source, source.options) if self.compiler.knows(source.options, source.language) else None
        if not built:
            result.verdict = UNSUPPORTED
            return result
        for bug in self.checker.bugs(built, self.compiler.is_native):
            if bug.is_confirmed and bug.key == source.key:
                result.verdict = FAILED
                result.details += bug.details()
        return result

    def with_options(self, options, language, seeds):
        """The result for one combination; None if the compiler does not know the options."""
        if not self.compiler.knows(options, language):
            return None
        name = "/".join([self.compiler.machine, self.compiler.name, language, options or "-O2"])
        result = Result(name, "%d programs agree with their call frame information." % len(seeds), "", LEFT_OUT)
        for seed in seeds:
            self.progress("%s, program %d" % (name, seed))
            late = self.checker.late
            self._try(programs.make(seed, language, self.compiler.machine), options, result)
            if self.checker.late != late:
                result.details.append(Detail("program %d" % seed, "", "not checked: no end in %g s" % self.checker.seconds, False))
        return result

    def _try(self, program, options, result):
        program = _known_parts(self.compiler, program, options)
        built = self.compiler.program(program, options) if program.functions else None
        if not built:
            return
        if result.verdict == LEFT_OUT:
            result.verdict = PASSED
        for bug in self.checker.bugs(built, self.compiler.is_native):
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
        name = "/".join([self.compiler.machine, self.compiler.name, bug.key] + ([needed] if needed else []))
        extension = EXTENSIONS[smallest.language]
        report = Report(name, self.compiler.machine, needed, self.compiler.line(needed, smallest.language, "FILE" + extension, "FILE"), smallest.text(), extension, bug)
        self.reported[bug.key] = report
        if self.save:
            report.save(self.save)
        return report


def run(folder, only, commands, options, languages, seeds, verify, gen, save, seconds, progress):
    """A result for each source of `folder`, one for each combination of compiler, options and language, then one for each bug. Reduced
    sources go to the directory `save`, if there is one."""
    known = [KnownSource(path) for extension in EXTENSIONS.values() for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*" + extension)))]
    known = [source for source in known if any(fnmatch.fnmatchcase(source.name, pattern) for pattern in only)]
    combinations, bugs = [], []
    if save:
        os.makedirs(save, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sframe-conformance-") as scratch:
        checker = Checker(verify, gen, seconds, scratch)
        for command in commands:
            compiler = Compiler(command, seconds, scratch)
            of_compiler = Run(compiler, checker, save, progress)
            if not options:
                combinations += [result for result in map(of_compiler.known, known) if result]
            for language in languages if seeds else ():
                for chosen in options or [*OPTIONS[None], *OPTIONS[compiler.machine]]:
                    result = of_compiler.with_options(chosen, language, seeds)
                    if result:
                        combinations.append(result)
            for report in of_compiler.reported.values():
                bugs.append(Result(report.name, report.bug.title, "", FAILED, "", report.bug.details()))
    return combinations + bugs
