# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: commands, their options, --help. Exit codes: 0 everything is right; 1 something failed; 2 nothing could be run."""
import argparse
import os
import platform
import sys
import tempfile

from . import description, harness, readers, report, results, writers

HELP = """\
Test readers and writers of SFrame by cases whose answers follow from the specification.
Usage: sframe-conformance readers|writers|make [OPTIONS]

Positionals:
  COMMAND                         readers: ask a reader; writers: check what an assembler or a
                                  linker makes; make: write the sections and the questions as files

Common options:
  -h,--help                       Print this text and exit
  --version                       Print the version and exit
  -q,--quiet                      Print no progress, and no report as text if everything is right
  -v,--verbose                    Report all cases, not only those that failed
  -o,--output FILE                Write the report to FILE, atomically; make: the directory to write to
  --format text|json|junit|sarif  Format of the report (default: text)
  --level minimal|full            minimal: what a reader of version 3 for its own machine must do, or
                                  the patterns that compilers use (default: full)
  --abi NAME                      amd64, aarch64, aarch64_be or s390x: of the minimal level (default:
                                  the machine's); writers: the assembler's (default: what it makes)
  --starts field|section          readers and make: what starts of functions are relative to, where a case
                                  does not choose (default: field, FUNC_START_PCREL)
  --case PATTERN                  Only cases with such names (repeatable)
  --known FILE                    Failures that are known: lines of a pattern and a reason; they do
                                  not count
  --data DIR                      Directory of the cases (default: those of this release)
  --timeout SECONDS               End a process that takes longer (default: 10, for each case)
  --max-memory MIB                Address space of a process; 0: no limit (default: 4096)

readers:
  --command COMMAND               A reader that answers questions on its standard input
  --library FILE.so               A reader as a library with sframe_conformance_find()

writers:
  --as COMMAND                    Assembler with the options that make it write .sframe
  --ld COMMAND                    Linker: also the cases for linkers

EXAMPLES
  sframe-conformance readers --library ./my-reader.so    all cases, as a table of failures
  sframe-conformance readers --command ./my-reader --level minimal
                                                         what every reader must do
  sframe-conformance writers --as 'as --gsframe' --ld ld
                                                         an assembler and a linker
  sframe-conformance make -o sections                    sections and questions as files
"""


class _Wrong(Exception):
    """Exit code 2."""


class _Options(argparse.ArgumentParser):
    def error(self, message):
        raise _Wrong(message + " (--help shows the options)")


def _positive(text):
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError("must be a positive number, not %r" % text)
    return value


def _parser():
    parser = _Options(prog="sframe-conformance", add_help=False, allow_abbrev=False)
    parser.add_argument("command", nargs="?")
    for flags in (("-h", "--help"), ("--version",), ("-q", "--quiet"), ("-v", "--verbose")):
        parser.add_argument(*flags, action="store_true")
    parser.add_argument("-o", "--output")
    parser.add_argument("--format", choices=("text", "json", "junit", "sarif"), default="text")
    parser.add_argument("--level", choices=("minimal", "full"), default="full")
    parser.add_argument("--abi", choices=tuple(description.ABIS))
    parser.add_argument("--starts", choices=("field", "section"), default="field")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--known")
    parser.add_argument("--data")
    parser.add_argument("--timeout", type=_positive)
    parser.add_argument("--max-memory", type=int, default=4096)
    parser.add_argument("--command", dest="reader_command")
    parser.add_argument("--library")
    parser.add_argument("--as", dest="assembler")
    parser.add_argument("--ld", dest="linker")
    return parser


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
    temporary = tempfile.NamedTemporaryFile("w", dir=os.path.dirname(os.path.abspath(path)), delete=False, encoding="utf-8")
    try:
        with temporary:
            temporary.write(text)
            temporary.flush()
            os.fsync(temporary.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary.name, os.stat(path).st_mode & 0o7777 if os.path.exists(path) else 0o666 & ~mask)
        os.replace(temporary.name, path)
    except BaseException:
        os.unlink(temporary.name)
        raise


def _cases(options, folder):
    abi = options.abi or description.HOSTS.get(platform.machine(), "amd64")
    return readers.load(os.path.join(folder, "readers", "cases"), options.level, abi, options.case or ["*"], "no" if options.starts == "section" else "yes")


def _make(options, folder):
    if not options.output:
        raise _Wrong("make needs --output, the folder to write to")
    count = readers.make(_cases(options, folder), options.output)
    if count and not options.quiet:
        print("%d sections and their questions in %s" % (count, options.output), file=sys.stderr)
    return count, None


def _readers(options, folder):
    if bool(options.reader_command) == bool(options.library):
        raise _Wrong("readers needs --command or --library")
    reader = harness.Command(options.reader_command) if options.reader_command else harness.Library(options.library)
    return reader.name, readers.run(reader, _cases(options, folder), options.timeout, _progress(options))


def _writers(options, folder):
    if not options.assembler:
        raise _Wrong("writers needs --as")
    return options.assembler + (", " + options.linker if options.linker else ""), writers.run(
        os.path.join(folder, "writers"), options.assembler, options.linker, options.abi, options.level, options.case or ["*"], options.timeout or 10, _progress(options))


def _main(version, data, arguments):
    options = _parser().parse_args(arguments)
    if options.help:
        print(HELP, end="")
        return 0
    if options.version:
        print("sframe-conformance " + version)
        return 0
    commands = {"readers": _readers, "writers": _writers, "make": _make}
    if options.command not in commands:
        raise _Wrong("no command %s" % options.command if options.command else "no command: readers, writers or make")
    harness.limit_memory(options.max_memory << 20)
    known = results.read_known(options.known) if options.known else []
    subject, found = commands[options.command](options, options.data or data)
    if sys.stderr.isatty() and not options.quiet:
        sys.stderr.write("\r" + " " * 79 + "\r")
    if not subject or found == []:
        raise _Wrong("no case%s below %s" % (" with such a name" if options.case else "", options.data or data))
    if found is None:
        return 0
    stale = results.mark_known(found, known)
    failed = any(result.verdict == results.FAILED for result in found)
    text = {"text": lambda: report.as_text(options.command, subject, found, stale, options.verbose),
            "json": lambda: report.as_json(options.command, subject, found, stale, version),
            "junit": lambda: report.as_junit(options.command, subject, found),
            "sarif": lambda: report.as_sarif(options.command, subject, found, version)}[options.format]()
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
    except (_Wrong, description.Wrong, harness.Unusable, writers.Unusable, OSError, ValueError) as error:
        print("sframe-conformance: error: %s" % report.printable(str(error)), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
