"""named_files.py PROJECT: every file and folder of the project that a page names exists, and every
heading to which one links. A page names a file by a link, or by its path from the project's folder;
a name may have * in it."""
import glob
import os
import re
import sys

project = sys.argv[1]
TOP = [
    name
    for name in os.listdir(project)
    if os.path.isdir(os.path.join(project, name)) and name[0] != "." and name != "build"
]
ELSEWHERE = {
    "lib/ld-linux-x86-64.so.2",  # a machine's
    "lib/sframe-gnu",  # where it is installed
    "libsframe/testsuite",  # binutils'
    "libsframe/src/format/vN.cc",  # that of version N
}
PATH = re.compile(r"(?<![\w/.~$%%<:-])((?:%s)/[\w./*{},-]*\w\*?)(?![\w/]*[<$])" % "|".join(TOP))
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def pages():
    for root, folders, names in os.walk(project):
        folders[:] = [
            name
            for name in folders
            if name[0] != "." and os.path.join(root, name) != os.path.join(project, "build")
        ]
        for name in names:
            if name.endswith(".md"):
                yield os.path.join(root, name)


def anchors(page):
    """As GitHub makes them of headings."""
    with open(page, encoding="utf-8") as file:
        headings = re.findall(r"^#+ (.*)$", file.read(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def wrong(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for target, anchor in LINK.findall(text):
        if ":" in target:
            continue
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if not os.path.exists(path):
            yield target
        elif anchor and path.endswith(".md") and anchor not in anchors(path):
            yield "%s#%s" % (target, anchor)
    in_history = set(re.findall(r"`(?:git show \w+)?:([\w./-]+)`", text))
    for name in set(PATH.findall(text)) - ELSEWHERE - in_history:
        if not glob.glob(os.path.join(project, name)):
            yield name


count = 0
for page in sorted(pages()):
    count += 1
    for name in wrong(page):
        print("%s names %s, which is not there" % (os.path.relpath(page, project), name))
print("%d pages" % count)
