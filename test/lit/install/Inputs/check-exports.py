"""check-exports.py PREFIX: the shared libraries in C++ export what the installed headers declare,
and nothing else.

Prints a line for each library with the number of its functions and variables.
"""
import pathlib
import re
import subprocess
import sys

prefix = pathlib.Path(sys.argv[1])
headers = "\n".join(path.read_text() for path in sorted((prefix / "include/sframe").rglob("*.h")))
headers = re.sub(r"//[^\n]*", "", headers)
headers = re.sub(r"\btemplate\s*<[^<>]*(?:<[^<>]*>[^<>]*)*>", "", headers)
words = set(re.findall(r"\w+", headers))
defined = set(re.findall(r"\b(?:class|struct|union)\s+(\w+)[^;{}()]*\{", headers))
namespaces = {
    name
    for names in re.findall(r"\bnamespace\s+([\w:]+)\s*\{", headers)
    for name in names.split("::")
}


def without_arguments(name):
    """The name of a function without template arguments, parameters and what follows."""
    depth, kept = 0, ""
    for character in name:
        if character in "(<" and not kept.endswith("operator"):
            depth += 1
        elif character in ")>" and depth:
            depth -= 1
        elif depth == 0:
            kept += character
    return re.split(r"@| const\b", kept)[0].split(" ")[
        -1
    ]  # without the result of a template's instance


wrong = False
for library in (
    "sframe++",
    "sframe-unwind",
    "sframe-here",
    "sframe-jit",
    "sframe-jit-check",
    "sframe-walk",
):
    path = prefix / "lib" / f"lib{library}.so"
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", "-C", path], check=True, capture_output=True, text=True
    ).stdout
    count = 0
    for line in listing.splitlines():
        kind, name = line[17], line[19:]
        if (
            kind == "A" or kind in "WV" and not name.startswith("sframe::")
        ):  # the version; instances of templates
            continue
        plain = re.sub(
            r"^(vtable|typeinfo|typeinfo name|guard variable|non-virtual thunk) (for|to) ", "", name
        )
        if kind in "WV" and " std::" in plain:
            continue
        if not name.endswith("@@SFRAME_0"):
            print(f"{library}: without a version: {name}")
            wrong = True
        count += 1
        parts = without_arguments(plain).split("::")
        unknown = [part for part in parts[:-1] if part not in namespaces and part not in defined]
        last = parts[-1].lstrip("~").split("[")[0]
        is_c = len(parts) == 1 and "(" not in plain  # what debuggers look for by a name in C
        if (
            not (is_c or parts[0] == "sframe")
            or unknown
            or not (last in words or last.startswith("operator"))
        ):
            print(f"{library}: not in a public header: {name}")
            wrong = True
    print(f"{library}: {count}")
sys.exit(wrong)
