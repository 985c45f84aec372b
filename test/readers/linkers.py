# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/readers linkers: what linkers make of objects with .sframe by GNU as and by sframe-gen,
and whether sframe-gen mends the linked file.

Linkers: those of this system, of SFRAME_PEERS (a folder of folders VERSION/bin/ld, with as next to
it), and those in the cache folder's root sid/ (scripts/readers glibc makes it; its packages mold
and lld). What is not there is named and skipped."""

import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

from common import HERE, ROOT, Missing, grouped, note, print_table, run, table, write_table

EXPECTED = {"link_dynamic", "link_one", "link_other"}  # that each linked file has
WITH_COMDAT = {"main", "_Z5otheri"}
MODES = (  # name, options of the linker driver, options of the compiler
    ("executable", [], []),
    ("`-r` first", ["-r"], []),
    ("`--gc-sections`", ["-Wl,--gc-sections"], ["-ffunction-sections"]),
    ("COMDAT", [], []),
    ("`-static-pie`", ["-static-pie"], []),
    ("`-shared`", ["-shared"], []),
)


def version_of(command):
    try:
        text = subprocess.run([*command, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return None
    line = text.splitlines()[0] if text else ""
    if re.search(r"\bmold\b", line):
        return "mold " + re.search(r"mold (\d[\d.]*)", line).group(1)
    if "LLD" in line:
        return "lld " + re.search(r"LLD (\d[\d.]*)", line).group(1)
    if re.match(r"[Ww]ild", line):
        return "wild " + re.search(r"(\d[\d.]*)", line).group(1)
    found = re.search(r"GNU ld .*?(\d+\.\d+)((?:\.\d+)*)$", line.strip())
    if found:
        # 2.47.50.DATE is the way to 2.48.
        return (
            "GNU ld "
            + found.group(1)
            + (found.group(2)[:3] if found.group(2).startswith((".5", ".9")) else "")
        )
    return None


def in_root(root, path):
    """A command that runs a program of another root, with its libraries."""
    library = os.path.join(root, "usr/lib/x86_64-linux-gnu")
    llvm = ":".join(glob.glob(os.path.join(root, "usr/lib/llvm-*/lib")))
    return [
        os.path.join(library, "ld-linux-x86-64.so.2"),
        "--library-path",
        library + (":" + llvm if llvm else ""),
        path,
    ]


def linkers(cache):
    """Distinct linkers by version: name and command."""
    peers = os.environ.get("SFRAME_PEERS") or os.path.expanduser("~/.cache/sframe-peers")
    commands = [[path] for path in sorted(glob.glob(os.path.join(peers, "*/bin/ld")))]
    commands += [
        [path]
        for name in ("ld.bfd", "mold", "ld.lld", "wild")
        for path in [shutil.which(name)]
        if path
    ]
    commands += [[path] for path in sorted(glob.glob("/usr/lib/llvm-*/bin/ld.lld"))]
    root = os.path.join(cache, "sid")
    for name in (
        "mold",
        "wild",
        "ld.lld",
        *(os.path.basename(p) for p in glob.glob(os.path.join(root, "usr/bin/ld.lld-*"))),
    ):
        path = os.path.join(root, "usr/bin", name)
        if os.path.exists(path):
            commands.append(
                in_root(root, os.path.realpath(path) if not os.path.islink(path) else path)
            )
    found = {}
    for command in commands:
        name = version_of(command)
        if name:
            found.setdefault(name, command)
    for wanted in (
        "GNU ld 2.44",
        "GNU ld 2.45",
        "GNU ld 2.46",
        "GNU ld 2.47",
        "mold",
        "lld 22",
        "wild",
    ):
        if not any(name.startswith(wanted) for name in found):
            note("skipped: no " + wanted)

    def order(name):
        return name.split()[0], [int(n) for n in re.findall(r"\d+", name)]

    return sorted(found.items(), key=lambda item: order(item[0]))


def assemblers():
    """GNU as by the version of SFrame that it writes: {2: path, 3: path}."""
    peers = os.environ.get("SFRAME_PEERS") or os.path.expanduser("~/.cache/sframe-peers")
    found = {}
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(glob.glob(os.path.join(peers, "*/bin/as"))) + [
            p for p in [shutil.which("as")] if p
        ]:
            target = os.path.join(work, "a.o")
            done = subprocess.run(
                [path, "--gsframe", "-o", target],
                input=".cfi_startproc\nnop\n.cfi_endproc\n",
                capture_output=True,
                text=True,
            )
            if done.returncode == 0:
                sections = sections_of(target)
                if sections:
                    found.setdefault(sections[0]["version"], path)
    return found


tools = None


def sections_of(path):
    done = subprocess.run(
        [tools.path("sframe-dump"), "--format=json", path], capture_output=True, text=True
    )
    try:
        return [s for f in json.loads(done.stdout)["files"] for s in f.get("sections", [])]
    except (ValueError, KeyError):
        return []


def objects(folder, assembler, kind, version, flags, sources):
    """Compiles; the .sframe is by GNU as (kind gas) or by sframe-gen. None if it cannot be made."""
    made = []
    for source, more in sources:
        name = os.path.join(folder, os.path.basename(source).rsplit(".", 1)[0])
        compiler = "g++" if source.endswith(".cc") else "gcc"
        run([compiler, "-O2", *flags, *more, "-S", source, "-o", name + ".s"])
        if kind == "gas":
            run([assembler, "--gsframe", name + ".s", "-o", name + ".o"])
        else:
            run([compiler, "-c", name + ".s", "-o", name + ".plain.o"])
            run(
                [
                    tools.path("sframe-gen"),
                    name + ".plain.o",
                    "-o",
                    name + ".o",
                    "--report=none",
                    "-q",
                    "--sframe-version=%d" % version,
                ]
            )
        made.append(name + ".o")
    return made


def plt_ranges(path):
    """The addresses of the linker's own code."""
    listed = run(["readelf", "-SW", path])
    return [
        (int(start, 16), int(start, 16) + int(size, 16))
        for start, size in re.findall(
            r"\] \.i?plt\S* +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", listed
        )
    ]


