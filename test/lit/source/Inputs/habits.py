"""habits.py PROJECT: two habits of the C++ sources. A source of 150 lines or more opens with a
comment about what it is for. No `return` has a comma operator: `return report(why), false;` hides
that two things happen; they are two statements, or a function that does both."""
import os
import re
import sys

import cpp_sources

MANY_LINES = 150
FOLDERS = ["bench", "examples", "fuzz", "interfaces", "lib", "libsframe", "test", "tools"]
OPENING = ["interfaces", "lib", "libsframe", "tools"]
TEMPLATE = re.compile(r"\b\w+<[\w:<>,*&\s]*>")


def has_comma(code, start):
    """True if the expression that begins at `start` has a comma outside of all brackets."""
    depth = 0
    for character in code[start:]:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and character == ";"):
            return False
        if depth == 0 and character == ",":
            return True
    return False


def faults(path, text):
    lines = text.splitlines()
    opens = len(lines) > 1 and lines[1] == "//"
    if (
        path.endswith(".cc")
        and path.split(os.sep)[0] in OPENING
        and len(lines) >= MANY_LINES
        and not opens
    ):
        yield f"{path}: {len(lines)} lines, and no comment at the start about what they are for"
    code = TEMPLATE.sub(cpp_sources.blank, cpp_sources.code_of(text))
    for match in re.finditer(r"\breturn\b", code):
        if has_comma(code, match.end()):
            line = code[: match.start()].count("\n") + 1
            yield f"{path}:{line}: a comma operator in a return"


project = sys.argv[1]
found = []
count = 0
for path in cpp_sources.sources(project, FOLDERS):
    with open(os.path.join(project, path), encoding="utf-8") as file:
        found += faults(path, file.read())
    count += 1
print(*found, sep="\n", end="\n" if found else "")
print(f"{count} sources, {len(found)} faults")
sys.exit(1 if found or not count else 0)
