"""Finds the commands in the pages and in the EXAMPLES of each --help, and makes a lit test of each.

A command is
- in an indented block, or one fenced as sh or console, of README.md, CONTRIBUTING.md and docs/**/*.md: a line
  that begins with "$ ", or, in a block without such lines, with the name of a program of ours or of a usual
  tool. A comment follows after two spaces or more. What follows "$ " lines is their output;
- a "- run:" line of a fenced yaml block; the whole of a fenced cmake, make or meson block;
- a command of the EXAMPLES of --help.

table.py describes how each is tried. A command that it does not have fails: add it there. One that
several pages have is tried once for each output that they show. A command runs in a folder of its
own, which has its home folder, for root with all else read-only (sandbox); that devices and the
files that it names are as before is checked in any case.
"""
import dataclasses
import difflib
import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess

import lit.formats
import lit.Test
import table

TOOLS = (
    "sframe-dump",
    "sframe-gen",
    "sframe-verify",
    "sframe-unwind",
    "sframe-profile",
    "sframe-sweep",
    "sframe-conformance",
)
STARTS = re.compile(
    r"(sframe-\w+|(?:scripts|bench|build|examples|\.)/\S+|cmake|ninja|make|cc|gcc|g\+\+|rustc|ld|objcopy|strip|gdb|git|python3|sudo|apt-get|cp|mv|find) "
)


@dataclasses.dataclass
class Command:
    line: int
    text: str
    output: list = dataclasses.field(default_factory=list)
    block: str = ""  # of a fenced block that is a whole file


def without_comment(line):
    """What stands before two spaces, but for spaces in quotes."""
    return re.match(r"(?:'[^']*'|\"[^\"]*\"|[^'\" ]| (?! ))*", line.rstrip()).group().rstrip()


def in_block(language, first, lines):
    """The commands of one block; `first` is the number of its first line."""
    if language in ("cmake", "make", "meson"):
        yield Command(first, language + ": " + lines[0], block="\n".join(lines) + "\n")
    elif language == "yaml":
        for number, line in enumerate(lines, first):
            if found := re.match(r"\s*- run: (.*)", line):
                yield Command(number, found[1])
    elif language in ("", "sh", "console"):
        prompt = "$ " if any(line.startswith("$ ") for line in lines) else ""
        command, goes_on = None, False
        for number, line in enumerate(lines, first):
            if goes_on:
                command.text += " " + line.strip().removesuffix("\\").rstrip()
            elif line.startswith(prompt) and (prompt or STARTS.match(line + " ")):
                if command:
                    yield command
                command = Command(
                    number, without_comment(line.removeprefix(prompt)).removesuffix("\\").rstrip()
                )
            elif command and prompt:
                command.output.append(line)
            goes_on = bool(command) and (goes_on or line.startswith(prompt)) and line.endswith("\\")
        if command:
            yield command


