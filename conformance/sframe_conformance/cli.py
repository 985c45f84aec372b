# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: commands, their options, --help. Exit codes: 0 everything is right; 1 something
failed; 2 nothing could be run."""
import argparse
import os
import platform
import sys
import tempfile

from sframe_options import COLUMNS, Options, Texts, Wrong

from . import compilers, description, harness, programs, readers, report, results, writers

TEXTS = Texts(
    summary="Test readers and writers of SFrame by cases whose answers follow from the specification, and compilers by random programs.",
    usage="sframe-conformance COMMAND [OPTIONS]",
    examples=(
        (
            "sframe-conformance readers --library ./my-reader.so",
            "all cases, as a table of failures",
        ),
        (
            "sframe-conformance readers --command ./my-reader --level minimal",
            "what every reader must do",
        ),
        ("sframe-conformance writers --as 'as --gsframe' --ld ld", "an assembler and a linker"),
        (
            "sframe-conformance compilers --cc gcc --options=-O3 --save bugs",
            "call frame information of random programs",
        ),
        ("sframe-conformance make -o sections", "sections and questions as files"),
    ),
    environment=(
        COLUMNS,
        (
            "PATH",
            "Where a reader, an assembler, a linker, a compiler and sframe-verify without a directory are looked up",
        ),
        (
            "QEMU_LD_PREFIX",
            "compilers: where QEMU looks up shared libraries of programs for other machines",
        ),
        ("TMPDIR", "Directory for temporary files (default: /tmp)"),
    ),
    exit_codes=(
        ("0", "All cases passed, or are known to fail"),
        ("1", "A case failed"),
        ("2", "Nothing could be run"),
    ),
)

COMMANDS = {
    "readers": "ask a reader",
    "writers": "check what an assembler or a linker makes",
    "compilers": "compare what a compiler says of frames with its code",
    "make": "write the sections and the questions as files",
}


def _number(kind, is_right, what):
    """For argparse, whose own messages name Python's types."""

    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not is_right(value):
            raise argparse.ArgumentTypeError("must be %s, not %r" % (what, text))
        return value

    return read


_positive = _number(float, lambda value: 0 < value < 1e6, "a positive number")
_count = _number(int, lambda value: 0 <= value < 1 << 32, "a number")


def _parser(version):
    options = Options("sframe-conformance", version, TEXTS)
    options.positional("COMMAND", "; ".join("%s: %s" % item for item in COMMANDS.items()), COMMANDS)
    options.add_argument("command", nargs="?")
    options.group("Cases")
    options.option(
        "--level",
        "minimal: what a reader of version 3 for its own machine must do, or the patterns that compilers use (default: full)",
        "minimal|full",
        choices=("minimal", "full"),
        default="full",
        common=True,
    )
    options.option(
        "--abi",
        "ABI of the minimal level (default: the machine's); writers: the assembler's (default: what it makes)",
        "|".join(description.ABIS),
        choices=tuple(description.ABIS),
    )
    options.option(
        "--starts",
        "readers and make: what starts of functions are relative to, where a case does not choose (default: field, FUNC_START_PCREL)",
        "field|section",
        choices=("field", "section"),
        default="field",
    )
    options.option(
        "--case",
        "Only cases with such names (repeatable)",
        "PATTERN",
        action="append",
        default=[],
        common=True,
    )
    options.option(
        "--known",
        "Failures that are known: lines of a pattern and a reason; they do not count",
        "FILE",
    )
    options.option("--data", "Directory of the cases (default: those of this release)", "DIR")
    options.option(
        "--timeout",
        "End a process that takes longer (default: 10, for each case)",
        "SECONDS",
        type=_positive,
    )
    options.option(
        "--max-memory",
        "Address space of a process; 0: no limit (default: 4096)",
        "MIB",
        type=_count,
        default=4096,
    )
    options.group("readers")
    options.option(
        "--command",
        "A reader that answers questions on its standard input",
        "COMMAND",
        dest="reader_command",
        common=True,
    )
    options.option(
        "--library",
        "A reader as a library with sframe_conformance_find()",
        "FILE.so",
        dest="reader_library",
        common=True,
    )
    options.group("writers")
    options.option(
        "--as",
        "Assembler with the options that make it write .sframe",
        "COMMAND",
        dest="assembler",
        common=True,
    )
    options.option("--ld", "Linker: also the cases for linkers", "COMMAND", dest="linker")
    options.group("compilers")
    options.option(
        "--cc",
        "Compiler, with options that are always given (repeatable)",
        "COMMAND",
        action="append",
        default=[],
        dest="compilers",
        common=True,
    )
    options.option(
        "--options",
        "Only with these options (repeatable; default: many that change frames, of those that the compiler knows)",
        "OPTIONS",
        action="append",
        default=[],
    )
    options.option(
        "--language",
        "Language of the programs (default: those that the compiler knows)",
        "c|c++|rust",
        choices=programs.LANGUAGES,
    )
    options.option(
        "--programs",
        "Number of programs for each choice of options (default: 20); 0: only the sources that showed a bug of some compiler",
        "N",
        type=_count,
        default=20,
    )
    options.option(
        "--seed",
        "Number of the first program (default: 1); equal numbers give equal programs",
        "N",
        type=_count,
        default=1,
    )
    options.option(
        "--execute-all",
        "Execute also those programs for other machines in which nothing contradicts the code",
        action="store_true",
    )
    options.option("--save", "Write the smallest program of each bug to DIR", "DIR")
    options.option(
        "--verify", "sframe-verify (default: from PATH)", "COMMAND", default="sframe-verify"
    )
    options.option("--gen", "sframe-gen (default: from PATH)", "COMMAND", default="sframe-gen")
    options.group("Common options")
    options.option(
        "--format",
        "Format of the report (default: text)",
        "text|json|junit|sarif",
        choices=("text", "json", "junit", "sarif"),
        default="text",
        common=True,
    )
    options.option(
        "-o,--output",
        "Write the report to FILE, atomically; make: the directory to write to",
        "FILE",
        common=True,
    )
    options.option(
        "-q,--quiet",
        "Print no progress, and no report as text if everything is right",
        common=True,
        action="store_true",
    )
    options.option(
        "-v,--verbose", "Report all cases, not only those that failed", action="store_true"
    )
    options.help_options()
    return options