def wrong(path):
    """None, "PLT wrong" if all errors of sframe-verify are at the linker's own code, or the first
    error."""
    done = subprocess.run(
        [tools.path("sframe-verify"), "-q", "--check=structure,cfi", "--format=json", path],
        capture_output=True,
        text=True,
    )
    try:
        errors = [
            f
            for entry in json.loads(done.stdout)["files"]
            for f in entry["findings"]
            if f["severity"] == "error"
        ]
    except (ValueError, KeyError):
        return "unreadable"
    if not errors:
        return None
    ranges = plt_ranges(path)
    if all(
        f.get("pc") and any(start <= int(f["pc"].split("-")[0], 16) < end for start, end in ranges)
        for f in errors
    ):
        return "PLT wrong"
    return "wrong (%s)" % errors[0]["id"]


def names_of(path, sections):
    """The names of the functions with rows, without what follows a dot."""
    return {f["name"].split(".")[0] for s in sections for f in s.get("functions", [])}


def result(path, expected):
    sections = sections_of(path)
    if not sections:
        return "dropped"
    finding = wrong(path)
    if finding and finding != "PLT wrong":
        return finding
    if not expected <= names_of(path, sections):
        return "dropped"
    return finding or ("right" if len(sections) == 1 else "concatenated")


def mended(path, expected):
    """Whether sframe-gen after the link makes a right section."""
    target = path + ".mended"
    done = subprocess.run(
        [tools.path("sframe-gen"), path, "-o", target, "--report=none", "-q"],
        capture_output=True,
        text=True,
    )
    return done.returncode == 0 and result(target, expected) == "right"


def link(folder, linker, inputs, options, comdat):
    """The linked file and the linker's messages; the file is None if the link failed."""
    output = os.path.join(folder, "output")
    driver = "g++" if comdat else "gcc"
    messages = ""
    if "-r" in options:
        combined = os.path.join(folder, "combined.o")
        done = subprocess.run(
            [driver, "-B" + linker, "-r", *inputs, "-o", combined], capture_output=True, text=True
        )
        messages += done.stderr
        if done.returncode:
            return None, messages
        inputs, options = [combined], []
    done = subprocess.run(
        [driver, "-B" + linker, *inputs, *options, "-o", output], capture_output=True, text=True
    )
    return (output if done.returncode == 0 else None), messages + done.stderr