def in_page(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    number = 0
    while number < len(lines):
        if fence := re.match(r"```(\w*)", lines[number]):
            end = lines.index("```", number + 1)
            yield from in_block(fence[1] or "text", number + 2, lines[number + 1 : end])
            number = end + 1
        elif lines[number].startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield from in_block("", number + 1, [line[4:] for line in lines[number:end]])
            number = end
        else:
            number += 1


def in_help(program):
    page = json.loads(
        subprocess.run([program, "--help-json"], capture_output=True, text=True).stdout
    )
    for number, example in enumerate(page["examples"], 1):
        if STARTS.match(example["command"] + " "):
            yield Command(number, example["command"])


def snapshot(paths):
    """What the devices and these files are."""
    state = {}
    for path in sorted(glob.glob("/dev/*")):
        entry = os.lstat(path)
        state[path] = (
            entry.st_mode,
            entry.st_rdev,
            os.readlink(path) if stat.S_ISLNK(entry.st_mode) else "",
        )
    for path in paths:
        entry = os.lstat(path) if os.path.lexists(path) else None
        state[path] = entry and (entry.st_mode, entry.st_ino, entry.st_size, entry.st_mtime_ns)
    return state


def numberless(line):
    line = re.sub(r"\b0x[0-9a-f]+\b", "0xN", line.rstrip())
    return re.sub(r" +", " ", re.sub(r"\d[\d,]*(\.\d+)?", "N", line))


def difference(shown, printed, how):
    """Empty where what a page shows agrees with what was printed. `how`: "same"; "numbers", which
    may differ; or a list of patterns, each of which both must have a line for. In the first two, a
    line "..." stands for any lines."""
    printed = printed.rstrip("\n").split("\n")
    while shown and not shown[-1].strip():
        shown = shown[:-1]
    if isinstance(how, list):
        for pattern in how:
            for name, lines in (("the page", shown), ("the output", printed)):
                if lines and not any(re.search(pattern, line) for line in lines):
                    return "%s has no line like: %s\n" % (name, pattern) + "\n".join(lines) + "\n"
        return ""
    if not shown:
        return ""
    form = numberless if how == "numbers" else str.rstrip
    wanted, found = [form(line) for line in shown], [form(line) for line in printed]
    expression = "".join(
        r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + r"\n" for line in wanted
    )
    if re.fullmatch(expression, "\n".join(found) + "\n"):
        return ""
    return (
        "\n".join(difflib.unified_diff(wanted, found, "the page", "the output", lineterm="")) + "\n"
    )


class Commands(lit.formats.base.TestFormat):
    def getTestsInDirectory(self, suite, path_in_suite, lit_config, config):
        found = []
        for path in ["README.md", "CONTRIBUTING.md"] + sorted(
            glob.glob("docs/**/*.md", root_dir=config.project, recursive=True)
        ):
            found += [
                (os.path.basename(path), command)
                for command in in_page(os.path.join(config.project, path))
            ]
        for tool in TOOLS:
            program = os.path.join(config.programs, tool)
            if os.path.exists(program):
                found += [(tool + "-help", command) for command in in_help(program)]
        tried = {}
        for page, command in found:
            outputs = tried.setdefault((command.text, command.block), [])
            if outputs and (not command.output or command.output in outputs):
                continue
            outputs.append(command.output)
            name = "%03d-%s" % (command.line, re.sub(r"\W+", "-", command.text).strip("-")[:60])
            test = lit.Test.Test(suite, path_in_suite + (page, name), config)
            test.command = command
            yield test
        known = {command.text for _, command in found}
        if all(os.path.exists(os.path.join(config.programs, tool)) for tool in TOOLS):
            test = lit.Test.Test(suite, path_in_suite + ("table-has-nothing-else",), config)
            test.superfluous = sorted(set(table.CASES) - known)
            yield test

    def execute(self, test, lit_config):
        if hasattr(test, "superfluous"):
            left = test.superfluous
            return (
                (lit.Test.FAIL, "no page has these commands of table.py:\n" + "\n".join(left))
                if left
                else (lit.Test.PASS, "")
            )
        command, config = test.command, test.config
        case = table.CASES.get(command.text)
        if case is None:
            return (
                lit.Test.FAIL,
                "test/lit/pages/Inputs/table.py has no entry for this command:\n  %s\n"
                % command.text,
            )
        if case.not_here:
            return lit.Test.UNSUPPORTED, "not run here: " + case.not_here
        for need in case.needs:
            here = (
                os.path.exists(need)
                if "/" in need
                else need in config.available_features
                or shutil.which(need, path=config.environment["PATH"])
            )
            if need == "!asan" and "asan" in config.available_features:
                return lit.Test.UNSUPPORTED, "not with AddressSanitizer"
            if not here and need != "!asan":
                return lit.Test.UNSUPPORTED, "needs %s, which is not here" % need
        folder = test.getExecPath()
        shutil.rmtree(folder, ignore_errors=True)
        here, home, temporary = (os.path.join(folder, name) for name in ("here", "home", "tmp"))
        for path in (here, home, temporary):
            os.makedirs(path)
        environment = dict(
            config.environment,
            HOME=home,
            TMPDIR=temporary,
            inputs=config.inputs,
            project=config.project,
            build=config.build,
            pages=os.path.dirname(__file__),
            **config.core_maker,
        )
        if command.block:
            with open(os.path.join(here, "block"), "w", encoding="utf-8") as file:
                file.write(command.block)
        text = command.text
        for written, instead in case.stand_ins.items():
            assert written in text or command.block, (written, text)
            text = text.replace(written, instead)
        text = case.instead or text
        log = os.path.join(folder, "prepare.log")
        with open(log, "w") as file:
            preparation = subprocess.Popen(
                ["bash", "-e", "-o", "pipefail", "-c", case.prepare],
                cwd=here,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            if preparation.wait() != 0:
                with open(log, errors="replace") as file:
                    return lit.Test.FAIL, "the preparation failed:\n%s\n%s" % (
                        case.prepare,
                        file.read(),
                    )
            named = re.findall(r"(?<![\w.])/(?:usr|lib|bin|etc)\S*", text)
            before = snapshot(named)
            done = self.run(text, here, folder, environment)
            again = self.run_with_damaged_files(text, here, folder, environment)
            after = snapshot(named)
        finally:
            try:
                os.killpg(preparation.pid, signal.SIGKILL)  # what it has left running
            except ProcessLookupError:
                pass
        printed = done.stdout.decode(errors="replace")
        log = "%s\n$ %s\n%s[exit code %d]\n" % (case.prepare, text, printed, done.returncode)
        changed = [path for path in before if before[path] != after.get(path)]
        if changed:
            return lit.Test.FAIL, log + "changed: " + ", ".join(
                "%s: %s, then %s" % (p, before.get(p), after.get(p)) for p in changed
            )
        if done.returncode != case.code:
            return lit.Test.FAIL, log + "the exit code should be %d" % case.code
        if again.returncode == 125 or again.returncode > 128:
            return lit.Test.FAIL, log + "with damaged files: %s[exit code %d]" % (
                again.stdout.decode(errors="replace"),
                again.returncode,
            )
        differs = difference(command.output, printed, case.shows)
        if differs:
            return lit.Test.FAIL, log + differs
        return lit.Test.PASS, ""

    def run_with_damaged_files(self, text, here, folder, environment):
        """Whatever the entry has: when a command fails, some programs remove their output, even a
        device."""
        for parent, _, files in os.walk(here):
            for name in files:
                path = os.path.join(parent, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    os.remove(path)
                    with open(path, "w") as file:
                        file.write("damaged\n")
        return self.run(text, here, folder, environment)

    def run(self, text, here, folder, environment):
        start = ["bash", "-o", "pipefail", "-c", text]
        if (
            os.geteuid() == 0
            and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
        ):
            start = [
                "unshare",
                "--mount",
                "--propagation",
                "private",
                os.path.join(os.path.dirname(__file__), "sandbox"),
                folder,
                text,
            ]
        return subprocess.run(
            start,
            cwd=here,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
