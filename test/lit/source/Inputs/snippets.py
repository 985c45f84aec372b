"""Writes each block of a page that is fenced as LANGUAGE into a file of its own: snippets.py PAGE
LANGUAGE DIRECTORY SUFFIX. A block is at the line of its page that a compiler's message names."""
import os
import sys

page, language, directory, suffix = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    lines = file.read().split("\n")

number = 0
while number < len(lines):
    if lines[number] == "```" + language:
        end = lines.index("```", number)
        with open(
            os.path.join(directory, "%03d%s" % (number + 1, suffix)), "w", encoding="utf-8"
        ) as snippet:
            snippet.write(
                '#line %d "%s"\n%s\n'
                % (number + 2, os.path.basename(page), "\n".join(lines[number + 1 : end]))
            )
        number = end
    number += 1
