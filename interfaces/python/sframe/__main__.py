# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python3 -m sframe dump FILE | find FILE PC | unwind CORE [EXECUTABLE] | unwind --pid PID"""
import argparse
import os
import sys

import sframe
from sframe import library_version


def safe(text):
    """Without what controls a terminal, or is no UTF-8: names come from files and processes."""
    return "".join(
        c
        if c.isprintable()
        else "\\x%02x" % (ord(c) & 0xFF)
        if ord(c) < 0x100 or 0xDC80 <= ord(c) <= 0xDCFF
        else "\\u%04x" % ord(c)
        for c in text
    )


def print_row(start, row):
    print(
        "    0x%x  cfa=%s ra=%s fp=%s%s"
        % (start + row.offset, row.cfa, row.ra, row.fp, " signed" if row.ra_signed else "")
    )


def print_function(function):
    print("  [%d] 0x%x-0x%x" % (function.index, function.start, function.start + function.size))


def dump(arguments):
    with sframe.File(arguments.file) as file:
        sections = file.sections
        for section in sections:
            print(
                "section at 0x%x: version %d, %s, %s-endian, %d functions"
                % (section.address, section.version, section.abi, section.byte_order, len(section))
            )
            for function in section:
                print_function(function)
                for row in function.rows():
                    print_row(0 if function.block_size else function.start, row)
    return 0 if sections else 1


def find(arguments):
    with sframe.File(arguments.file) as file:
        match = file.find(arguments.pc)
        if match is None:
            print("0x%x: no row" % arguments.pc)
            return 1
        print_function(match.function)
        print_row(0 if match.function.block_size else match.function.start, match.row)
    return 0


def print_thread(thread, source):
    print("TID %d: %s" % (thread.tid, safe(thread.name)))
    for frame in thread.walk():
        function, module = frame.function, frame.module
        name = safe(os.path.basename(module.path) or "unknown") if module else "unknown"
        # Without a function, a symbolizer needs the offset.
        text = (
            "%s + 0x%x  (%s)" % (safe(function[0]), function[1], name)
            if function
            else "(%s + 0x%x)" % (name, frame.pc - module.start)
            if module
            else "(unknown)"
        )
        print(
            "#%-2d 0x%016x  %s  [%s%s]"
            % (
                frame.number,
                frame.pc,
                text,
                frame.found_by,
                ", heuristic" if frame.heuristic else "",
            )
        )
        for line in frame.source if source else ():
            print(
                "      %s:%d%s"
                % (
                    safe(line.file),
                    line.line,
                    " in " + safe(line.function) if line.function else "",
                )
            )
    print("    %s: %s" % ("complete" if thread.end.complete else "ended early", thread.end.reason))
    return thread.end.complete


def unwind(arguments):
    process = (
        sframe.attach(arguments.pid)
        if arguments.pid is not None
        else sframe.core(
            arguments.core, executable=arguments.executable, sframe_dir=arguments.sframe_dir
        )
    )
    with process:
        process.stop()
        print("PID %d: %s" % (process.pid, safe(process.name)))
        complete = [print_thread(thread, arguments.source) for thread in process.threads()]
    return 0 if complete and all(complete) else 1


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="python3 -m sframe", description="SFrame sections and stack traces."
    )
    parser.add_argument(
        "--version",
        action="version",
        version="sframe %s, libsframe-c %s" % (sframe.__version__, library_version()),
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "dump", help="print the functions and rows of a file's SFrame sections"
    )
    command.add_argument("file", metavar="FILE", help="an ELF file or a raw section")
    command.set_defaults(run=dump)
    command = commands.add_parser("find", help="print the row for an address")
    command.add_argument("file", metavar="FILE", help="an ELF file or a raw section")
    command.add_argument(
        "pc", metavar="PC", type=lambda text: int(text, 0), help="the address, such as 0x1234"
    )
    command.set_defaults(run=find)
    command = commands.add_parser("unwind", help="print the stacks of a core or a live process")
    command.add_argument("core", metavar="CORE", nargs="?", help="a core file, plain or compressed")
    command.add_argument(
        "executable",
        metavar="EXECUTABLE",
        nargs="?",
        help="the program's file, instead of the one that the core names",
    )
    command.add_argument("--pid", type=int, help="a live process instead of a core")
    command.add_argument("--sframe-dir", metavar="DIR", help="directory of sidecar files")
    command.add_argument("--source", action="store_true", help="print source lines")
    command.set_defaults(run=unwind)
    options = parser.parse_args(arguments)
    if options.run is unwind and (options.pid is None) == (options.core is None):
        parser.error("either CORE or --pid")
    return options


def main():
    """Exit codes as those of the programs: 0 success, 1 nothing was found or a stack is not
    complete, 2 failure."""
    sys.stdout.reconfigure(errors="backslashreplace")
    options = parse(None)
    try:
        code = options.run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has enough
        return 0
    except (sframe.Error, MemoryError, ValueError) as error:
        sys.stdout.flush()
        print("sframe: error: %s" % error, file=sys.stderr)
        return 2


sys.exit(main())
