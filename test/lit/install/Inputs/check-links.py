"""Prints the links between pages in a folder that lead nowhere, and the number of links.

    check-links.py FOLDER
"""
import os
import re
import sys

count = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in sorted(names):
        if not name.endswith(".md"):
            continue
        page = os.path.join(folder, name)
        with open(page, encoding="utf-8") as file:
            links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read())
        count += len(links)
        for link in links:
            if not os.path.exists(os.path.join(folder, link)):
                print("%s: no %s" % (os.path.relpath(page, sys.argv[1]), link))
print("%d links" % count)
