#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the pages of section 3 from the comments of the C interface's headers: a page per header,
sframe-c-NAME.3, and for common.h sframe-c.3; a link per function.

    man3.py VERSION FOLDER HEADER...      writes FOLDER/man3/*.3
"""
import os
import re
import sys

sys.dont_write_bytecode = True
from pages import roff  # noqa: E402


def page_of(header):
    name = os.path.splitext(os.path.basename(header))[0]
    return "sframe-c" if name == "common" else "sframe-c-" + name


def text_of(comment):
    """The lines of a comment without its marks."""
    lines = comment[2:-2].splitlines()
    return [
        re.sub(r"^ ?\*? ?" if line.startswith(" *") else r"^   ", "", line).rstrip()
        for line in lines
    ]


def without_boilerplate(text):
    """The declarations, without include guards and what is for C++ only."""
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"#(ifndef|define) SFRAME_C_\w+_H\n", "", text)
    text = re.sub(r"#include .*\n", "", text)
    return re.sub(r"\n#endif\n\Z", "\n", text)


def parse(path):
    """The introduction, and the titled parts: lists of (comment, declarations)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    introduction, text = re.match(r"/\*.*?\*/\n(/\*.*?\*/)\n(.*)", text, re.S).groups()
    parts = [("Declarations", [])]
    # Blocks are separated by empty lines.
    for block in re.split(r"\n\n+", without_boilerplate(text).strip()):
        title = re.fullmatch(r"/\* --- (.*) --- \*/", block)
        if title:
            parts.append((title.group(1), []))
            continue
        # Each comment at the start of a line with what follows it.
        for piece in re.split(r"^(?=/\*)", block, flags=re.M):
            comment, declarations = re.match(r"(/\*.*?\*/\n)?(.*)", piece, re.S).groups()
            if declarations:
                parts[-1][1].append(((comment or "").strip(), declarations.strip("\n")))
    return text_of(introduction), [part for part in parts if part[1]]


def paragraphs(lines):
    """Text for roff: lines that are indented are examples."""
    out, example = [], False
    for line in lines:
        indented = line.startswith("  ")
        if not line:
            out.append(".PP" if not example else "")
            continue
        if indented != example:
            out += [".nf" if indented else ".fi"]
            example = indented
        out.append(roff(line))
    while out and out[-1] in (".PP", ""):
        out.pop()
    return out + ([".fi"] if example else [])


def functions_of(declarations):
    return re.findall(
        r"^[a-z][^;{}()]*?\b(sframe_\w+)\(",
        re.sub(r"^typedef .*?;$", "", declarations, flags=re.S | re.M),
        re.M,
    )


def page(path, version, others):
    name = page_of(path)
    introduction, parts = parse(path)
    while not introduction[0]:
        introduction.pop(0)
    summary = re.match(r"(.*?)[.:](?:\s|$)", " ".join(introduction)).group(1)
    functions = [
        function
        for _, items in parts
        for _, declarations in items
        for function in functions_of(declarations)
    ]
    out = [
        '.TH %s 3 "" "sframe-utils %s" "Library Functions"' % (name.upper(), version),
        ".SH NAME",
        "%s \\- %s" % (roff(", ".join([name] + functions)), roff(summary[0].lower() + summary[1:])),
        ".SH SYNOPSIS",
        ".nf",
        roff("#include <sframe/c/%s>" % os.path.basename(path)),
        "",
        roff("cc ... $(pkg-config --cflags --libs sframe-c)"),
        ".fi",
        ".SH DESCRIPTION",
    ] + paragraphs(introduction)
    for title, items in parts:
        out.append(".SH " + roff(title.upper()))
        for comment, declarations in items:
            out += [".PP", ".nf"] + [roff(line) for line in declarations.splitlines()] + [".fi"]
            if comment:
                out += [".RS 4"] + paragraphs([line.strip() for line in text_of(comment)]) + [".RE"]
    out += [
        ".SH SEE ALSO",
        ",\n".join("\\fB%s\\fR(3)" % roff(other) for other in others if other != name),
    ]
    return functions, "\n".join(out) + "\n"


def main():
    version, folder, headers = sys.argv[1], os.path.join(sys.argv[2], "man3"), sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    others = sorted(page_of(header) for header in headers)
    for header in headers:
        functions, text = page(header, version, others)
        pages = {page_of(header): text}
        pages.update((function, ".so man3/%s.3\n" % page_of(header)) for function in functions)
        for name, contents in pages.items():
            with open(os.path.join(folder, name + ".3"), "w", encoding="utf-8") as file:
                file.write(contents)


main()
