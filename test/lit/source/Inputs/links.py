"""Prints each link of the pages that leads nowhere: to a file that is missing, or to a heading that
its page does not have; and each page of docs that no index has (docs/README.md)."""
import os
import re
import sys

project = sys.argv[1]
problems = []


def pages():
    for top in ("README.md", "CONTRIBUTING.md", "SECURITY.md"):
        yield top
    for folder, _, names in os.walk(os.path.join(project, "docs")):
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), project)


def text_of(page):
    with open(os.path.join(project, page), encoding="utf-8") as file:
        return re.sub(r"(?ms)^```.*?^```$|^    .*?$", "", file.read())


def anchors(page):
    """As GitHub and GitLab make them of headings."""
    found = set()
    for heading in re.findall(r"(?m)^#+ (.*)$", text_of(page)):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).lower()).replace(
            " ", "-"
        )
        count = sum(
            re.fullmatch(re.escape(name) + r"(-\d+)?", other) is not None for other in found
        )
        found.add("%s-%d" % (name, count) if count else name)
    return found


def links(page):
    """The file, relative to the project, and the heading, of each link that is no web address."""
    for target in re.findall(r"\]\(([^()\s]+)\)", text_of(page)):
        if not re.match(r"[a-z]+:", target):
            path, _, heading = target.partition("#")
            yield target, os.path.normpath(
                os.path.join(os.path.dirname(page), path)
            ) if path else page, heading


for page in pages():
    for target, path, heading in links(page):
        if not os.path.exists(os.path.join(project, path)):
            problems.append("%s: %s: no such file" % (page, target))
        elif heading and heading not in anchors(path):
            problems.append("%s: %s: no such heading" % (page, target))

indexed = {path for _, path, _ in links("docs/README.md")}
problems += [
    "docs/README.md has no link to " + page
    for page in pages()
    if page.startswith("docs/") and page != "docs/README.md" and page not in indexed
]

print("\n".join(problems) or "%d pages" % len(list(pages())))
sys.exit(bool(problems))
