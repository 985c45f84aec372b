# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: commands, their options, --help. Exit codes: 0 done, and nothing wrong was found; 1 something is
wrong or was left out; 2 it could not be done."""
import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import sys
import tempfile
import textwrap
import time

from . import engines, inputs, measure, output, programs, report, scratch, store, summary, sweep

SUMMARY = "Convert and verify the ELF files of many packages, and keep the results in a database."
USAGE = "sframe-sweep COMMAND [INPUT...] [OPTIONS]"
EXAMPLES = (
    ("sframe-sweep run packages/ --db sweep.db", "all .deb, .rpm and tar archives of a directory"),
    ("sframe-sweep run --installed --db sweep.db", "all installed packages"),
    ("sframe-sweep run mirror/dists/stable/main/binary-amd64/Packages.xz --db deb.db", "all packages of a local mirror's index"),
    ("sframe-sweep run packages/ --db part3.db --shard 3/100", "a hundredth of them, on this machine"),
    ("sframe-sweep merge part*.db -o sweep.db", "all results in one database"),
    ("sframe-sweep spread packages/ --db sweep.db --shards 100 --sshlogin n1,n2", "the same on two machines, by GNU parallel"),
    ("sframe-sweep spread packages/ --db sweep.db --shards 100 --engine slurm", "the same as a Slurm job array"),
    ("sframe-sweep summary sweep.db", "tables: coverage, sizes, findings, failures"),
    ("sframe-sweep report sweep.db -o report.html --compare old.db", "a page to search and sort, and what changed"),
)
ENVIRONMENT = (("COLUMNS", "Width of help texts (default: that of the terminal, else 80)"),
               ("PATH", "Where the programs are looked up that are not beside sframe-sweep"),
               ("TMPDIR", "Directory for unpacked packages, without --scratch (default: /tmp)"))
EXIT_CODES = (("0", "Done, and nothing wrong was found"),
              ("1", "Something is wrong or was left out"),
              ("2", "It could not be done: an input cannot be read, the database cannot be written, or the command line is wrong"))

COMMANDS = {
    "run": "measure what INPUT has, and write it to the database of --db; continues where an earlier run ended",
    "spread": "do the same in shards on many machines, then merge",
    "merge": "merge the databases INPUT into the one of --output; twice gives the same",
    "summary": "print tables of the database INPUT",
    "report": "write a page about the databases INPUT to the file of --output",
}


class Options(argparse.ArgumentParser):
    """All options in groups, with a --help like that of the other programs (tools/common/src/help.cc)."""

    def __init__(self, version):
        super().__init__(prog="sframe-sweep", add_help=False, allow_abbrev=False)
        self._version = version
        self._options = []  # as --help-json has them
        self._group("Arguments")
        self._entry(["COMMAND"], "; ".join("%s: %s" % item for item in COMMANDS.items()), values=list(COMMANDS))
        self._entry(["INPUT"], "Archive (.deb, .rpm, tar), directory, ELF file, or package index of a local mirror (Packages, primary.xml); for merge, summary and report a database")
        self.add_argument("command", nargs="?")
        self.add_argument("inputs", nargs="*")
        self._group("run and spread")
        self.option("--db", "Database to write to; made if it does not exist", "FILE", common=True)
        self.option("--files-from", "Read more inputs from FILE, one per line", "FILE")
        self.option("--installed", "Also all packages that are installed, by this database (default: auto-detect)", "auto|dpkg|rpm", nargs="?", const="auto",
                    choices=("auto", "dpkg", "rpm"), common=True)
        self.option("--root", "Root directory of the installed system (default: /)", "DIR", default="/")
        self.option("--mirror", "Directory that the names in a package index are relative to (default: from the place of the index)", "DIR")
        self.option("--debug-packages", "Look up packages with debug files (-dbgsym, -debuginfo) in DIR (repeatable; default: beside the package)", "DIR", action="append", default=[])
        self.option("--debug-dir", "Look up debug files in DIR first, then in /usr/lib/debug (repeatable)", "DIR", action="append", default=[], common=True)
        self.option("--shard", "Only shard I of N, from 1/N to N/N", "I/N", default="1/1", type=_shard)
        self.option("-j,--jobs", "Measure N files at the same time (default: all cores; spread: 1 per shard)", "N", type=_number(1, 1024), common=True)
        self.option("--scratch", "Unpack packages in DIR (default: TMPDIR or /tmp)", "DIR")
        self.option("--timeout", "End a program that takes longer for a file (default: 600)", "SECONDS", type=_number(1, 1 << 20), default=600)
        self.option("--max-memory", "Address space of a program (default: 8192)", "MIB", type=_number(64, 1 << 30), default=8192)
        self.option("--max-unpacked", "Bytes that one package may unpack to (default: 32768)", "MIB", type=_number(1, 1 << 40), default=32768)
        self.option("--retry", "Do again what failed in an earlier run", action="store_true")
        self.option("--gen-option", "More options for sframe-gen: --gen-option=--from=cfi,code (repeatable)", "OPTION", action="append", default=[])
        self.option("--programs", "Directory of sframe-gen, sframe-verify and sframe-dump (default: that of sframe-sweep, else PATH)", "DIR")
        self._group("spread")
        self.option("--shards", "Number of shards (default: 16)", "N", type=_number(1, 100000), default=16, common=True)
        self.option("--engine", "Run the shards by GNU parallel (default) or as a Slurm job array", "parallel|slurm", choices=("parallel", "slurm"), default="parallel", common=True)
        self.option("--slots", "Shards at the same time: per machine with parallel, in all with slurm (default: one per core; slurm: no limit)", "N", type=_number(1, 100000))
        self.option("--sshlogin", "Machines for parallel, as parallel takes them: [N/][USER@]HOST,...; : is this one (default)", "LIST")
        self.option("--engine-option", "More options for parallel or sbatch: --engine-option=--partition=long (repeatable)", "OPTION", action="append", default=[])
        self._group("report")
        self.option("--compare", "Show what got better or worse since this older database", "DB", common=True)
        self._group("summary")
        self.option("--table", "Only this table (repeatable): %s" % ", ".join(summary.TABLES), "NAME", action="append", choices=tuple(summary.TABLES), common=True)
        self.option("--rows", "Rows of tables that may be long (default: 20)", "N", type=_number(1, 1 << 30), default=20)
        self.option("--format", "Format of the tables (default: markdown)", "markdown|json|csv", choices=("markdown", "json", "csv"), default="markdown", common=True)
        self._group("Common options")
        self.option("-o,--output", "merge: the database to write to, which may exist; summary and report: write to FILE, atomically; - is standard output", "FILE", common=True)
        self.option("-q,--quiet", "Print errors only", common=True, action="store_true")
        self.option("-v,--verbose", "Print the name of each package", common=True, action="store_true")
        self.option("-h,--help", "Print the most used options and exit", common=True, action="store_true")
        self.option("--help-all", "Print all options, environment variables and exit codes", common=True, action="store_true")
        self.option("--help-json", "Print the options as JSON and exit (for completions)", action="store_true")
        self.option("--version", "Print the version and exit", common=True, action="version", version="sframe-sweep " + version)

    def _group(self, title):
        self._title = title

    def _entry(self, names, text, argument="", common=False, **more):
        self._options.append({"names": names, "argument": argument, "optional": False, "values": [], "list": False, "repeatable": False,
                              "group": self._title, "common": common, "text": text, **more})

    def option(self, flags, text, argument="", common=False, **how):
        """A flag, or with `argument` one with a value."""
        names = flags.split(",")
        self._entry(names, text, argument, common, values=list(how.get("choices", ())), optional="nargs" in how, repeatable=how.get("action") == "append")
        if argument:
            how["metavar"] = argument
        self.add_argument(*names, **how)

    def error(self, message):
        wrong = re.match(r"unrecognized arguments: (--[\w-]+)|argument (\S+): invalid choice: '(.*?)'", message)
        if wrong and wrong[1]:
            message = "unknown option " + wrong[1] + _suggestion(wrong[1], [name for option in self._options for name in option["names"]])
        elif wrong:
            values = next(option["values"] for option in self._options if wrong[2].split("/")[0] in option["names"])
            message = "%s: '%s' is none of %s" % (wrong[2], wrong[3], ", ".join(values)) + _suggestion(wrong[3], values)
        raise _Wrong(message + " (--help shows the options)")

    def help_text(self, every, width):
        """As wide as a terminal; without `every` the common options only."""
        second = min(28, width // 3)

        def wrapped(text, start, indent=0):
            return textwrap.fill(text, width, initial_indent=" " * start, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)[start:]

        def columns(left, right, second=second):
            first = "  " + left
            if not right:
                return first
            if len(first) + 2 > second:
                first += "\n"
            return first + " " * (second - len(first.rpartition("\n")[2])) + wrapped(right, second, second)

        def usage(option):
            value = "[=%s]" if option["optional"] else " %s"
            return ", ".join(option["names"]) + (value % option["argument"] if option["argument"] else "")

        lines = [wrapped(SUMMARY, 0), "Usage: " + USAGE, ""]
        title = self._options[0]["group"]
        for option in self._options:
            if option["names"][0].startswith("-") and not (every or option["common"]):
                continue
            if option["group"] != title:
                title = option["group"]
                lines += ["", title + ":"]
            lines.append(columns(usage(option), option["text"]))
        for heading, terms in (("Environment", ENVIRONMENT), ("Exit codes", EXIT_CODES)) if every else ():
            lines += ["", heading + ":"] + [columns(*term) for term in terms]
        return "\n".join(lines + ["", "EXAMPLES"] + [columns(*example, width // 2 + 4) for example in EXAMPLES]) + "\n"

    def help_json(self):
        def named(terms, key="name"):
            return [{key: name, "text": text} for name, text in terms]

        return json.dumps({"program": self.prog, "version": self._version, "summary": SUMMARY, "usage": USAGE, "options": self._options,
                           "environment": named(ENVIRONMENT), "exit_codes": named(EXIT_CODES), "examples": named(EXAMPLES, "command")}, indent=1) + "\n"


class _Wrong(Exception):
    """Exit code 2."""


def _suggestion(typed, words):
    similar = difflib.get_close_matches(typed, words, 1)
    return "; did you mean %s?" % similar[0] if similar else ""


def _number(least, most):
    def parse(text):
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError("must be a number from %d to %d, not %r" % (least, most, text))
        return int(text)
    return parse


def _shard(text):
    first, slash, second = text.partition("/")
    if not (slash and first.isascii() and first.isdigit() and second.isascii() and second.isdigit() and 1 <= int(first) <= int(second)):
        raise argparse.ArgumentTypeError("must be I/N with I from 1 to N, not %r" % text)
    return int(first), int(second)


class Progress:
    """A line on a terminal, at most ten times a second."""

    def __init__(self, options):
        self._is_shown = sys.stderr.isatty() and not options.quiet
        self._is_verbose = options.verbose and not options.quiet
        self._last = 0.0

    def __call__(self, text):
        if self._is_verbose:
            print("sframe-sweep: " + output.printable(text), file=sys.stderr, flush=True)
        elif self._is_shown and time.monotonic() - self._last > 0.1:
            self._last = time.monotonic()
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r" + output.printable(text).encode("ascii", "replace").decode()[:width].ljust(width))
            sys.stderr.flush()

    def end(self):
        if self._last and self._is_shown and not self._is_verbose:
            sys.stderr.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")


def all_inputs(options):
    """Those of the command line and of --files-from."""
    names = list(options.inputs)
    if options.files_from:
        with (open(options.files_from, encoding="utf-8", errors="surrogateescape") if options.files_from != "-" else sys.stdin) as file:
            names += [line for line in file.read().splitlines() if line]
    if not names and not options.installed:
        raise _Wrong("no INPUT, and no --installed")
    return names


def _run(options, arguments):
    if not options.db:
        raise _Wrong("--db is required")
    units = inputs.units(all_inputs(options), options.installed, options.root, options.mirror, lambda text: options.quiet or _print("note: " + text))
    tools = programs.Programs(options.programs)
    database = store.Store(options.db)
    progress = Progress(options)
    try:
        if options.retry:
            database.forget_failures()
        with scratch.scratch_folder(options.scratch or tempfile.gettempdir()) as folder:
            how = measure.Options(tools, programs.Limits(options.timeout, options.max_memory << 20), tuple(options.gen_option), tuple(map(os.path.abspath, options.debug_dir)))
            what = sweep.Options(options.shard, options.jobs or os.cpu_count() or 1, options.max_unpacked << 20, tuple(options.debug_packages), shlex.join(["sframe-sweep", *arguments]))
            counts = sweep.Sweep(database, folder, what, how, progress)
            counts.run(units)
    finally:
        progress.end()
        database.close()
    counts = counts.counts
    if not options.quiet:
        print("%(packages)d packages (%(failed packages)d failed), %(known packages)d known before; %(files)d files measured (%(failed files)d failed)" % counts, file=sys.stderr)
    if options.shard[1] == 1 and not any(number for name, number in counts.items() if name != "empty folders"):
        raise _Wrong("no file and no package in the inputs: nothing was measured")
    return 1 if summary.is_something_wrong(options.db) else 0


def _merge(options, _):
    if not options.output or not options.inputs:
        raise _Wrong("merge needs databases, and --output")
    for path in options.inputs:
        store.open_read_only(path).close()
    database = store.Store(options.output)
    try:
        for path in options.inputs:
            if not (os.path.exists(options.output) and os.path.samefile(path, options.output)):
                database.merge(path)
    finally:
        database.close()
    return 0


def _summary(options, _):
    if len(options.inputs) != 1:
        raise _Wrong("summary needs one database")
    with store.values_of(options.inputs):
        text = summary.text(options.inputs[0], options.table, options.rows, options.format)
    output.write(options.output or "-", text.encode())
    return 1 if summary.is_something_wrong(options.inputs[0]) else 0


def _report(options, _):
    if not options.inputs or not options.output:
        raise _Wrong("report needs databases, and --output")
    with store.values_of(options.inputs + ([options.compare] if options.compare else [])):
        report.main(options.inputs, options.output, options.compare)
    return 1 if any(summary.is_something_wrong(path) for path in options.inputs) else 0


def _spread(options, _):
    if not options.db:
        raise _Wrong("--db is required")
    return engines.spread(options, all_inputs(options), lambda paths: _merge(argparse.Namespace(inputs=paths, output=options.db), ()))


def _print(text):
    print("sframe-sweep: " + output.printable(text), file=sys.stderr)


def _ended(number, _):
    raise SystemExit(128 + number)


def main(version, arguments=None):
    """Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = Options(version)
    signal.signal(signal.SIGTERM, _ended)
    signal.signal(signal.SIGHUP, _ended)
    try:
        every = "--help-all" in arguments
        if every or "-h" in arguments or "--help" in arguments:
            sys.stdout.write(parser.help_text(every, max(40, shutil.get_terminal_size().columns)))
            return 0
        if "--help-json" in arguments:
            sys.stdout.write(parser.help_json())
            return 0
        options = parser.parse_intermixed_args(arguments)
        commands = {"run": _run, "spread": _spread, "merge": _merge, "summary": _summary, "report": _report}
        if options.command not in commands:
            raise _Wrong("%s; commands are %s" % ("no command" if options.command is None else "no command %r" % options.command, ", ".join(commands)))
        return commands[options.command](options, arguments)
    except (_Wrong, inputs.Unreadable, store.Unusable, engines.Failed, scratch.Full, sweep.Incomplete) as error:
        message = str(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        message = ": ".join(filter(None, (error.filename, error.strerror or str(error))))
    except sqlite3.Error as error:
        written = options.output if options.command == "merge" else options.db
        message = "%s: %s" % (written or ", ".join(options.inputs), error)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    _print("error: " + message)
    return 2