def main(arguments, programs):
    global tools
    tools = programs
    found = linkers(arguments.cache)
    if not found:
        raise Missing("no linker")
    by = assemblers()
    kinds = [("GNU as, version %d" % v, "gas", v, by[v]) for v in (2, 3) if v in by] + [
        ("sframe-gen, version %d" % v, "gen", v, None) for v in (2, 3)
    ]
    for version in (2, 3):
        if version not in by:
            note("skipped: no GNU as that writes version %d (set SFRAME_PEERS)" % version)
    rows, texts, bad = [], {}, 0
    plain = [
        (os.path.join(HERE, "linkers/one.c"), ["-DMAIN"]),
        (os.path.join(HERE, "linkers/two.c"), []),
    ]
    comdat = [
        (os.path.join(ROOT, "test/lit/gen/Inputs/object-%s.cc" % n), []) for n in ("one", "two")
    ]
    with tempfile.TemporaryDirectory() as work:
        for name, command in found:
            linker = tempfile.mkdtemp(dir=work)
            with open(os.path.join(linker, "ld"), "w") as file:
                file.write(
                    '#!/bin/sh\nexec %s "$@"\n' % " ".join("'%s'" % part for part in command)
                )
            os.chmod(os.path.join(linker, "ld"), 0o755)
            for title, kind, version, assembler in kinds:
                cells, mends = [], []
                for mode, options, flags in MODES:
                    folder = tempfile.mkdtemp(dir=work)
                    with_comdat = mode == "COMDAT"
                    expected = WITH_COMDAT if with_comdat else EXPECTED
                    inputs = objects(
                        folder,
                        assembler,
                        kind,
                        version,
                        ["-fPIC" if "-shared" in options else "-fPIE", *flags],
                        comdat if with_comdat else plain,
                    )
                    output, messages = link(folder, linker, inputs, options, with_comdat)
                    if not output:
                        cells.append("error")
                        texts.setdefault(
                            (name, title, mode),
                            messages.strip().splitlines()[0] if messages.strip() else "",
                        )
                        # Without .sframe in the objects the link is what it always was.
                        for path in inputs:
                            run(["objcopy", "-R", ".sframe", "-R", ".rela.sframe", path])
                        output, _ = link(folder, linker, inputs, options, with_comdat)
                    else:
                        cells.append(result(output, expected))
                        warning = [
                            line
                            for line in messages.splitlines()
                            if "sframe" in line.lower() or "SFrame" in line
                        ]
                        if warning:
                            texts.setdefault((name, title, mode), warning[0])
                    mends.append("right" if output and mended(output, expected) else "wrong")
                    bad += mends[-1] != "right"
                    shutil.rmtree(folder)
                rows.append(
                    (
                        name,
                        title,
                        *cells,
                        "right"
                        if set(mends) == {"right"}
                        else "wrong in "
                        + ", ".join(m[0] for m, x in zip(MODES, mends) if x != "right"),
                    )
                )
    head = ("linker", "objects by", *(mode for mode, _, _ in MODES), "`sframe-gen` after the link")
    print_table(tuple(cell.replace("`", "") for cell in head), rows)
    by_text = {}
    for (name, title, mode), text in texts.items():
        text = re.sub(r"\b[\w-]+\.o\b|section: \S+", "...", re.sub(r"\S*/", "", text))[:160]
        by_text.setdefault((name, text), []).append("%s, %s" % (title, mode.replace("`", "")))
    for (name, text), where in by_text.items():
        print("%s: %s (%d times, first: %s)" % (name, text, len(where), where[0]))
    if arguments.markdown:
        write_table(
            "dev/readers.md",
            "linkers",
            ["Tried on %s." % datetime.date.today(), ""]
            + table(head, grouped(grouped(rows, 1, "; "), 0)),
        )
    return 1 if bad else 0
