# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# hostile-names.py FOLDER PART: random names (any bytes; Unicode with what steers terminals) as
# names of symbols, sections, members, source files, programs and threads, through all formats of
# the programs of PART (files, live). Each output must be UTF-8 without controls but the line feed,
# and without what turns text around; JSON must parse and give back the names that are UTF-8; SVG
# must be XML; HTML must be well-formed, with such JSON in it and nothing that leads elsewhere
# (reports/Inputs/check_page.py).
#
# Objects are assembled with placeholders for the names, which are then overwritten by as many
# bytes.
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reports", "Inputs")
)
import check_page as check_page_module

FOLDER, PART = sys.argv[1], sys.argv[2]
ROUNDS = 8
SIZE = 24
PLACES = [
    b"%sPLACEHOLDERxxxxxxxxxxxxxxxxxxxxxx"[: SIZE + 2] % kind
    for kind in (b"F", b"G", b"S", b"D", b"T")
]
FUNCTION, LEFT_OUT, SECTION, SOURCE, THREAD = PLACES

# General category Cc; property Bidi_Control; line and paragraph separator.
HARMFUL = [
    *range(0x20),
    *range(0x7F, 0xA0),
    0x61C,
    0x200E,
    0x200F,
    0x2028,
    0x2029,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
]
IN_TEXT = re.compile(
    "[" + "".join(re.escape(chr(code)) for code in HARMFUL if code != ord("\n")) + "]"
)

SOURCE_TEXT = """
        .text
        .globl _start
        .type _start,@function
_start: .cfi_startproc
        .cfi_undefined rip
        movl $157, %eax                 # prctl(PR_SET_NAME)
        movl $15, %edi
        leaq thread(%rip), %rsi
        syscall
        call FUNCTION
        hlt
        .cfi_endproc
        .size _start, .-_start

        .globl FUNCTION
        .type FUNCTION,@function
FUNCTION: .cfi_startproc
        pushq %rbx
        .cfi_def_cfa_offset OFFSET
        movl $1, %eax                   # write(1, thread, 1): it is there
        movl $1, %edi
        leaq thread(%rip), %rsi
        movl $1, %edx
        syscall
again:  movl $34, %eax                  # pause()
        syscall
        jmp again
        popq %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size FUNCTION, .-FUNCTION

        .section "SECTION","ax",@progbits
        .globl LEFT_OUT
        .type LEFT_OUT,@function
LEFT_OUT: .cfi_startproc
        .cfi_def_cfa rax, 8
        nop
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size LEFT_OUT, .-LEFT_OUT

        .data
thread: .asciz "THREAD"
"""


def random_name(source, size, forbidden=b"\0"):
    """So many bytes, none of them forbidden."""
    name = b""
    kind = source.randrange(3)
    while len(name) < size:
        if kind == 0:
            piece = bytes([source.randrange(1, 256)])
        elif kind == 1:
            piece = chr(
                source.choice(HARMFUL + [0xE9, 0x4E2D, 0x1F600, 0x22, 0x3C, 0x26, 0x5C, 0x3B])
            ).encode()
        else:
            piece = source.choice(
                [
                    b"\x1b[31m",
                    b"\x1b]0;x\x07",
                    b"\x9b31m",
                    "\u202e".encode(),
                    b"]]>",
                    b"</g>",
                    b'"',
                    b"&#1;",
                    b"a",
                    b"\r",
                    b"\n",
                    b"\xff",
                ]
            )
        if len(name) + len(piece) <= size and not any(byte in forbidden for byte in piece):
            name += piece
        elif size - len(name) < 4:
            name += b"x"
    return name


def run(*command, data=None, expect=(0, 1)):
    result = subprocess.run(command, capture_output=True, input=data)
    assert result.returncode in expect, (command, result.returncode, result.stderr)
    check_text(command, result.stderr)
    return result.stdout


def check_text(command, output):
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        raise AssertionError(
            (command, output[max(0, error.start - 200) : error.end + 20])
        ) from None
    if b"--color=always" in command or "--color=always" in command:
        text = re.sub("\x1b\\[[0-9;]*m", "", text)
    bad = IN_TEXT.search(text)
    assert not bad, (command, bad, text[max(0, bad.start() - 60) : bad.end() + 20])


