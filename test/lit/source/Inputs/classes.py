"""classes.py PROJECT [--all]: how many member functions each class has, those that the class only
declares included, constructors and operators too. At most MOST, except for those in EXCEPTIONS,
each with its reason and how many it may have. --all prints the largest classes."""
import os
import re
import sys

import cpp_sources

MOST = 30
EXCEPTIONS = {
    "lib/cfi/src/expression.cc:StackMachine": (
        40,
        "a function for each group of DWARF's operations",
    ),
    "lib/code/src/amd64/decoder.h:Translator": (33, "a function for each group of instructions"),
    "lib/elf/include/sframe/elf/image.h:Image": (
        47,
        "answers about an ELF file, most of them one line",
    ),
    "lib/variables/src/format.h:Formatter": (34, "a function for each kind of type"),
    "lib/verify/include/sframe/verify/input.h:Input": (
        37,
        "answers about an input, most of them one line",
    ),
    "libsframe/include/sframe/builder.h:Builder": (
        48,
        "what the optimizer does with encoded rows included",
    ),
    "tools/sframe-unwind/json.cc:JsonPrinter": (35, "a function for each object of the report"),
    "tools/sframe-unwind/text.cc:TextPrinter": (39, "a function for each part of the report"),
}
TOP = ["interfaces", "lib", "libsframe", "tools"]
CLASS = re.compile(
    r"\b(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*|SFRAME_\w+\s+)*([\w:]+(?:<[^<>;{}]*>)?)\s*(?:final\s*)?(?::[^;{}()]*)?\{"
)
NOT_A_FUNCTION = re.compile(
    r"^\s*(?:friend|using|typedef|static_assert|public|private|protected|enum|extern)\b"
)


def end_of(code, start):
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return len(code)


def members(body):
    """The members of a class, each without what is in braces."""
    text = ""
    place = 0
    while place < len(body):
        if body[place] == "{":
            place = end_of(body, place)
            # What follows a function's body is another member; a value's braces end with a
            # semicolon.
            text += "{}" + ("" if re.match(r"\s*[;,)]", body[place + 1 :]) else ";")
        else:
            text += body[place]
        place += 1
    text = re.sub(r"\b(?:public|private|protected)\s*:", "", text)
    return text.split(";")


def is_function(member):
    member = re.sub(r"\[\[.*?\]\]", "", member).strip()
    member = re.sub(r"^template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*", "", member)
    if not member or NOT_A_FUNCTION.match(member):
        return False
    if re.search(r"\b(?:class|struct|union)\s+[\w:]+\s*(?:final\s*)?(?::[^:]|\{)", member):
        return False
    # A function's name comes before the first bracket, and no `=` does, except that of an operator.
    head = re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "", member).split("(")[0]
    if "(" not in re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "", member):
        return False
    return "operator" in head or (
        "=" not in head and "{" not in head and re.search(r"[\w~]\s*$", head)
    )


def classes(path, text):
    code = cpp_sources.code_of(text, [cpp_sources.PREPROCESSOR])
    for match in CLASS.finditer(code):
        start = match.end() - 1
        body = code[start + 1 : end_of(code, start)]
        yield path, match.group(1), sum(1 for member in members(body) if is_function(member))


project = sys.argv[1]
found = []
for source in cpp_sources.sources(project, TOP):
    with open(os.path.join(project, source), encoding="utf-8") as file:
        found += classes(source, file.read())
if "--all" in sys.argv:
    for path, name, count in sorted(found, key=lambda one: -one[2])[:25]:
        print(f"{count:4} {name} ({path})")
faults = []
unused = {name for name in EXCEPTIONS if os.path.exists(os.path.join(project, name.split(":")[0]))}
for path, name, count in found:
    most, _ = EXCEPTIONS.get(f"{path}:{name}", (MOST, ""))
    if count > MOST:
        unused.discard(f"{path}:{name}")
    if count > most:
        faults.append(f"{path}: {name} has {count} member functions, more than {most}")
faults += [f"{name} needs no exception" for name in sorted(unused)]
print(*faults, sep="\n", end="\n" if faults else "")
print(f"{len(found)} classes, {len(faults)} faults")
sys.exit(1 if faults or not found else 0)
