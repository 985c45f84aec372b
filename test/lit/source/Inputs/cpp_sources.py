"""The C++ sources of the project, for checks of their text."""
import os
import re

NO_CODE = r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
PREPROCESSOR = r"^[ \t]*\#(?:[^\n\\]|\\\n)*"


def sources(project, folders):
    """The files below these folders, as paths from the project."""
    for folder in folders:
        for root, _, names in os.walk(os.path.join(project, folder)):
            for name in sorted(names):
                if name.endswith((".cc", ".h")):
                    yield os.path.relpath(os.path.join(root, name), project)


def blank(match):
    """The same lines, without anything that could be taken for code."""
    return re.sub(r"[^\n]", "_", match.group())


def code_of(text, without=()):
    """The text without comments and literals, and without matches of `without`."""
    pattern = "|".join([NO_CODE, *without])
    return re.sub(pattern, blank, text, flags=re.DOTALL | re.MULTILINE)
