# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: commands, their options, --help. Exit codes: 0 done, and nothing wrong was
found; 1 something is wrong or was left out; 2 it could not be done."""
import argparse
import os
import shlex
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

from sframe_options import COLUMNS, Options, Texts, Wrong

from . import engines, inputs, measure, output, programs, report, scratch, store, summary, sweep

TEXTS = Texts(
    summary="Convert and verify the ELF files of many packages, and keep the results in a database.",
    usage="sframe-sweep COMMAND [INPUT...] [OPTIONS]",
    examples=(
        (
            "sframe-sweep run packages/ --db sweep.db",
            "all .deb, .rpm and tar archives of a directory",
        ),
        ("sframe-sweep run --installed --db sweep.db", "all installed packages"),
        (
            "sframe-sweep run mirror/dists/stable/main/binary-amd64/Packages.xz --db deb.db",
            "all packages of a local mirror's index",
        ),
        (
            "sframe-sweep run packages/ --db part3.db --shard 3/100",
            "a hundredth of them, on this machine",
        ),
        ("sframe-sweep merge part*.db -o sweep.db", "all results in one database"),
        (
            "sframe-sweep spread packages/ --db sweep.db --shards 100 --sshlogin n1,n2",
            "the same on two machines, by GNU parallel",
        ),
        (
            "sframe-sweep spread packages/ --db sweep.db --shards 100 --engine slurm",
            "the same as a Slurm job array",
        ),
        ("sframe-sweep summary sweep.db", "tables: coverage, sizes, findings, failures"),
        (
            "sframe-sweep report sweep.db -o report.html --compare old.db",
            "a page to search and sort, and what changed",
        ),
    ),
    environment=(
        COLUMNS,
        ("PATH", "Where the programs are looked up that are not beside sframe-sweep"),
        ("TMPDIR", "Directory for unpacked packages, without --scratch (default: /tmp)"),
    ),
    exit_codes=(
        ("0", "Done, and nothing wrong was found"),
        ("1", "Something is wrong or was left out"),
        (
            "2",
            "It could not be done: an input cannot be read, the database cannot be written, or the command line is wrong",
        ),
    ),
)

COMMANDS = {
    "run": "measure what INPUT has, and write it to the database of --db; continues where an earlier run ended",
    "spread": "do the same in shards on many machines, then merge",
    "merge": "merge the databases INPUT into the one of --output; twice gives the same",
    "summary": "print tables of the database INPUT",
    "report": "write a page about the databases INPUT to the file of --output",
}


def _declared(version):
    options = Options("sframe-sweep", version, TEXTS)
    options.positional("COMMAND", "; ".join("%s: %s" % item for item in COMMANDS.items()), COMMANDS)
    options.positional(
        "INPUT",
        "Archive (.deb, .rpm, tar), directory, ELF file, or package index of a local mirror (Packages, primary.xml); for merge, summary and report a database",
    )
    options.add_argument("command", nargs="?")
    options.add_argument("inputs", nargs="*")
    options.group("run and spread")
    options.option("--db", "Database to write to; made if it does not exist", "FILE", common=True)
    options.option("--files-from", "Read more inputs from FILE, one per line", "FILE")
    options.option(
        "--installed",
        "Also all packages that are installed, by this database (default: auto-detect)",
        "auto|dpkg|rpm",
        nargs="?",
        const="auto",
        choices=("auto", "dpkg", "rpm"),
        common=True,
    )
    options.option(
        "--root", "Root directory of the installed system (default: /)", "DIR", default="/"
    )
    options.option(
        "--mirror",
        "Directory that the names in a package index are relative to (default: from the place of the index)",
        "DIR",
    )
    options.option(
        "--debug-packages",
        "Look up packages with debug files (-dbgsym, -debuginfo) in DIR (repeatable; default: beside the package)",
        "DIR",
        action="append",
        default=[],
    )
    options.option(
        "--debug-dir",
        "Look up debug files in DIR first, then in /usr/lib/debug (repeatable)",
        "DIR",
        action="append",
        default=[],
        common=True,
    )
    options.option(
        "--shard", "Only shard I of N, from 1/N to N/N", "I/N", default="1/1", type=_shard
    )
    options.option(
        "-j,--jobs",
        "Measure N files at the same time (default: all cores; spread: 1 per shard)",
        "N",
        type=_number(1, 1024),
        common=True,
    )
    options.option("--scratch", "Unpack packages in DIR (default: TMPDIR or /tmp)", "DIR")
    options.option(
        "--timeout",
        "End a program that takes longer for a file (default: 600)",
        "SECONDS",
        type=_number(1, 1 << 20),
        default=600,
    )
    options.option(
        "--max-memory",
        "Address space of a program (default: 8192)",
        "MIB",
        type=_number(64, 1 << 30),
        default=8192,
    )
    options.option(
        "--max-unpacked",
        "Bytes that one package may unpack to (default: 32768)",
        "MIB",
        type=_number(1, 1 << 40),
        default=32768,
    )
    options.option("--retry", "Do again what failed in an earlier run", action="store_true")
    options.option(
        "--coverage",
        "Measure only what CFI and all sources cover: neither sizes nor findings",
        action="store_true",
    )
    options.option(
        "--gen-option",
        "More options for sframe-gen: --gen-option=--from=cfi,code (repeatable)",
        "OPTION",
        action="append",
        default=[],
    )
    options.option(
        "--programs",
        "Directory of sframe-gen, sframe-verify and sframe-dump (default: that of sframe-sweep, else PATH)",
        "DIR",
    )
    options.group("spread")
    options.option(
        "--shards",
        "Number of shards (default: 16)",
        "N",
        type=_number(1, 100000),
        default=16,
        common=True,
    )
    options.option(
        "--engine",
        "Run the shards by GNU parallel (default) or as a Slurm job array",
        "parallel|slurm",
        choices=("parallel", "slurm"),
        default="parallel",
        common=True,
    )
    options.option(
        "--slots",
        "Shards at the same time: per machine with parallel, in all with slurm (default: one per core; slurm: no limit)",
        "N",
        type=_number(1, 100000),
    )
    options.option(
        "--sshlogin",
        "Machines for parallel, as parallel takes them: [N/][USER@]HOST,...; : is this one (default)",
        "LIST",
    )
    options.option(
        "--engine-option",
        "More options for parallel or sbatch: --engine-option=--partition=long (repeatable)",
        "OPTION",
        action="append",
        default=[],
    )
    options.group("report")
    options.option(
        "--compare", "Show what got better or worse since this older database", "DB", common=True
    )
    options.group("summary")
    options.option(
        "--table",
        "Only this table (repeatable): %s" % ", ".join(summary.TABLES),
        "NAME",
        action="append",
        choices=tuple(summary.TABLES),
        common=True,
    )
    options.option(
        "--rows",
        "Rows of tables that may be long (default: 20)",
        "N",
        type=_number(1, 1 << 30),
        default=20,
    )
    options.option(
        "--format",
        "Format of the tables (default: markdown)",
        "markdown|json|csv",
        choices=("markdown", "json", "csv"),
        default="markdown",
        common=True,
    )
    options.group("Common options")
    options.option(
        "-o,--output",
        "merge: the database to write to, which may exist; summary and report: write to FILE, atomically; - is standard output",
        "FILE",
        common=True,
    )
    options.option("-q,--quiet", "Print errors only", common=True, action="store_true")
    options.option(
        "-v,--verbose", "Print the name of each package", common=True, action="store_true"
    )
    options.help_options()
    return options


def _number(least, most):
    def parse(text):
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                "must be a number from %d to %d, not %r" % (least, most, text)
            )
        return int(text)

    return parse


def _shard(text):
    first, slash, second = text.partition("/")
    if not (
        slash
        and first.isascii()
        and first.isdigit()
        and second.isascii()
        and second.isdigit()
        and 1 <= int(first) <= int(second)
    ):
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
            sys.stderr.write(
                "\r"
                + output.printable(text).encode("ascii", "replace").decode()[:width].ljust(width)
            )
            sys.stderr.flush()

    def end(self):
        if self._last and self._is_shown and not self._is_verbose:
            sys.stderr.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")


def all_inputs(options):
    """Those of the command line and of --files-from."""
    names = list(options.inputs)
    if options.files_from:
        with (
            open(options.files_from, encoding="utf-8", errors="surrogateescape")
            if options.files_from != "-"
            else sys.stdin
        ) as file:
            names += [line for line in file.read().splitlines() if line]
    if not names and not options.installed:
        raise Wrong("no INPUT, and no --installed")
    return names


def _run(options, arguments):
    if not options.db:
        raise Wrong("--db is required")
    units = inputs.units(
        all_inputs(options),
        options.installed,
        options.root,
        options.mirror,
        lambda text: options.quiet or _print("note: " + text),
    )
    tools = programs.Programs(options.programs)
    database = store.Store(options.db)
    progress = Progress(options)
    try:
        if options.retry:
            database.forget_failures()
        with scratch.scratch_folder(options.scratch or tempfile.gettempdir()) as folder:
            how = measure.Options(
                tools,
                programs.Limits(options.timeout, options.max_memory << 20),
                tuple(options.gen_option),
                tuple(map(os.path.abspath, options.debug_dir)),
                coverage_only=options.coverage,
            )
            what = sweep.Options(
                options.shard,
                options.jobs or os.cpu_count() or 1,
                options.max_unpacked << 20,
                tuple(options.debug_packages),
                shlex.join(["sframe-sweep", *arguments]),
            )
            counts = sweep.Sweep(database, folder, what, how, progress)
            counts.run(units)
    finally:
        progress.end()
        database.close()
    counts = counts.counts
    if not options.quiet:
        print(
            "%(packages)d packages (%(failed packages)d failed), %(known packages)d already in the database; %(files)d files measured (%(failed files)d failed)"
            % counts,
            file=sys.stderr,
        )
    if options.shard[1] == 1 and not any(
        number for name, number in counts.items() if name != "empty folders"
    ):
        raise Wrong("no file and no package in the inputs: nothing was measured")
    return 1 if summary.is_something_wrong(options.db) else 0


def _merge(options, _):
    if not options.output or not options.inputs:
        raise Wrong("merge needs databases, and --output")
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
        raise Wrong("summary needs one database")
    with store.values_of(options.inputs):
        text = summary.text(options.inputs[0], options.table, options.rows, options.format)
    output.write(options.output or "-", text.encode())
    return 1 if summary.is_something_wrong(options.inputs[0]) else 0


def _report(options, _):
    if not options.inputs or not options.output:
        raise Wrong("report needs databases, and --output")
    with store.values_of(options.inputs + ([options.compare] if options.compare else [])):
        report.main(options.inputs, options.output, options.compare)
    return 1 if any(summary.is_something_wrong(path) for path in options.inputs) else 0


def _spread(options, _):
    if not options.db:
        raise Wrong("--db is required")
    return engines.spread(
        options,
        all_inputs(options),
        lambda paths: _merge(argparse.Namespace(inputs=paths, output=options.db), ()),
    )


def _print(text):
    print("sframe-sweep: " + output.printable(text), file=sys.stderr)


def _ended(number, _):
    raise SystemExit(128 + number)


def main(version, arguments=None):
    """Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _declared(version)
    signal.signal(signal.SIGTERM, _ended)
    signal.signal(signal.SIGHUP, _ended)
    try:
        if text := parser.text_asked_for(arguments):
            sys.stdout.write(text)
            return 0
        options = parser.parse_intermixed_args(arguments)
        commands = {
            "run": _run,
            "spread": _spread,
            "merge": _merge,
            "summary": _summary,
            "report": _report,
        }
        if options.command not in commands:
            raise Wrong(
                "%s; commands are %s"
                % (
                    "no command" if options.command is None else "no command %r" % options.command,
                    ", ".join(commands),
                )
            )
        return commands[options.command](options, arguments)
    except (
        Wrong,
        inputs.Unreadable,
        store.Unusable,
        engines.Failed,
        scratch.Full,
        sweep.Incomplete,
    ) as error:
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
