"""Compares the bytes in docs/primer.md and its figure with the sections that they are of: primer.py
PAGE FIGURE INPUTS. A block of the page begins with a line "FILE, .sframe at ADDRESS"; its lines are
offset, bytes, what they mean."""
import os
import re
import subprocess
import sys
import tempfile

page_path, figure_path, inputs = sys.argv[1:]
problems = []
compared = 0


def section(name):
    """The bytes of a file's .sframe, and its address."""
    path = os.path.join(inputs, name)
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "copy")
        subprocess.run(
            ["llvm-objcopy", "-O", "binary", "--only-section=.sframe", path, copy], check=True
        )
        with open(copy, "rb") as file:
            contents = file.read()
    headers = subprocess.run(
        ["llvm-readelf", "-SW", path], check=True, capture_output=True, text=True
    ).stdout
    return contents, int(re.search(r"\.sframe +\S+ +([0-9a-f]+)", headers)[1], 16)


def compare(name, address, places):
    global compared
    contents, found = section(name)
    if int(address, 16) != found:
        problems.append("%s: .sframe is at 0x%x, not %s" % (name, found, address))
    for offset, shown in places:
        wanted, start = bytes.fromhex(shown), int(offset, 16)
        compared += len(wanted)
        if contents[start : start + len(wanted)] != wanted:
            problems.append(
                "%s: at %s is %s, not %s"
                % (name, offset, contents[start : start + len(wanted)].hex(" "), shown)
            )


HEADING = r"([\w./-]+), \.sframe at (0x[0-9a-f]+)"
PLACE = r"(0x[0-9a-f]+) +((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)"
for block in re.findall(r"(?ms)^```text\n(.*?)^```", open(page_path, encoding="utf-8").read()):
    if heading := re.match(HEADING, block):
        compare(*heading.groups(), re.findall(r"(?m)^  " + PLACE, block))
figure = open(figure_path, encoding="utf-8").read()
compare(
    *re.search(HEADING, figure).groups(),
    re.findall(r'data-at="(0x[0-9a-f]+)"[^>]*>([0-9a-f ]+)<', figure),
)

print("\n".join(problems) or "%d bytes are as in the files" % compared)
sys.exit(bool(problems))