def as_json(name):
    """The name as JSON gives it back, or None where it cannot."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None


def strings(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def check_json(command, names=()):
    output = run(*command)
    check_text(command, output)
    found = list(strings(json.loads(output)))
    for name in names:
        text = as_json(name)
        assert text is None or any(text in value for value in found), (command, text, found)


def check_page(command, names=()):
    path = os.path.join(FOLDER, "page.html")
    with open(path, "wb") as file:
        file.write(run(*command))
    found = list(strings(check_page_module.load(path)[0]))
    for name in names:
        text = as_json(name)
        assert text is None or any(text in value for value in found), (command, text, found)


def assemble(cfa_offset, path):
    text = SOURCE_TEXT.replace("OFFSET", str(cfa_offset))
    for word, place in (
        ("FUNCTION", FUNCTION),
        ("SECTION", SECTION),
        ("LEFT_OUT", LEFT_OUT),
        ("THREAD", THREAD),
    ):
        text = text.replace(word, place.decode())
    text = text.replace("        .text", '        .file "%s"\n        .text' % SOURCE.decode(), 1)
    with open(path + ".s", "w") as file:
        file.write(text)
    run(
        "llvm-mc",
        "-triple=x86_64-linux-gnu",
        "-filetype=obj",
        "-g",
        "-o",
        path,
        path + ".s",
        expect=(0,),
    )


def with_names(template, names, path):
    with open(template, "rb") as file:
        data = file.read()
    for place, name in zip(PLACES, names):
        data = data.replace(place, name)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)


def archive(path, member, data):
    """One member with a long name."""
    header = lambda name, size: b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", size)
    table = member + b"/\n"
    with open(path, "wb") as file:
        file.write(
            b"!<arch>\n"
            + header(b"//", len(table))
            + table
            + b"\n" * (len(table) % 2)
            + header(b"/0", len(data))
            + data
        )


def dump_all(path, names):
    for format in ("text", "gnu"):
        command = ["sframe-dump", "--format=" + format, path]
        check_text(command, run(*command))
    check_json(["sframe-dump", "--format=json", path], names)
    command = ["sframe-dump", "--color=always", path]
    check_text(command, run(*command))
    command = ["sframe-dump", "--stats", path]
    check_text(command, run(*command))
    check_json(["sframe-dump", "--stats", "--format=json", path])
    check_page(["sframe-dump", "--stats", "--format=html", path])


def files():
    plain, other = os.path.join(FOLDER, "plain.o"), os.path.join(FOLDER, "other.o")
    assemble(16, plain)
    assemble(24, other)  # what .sframe is made from: its rows contradict the CFI
    for version in ("2", "3"):
        run("sframe-gen", "--sframe-version=" + version, "-q", other, "-o", other + version)
        run("sframe-gen", "--sframe-version=" + version, "-q", plain, "-o", plain + version)
    # In the object, rows and CFI differ: .eh_frame of one, .sframe of the other.
    run("llvm-objcopy", "--dump-section=.eh_frame=" + plain + ".eh_frame", plain, expect=(0,))
    run(
        "llvm-objcopy",
        "--update-section=.eh_frame=" + plain + ".eh_frame",
        other + "3",
        plain + ".differs",
        expect=(0,),
    )

    for number in range(ROUNDS):
        source = random.Random(number)
        names = [random_name(source, len(place)) for place in PLACES]
        folder = os.fsencode(FOLDER) + b"/"
        odd = lambda suffix: folder + random_name(source, 20, b"\0/") + suffix
        for template in (plain + "2", plain + "3"):
            path = odd(b".o")
            with_names(template, names, path)
            dump_all(path, names[:1])
            if template.endswith("2"):
                command = ["sframe-dump", "--format=llvm", path]
                check_text(command, run(*command))
            library = odd(b".a")
            member = random_name(source, 30, b"\0\n/")
            with open(path, "rb") as file:
                archive(library, member, file.read())
            dump_all(library, names[:1])
            for format in ("text", "json", "sarif"):
                command = ["sframe-verify", "--format=" + format, library]
                check_text(command, run(*command))

        path = odd(b".o")
        with_names(plain + ".differs", names, path)
        for color in ("never", "always"):
            command = ["sframe-verify", "--color=" + color, path]
            output = run(*command, expect=(1,))
            assert b"C1" in output, output
            check_text(command, output)
        for format in ("json", "sarif"):
            check_json(["sframe-verify", "--format=" + format, path], names[:1])
        check_page(["sframe-verify", "--format=html", path], names[:1])

        path = odd(b".o")
        with_names(plain, names, path)
        command = [
            "sframe-gen",
            "-v",
            "--report=text",
            "--sframe-version=2",
            path,
            "-o",
            odd(b".out"),
        ]
        check_text(command, run(*command))
        report = os.path.join(FOLDER, "report")
        run(
            "sframe-gen",
            "--report=json",
            "--report-file",
            report,
            "--sframe-version=2",
            path,
            "-o",
            odd(b".out"),
        )
        with open(report, "rb") as file:
            output = file.read()
        check_text(("report",), output)
        found = list(strings(json.loads(output)))
        assert as_json(names[1]) is None or as_json(names[1]) in found, (names, found)

        # Files that are not there, and arguments that are no option.
        for tool in ("sframe-dump", "sframe-verify", "sframe-unwind"):
            run(tool, odd(b".missing"), expect=(2,))
            run(tool, b"--" + random_name(source, 12), expect=(2,))


def live():
    template = os.path.join(FOLDER, "program")
    assemble(16, template + ".o")
    run("ld", "-o", template, template + ".o", expect=(0,))
    for number in range(ROUNDS):
        source = random.Random(1000 + number)
        names = [random_name(source, len(place)) for place in PLACES]
        program = os.fsencode(FOLDER) + b"/" + random_name(source, 20, b"\0/")
        with_names(template, names, program)
        process = subprocess.Popen([program], stdout=subprocess.PIPE)
        try:
            assert process.stdout.read(1)  # it waits now, under its name
            pid = str(process.pid)
            for format in ("text", "folded", "svg"):
                command = ["sframe-unwind", "--pid", pid, "--format=" + format]
                output = run(*command)
                assert len(output) > 20, output
                check_text(command, output)
                if format == "svg":
                    xml.fromstring(output)
            check_json(["sframe-unwind", "--pid", pid, "--format=json"], names[:1])
            check_json(["sframe-unwind", "--pid", pid, "--format=json", "--source"])
            check_page(["sframe-unwind", "--pid", pid, "--format=html"], names[:1])
            for option in ("--source", "--color=always", "--modules"):
                command = ["sframe-unwind", "--pid", pid, option]
                check_text(command, run(*command, expect=(0, 1, 2)))
        finally:
            process.kill()
            process.wait()


{"files": files, "live": live}[PART]()