def _progress(options):
    if options.quiet or not sys.stderr.isatty():
        return lambda text: None
    return lambda text: (sys.stderr.write("\r" + text[:78].ljust(79)), sys.stderr.flush()) and None


def _write(path, text):
    """Atomically, unless it is no regular file."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    temporary = tempfile.NamedTemporaryFile(
        "w", dir=os.path.dirname(os.path.abspath(path)), delete=False, encoding="utf-8"
    )
    try:
        with temporary:
            temporary.write(text)
            temporary.flush()
            os.fsync(temporary.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(
            temporary.name,
            os.stat(path).st_mode & 0o7777 if os.path.exists(path) else 0o666 & ~mask,
        )
        os.replace(temporary.name, path)
    except BaseException:
        os.unlink(temporary.name)
        raise


def _cases(options, folder):
    abi = options.abi or description.HOSTS.get(platform.machine(), "amd64")
    return readers.load(
        os.path.join(folder, "readers", "cases"),
        options.level,
        abi,
        options.case or ["*"],
        "no" if options.starts == "section" else "yes",
    )


def _make(options, folder):
    if not options.output:
        raise Wrong("make needs --output, the directory to write to")
    count = readers.make(_cases(options, folder), options.output)
    if count and not options.quiet:
        print("%d sections and their questions in %s" % (count, options.output), file=sys.stderr)
    return count, None


def _readers(options, folder):
    if bool(options.reader_command) == bool(options.reader_library):
        raise Wrong("readers needs --command or --library")
    reader = (
        harness.Command(options.reader_command)
        if options.reader_command
        else harness.Library(options.reader_library)
    )
    return reader.name, readers.run(
        reader, _cases(options, folder), options.timeout, _progress(options)
    )


def _writers(options, folder):
    if not options.assembler:
        raise Wrong("writers needs --as")
    return options.assembler + (", " + options.linker if options.linker else ""), writers.run(
        os.path.join(folder, "writers"),
        options.assembler,
        options.linker,
        options.abi,
        options.level,
        options.case or ["*"],
        options.timeout or 10,
        _progress(options),
    )


def _compilers(options, folder):
    if not options.compilers:
        raise Wrong("compilers needs --cc")
    languages = [options.language] if options.language else programs.LANGUAGES
    found = compilers.run(
        os.path.join(folder, "compilers"),
        options.case or ["*"],
        options.compilers,
        options.options,
        languages,
        range(options.seed, options.seed + options.programs),
        options.verify,
        options.gen,
        options.save,
        options.timeout or 10,
        options.execute_all,
        _progress(options),
    )
    if not found:
        raise Wrong("no options that the compiler knows")
    return ", ".join(options.compilers), found


def _main(version, data, arguments):
    parser = _parser(version)
    if text := parser.text_asked_for(arguments):
        sys.stdout.write(text)
        return 0
    options = parser.parse_args(arguments)
    commands = {"readers": _readers, "writers": _writers, "compilers": _compilers, "make": _make}
    if options.command not in commands:
        raise Wrong(
            "no command %s" % options.command
            if options.command
            else "no command: readers, writers, compilers or make"
        )
    harness.limit_memory(options.max_memory << 20)
    known = results.read_known(options.known) if options.known else []
    subject, found = commands[options.command](options, options.data or data)
    if sys.stderr.isatty() and not options.quiet:
        sys.stderr.write("\r" + " " * 79 + "\r")
    if not subject or found == []:
        raise Wrong(
            "no case%s below %s"
            % (" with such a name" if options.case else "", options.data or data)
        )
    if found is None:
        return 0
    stale = results.mark_known(found, known)
    failed = any(result.verdict == results.FAILED for result in found)
    text = {
        "text": lambda: report.as_text(options.command, subject, found, stale, options.verbose),
        "json": lambda: report.as_json(options.command, subject, found, stale, version),
        "junit": lambda: report.as_junit(options.command, subject, found),
        "sarif": lambda: report.as_sarif(options.command, subject, found, version),
    }[options.format]()
    if options.output and options.output != "-":
        _write(options.output, text)
    elif options.format != "text" or failed or not options.quiet:
        sys.stdout.write(text)
        sys.stdout.flush()
    return 1 if failed else 0


def main(version, data, arguments=None):
    """`data`: the folder of the cases."""
    try:
        return _main(version, data, sys.argv[1:] if arguments is None else arguments)
    except (Wrong, description.Wrong, harness.Unusable, OSError, ValueError) as error:
        text = (
            "%s: %s" % (error.filename, error.strerror)
            if isinstance(error, OSError) and error.filename
            else str(error)
        )
        print("sframe-conformance: error: %s" % report.printable(text), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
