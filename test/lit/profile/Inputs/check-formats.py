"""Reads the stacks of one recording in several formats, checks the structure of each, and prints
whether the stacks are the same: check-formats.py FOLDED SPEEDSCOPE FIREFOX PERF SVG HTML

Structures: https://www.speedscope.app/file-format-schema.json; src/types/profile.ts of the Firefox
Profiler, version 54.
"""
import html.parser
import json
import re
import sys
import xml.dom.minidom


def folded(path):
    lines = {}
    for line in open(path):
        stack, _, count = line.rstrip("\n").rpartition(" ")
        lines[tuple(stack.split(";"))] = int(count)
    return lines


def speedscope(path):
    file = json.load(open(path))
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(file) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    frames = file["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str)
    found = {}
    for profile in file["profiles"]:
        assert set(profile) == {
            "type",
            "name",
            "unit",
            "startValue",
            "endValue",
            "samples",
            "weights",
        }
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert (
            len(profile["samples"]) == len(profile["weights"])
            and sum(profile["weights"]) == profile["endValue"]
        )
        thread = profile["name"].rpartition(" (")[0]
        for stack, weight in zip(profile["samples"], profile["weights"]):
            key = (thread, *(frames[frame]["name"] for frame in stack))
            found[key] = found.get(key, 0) + weight // 1000  # a sample is a microsecond
    return found


def table(of, columns):
    assert set(of) - {"weightType"} == {"length", *columns}, sorted(of)
    assert all(len(of[column]) == of["length"] for column in columns)
    return of


def firefox(path):
    file = json.load(open(path))
    meta = file["meta"]
    assert (
        meta["preprocessedProfileVersion"] == 54
        and meta["version"] == 24
        and meta["interval"] == 0.001
    )
    assert any(category["color"] == "grey" for category in meta["categories"])
    for lib in file["libs"]:
        assert set(lib) == {
            "name",
            "path",
            "debugName",
            "debugPath",
            "breakpadId",
            "codeId",
            "arch",
        }
        assert re.fullmatch("[0-9A-F]{33}", lib["breakpadId"])
    found = {}
    for thread in file["threads"]:
        strings = thread["stringArray"]
        samples = table(thread["samples"], ["stack", "timeDeltas", "weight"])
        stacks = table(thread["stackTable"], ["frame", "prefix"])
        frames = table(
            thread["frameTable"],
            [
                "address",
                "inlineDepth",
                "category",
                "subcategory",
                "func",
                "nativeSymbol",
                "innerWindowID",
                "line",
                "column",
            ],
        )
        functions = table(
            thread["funcTable"],
            ["name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"],
        )
        resources = table(thread["resourceTable"], ["lib", "name", "host", "type"])
        assert all(resource < resources["length"] for resource in functions["resource"])
        assert all(lib < len(file["libs"]) for lib in resources["lib"])
        assert isinstance(thread["pid"], str) and isinstance(thread["tid"], str)
        for stack, weight in zip(samples["stack"], samples["weight"]):
            names = []
            while stack is not None:
                names.append(strings[functions["name"][frames["func"][stacks["frame"][stack]]]])
                assert stacks["prefix"][stack] is None or stacks["prefix"][stack] < stack
                stack = stacks["prefix"][stack]
            key = (thread["name"], *reversed(names))
            found[key] = found.get(key, 0) + weight
    return found


def perf(path):
    """As FlameGraph's stackcollapse-perf.pl reads it."""
    found, name, frames = {}, None, []
    for line in open(path):
        line = line.rstrip("\n")
        if not line:
            key = (name, *reversed(frames))
            found[key] = found.get(key, 0) + 1
            name, frames = None, []
        elif name is None:
            name = re.match(r"^\s*(\S.+?)\s+(\d+)/*(\d+)*\s+", line)[1]
            assert re.search(r":\s*(\d+)*\s+(\S+):\s*$", line), line
        else:
            function, path = re.match(r"^\s*\w+\s*(.+) \((.*)\)", line).groups()
            frames.append(
                function.rpartition("+0x")[0]
                if function != "[unknown]"
                else "[unknown]"
                if path == "[unknown]"
                else "[" + path.rpartition("/")[2] + "]"
            )
    return found


def lines(text):
    found = {}
    for line in text.strip().split("\n"):
        stack, count, _ = line.rsplit(" ", 2)
        found[tuple(stack.split(";"))] = int(count)
    return found


def svg(path):
    for script in xml.dom.minidom.parse(path).getElementsByTagName("script"):
        if script.getAttribute("id") == "stacks":
            return lines(script.firstChild.data)


class Page(html.parser.HTMLParser):
    data, is_data = "", False

    def handle_starttag(self, tag, attributes):
        self.is_data = dict(attributes).get("id") == "data"

    def handle_data(self, data):
        if self.is_data:
            self.data += data

    def handle_endtag(self, tag):
        self.is_data = False


def page(path):
    reader = Page()
    reader.feed(open(path).read())
    data = json.loads(reader.data)
    assert data["samples"] == sum(count for _, count in data["stacks"]) and data["unit"] == "sample"
    assert data["functions"][0]["self"] == 1 and data["functions"][0]["name"] == "die"
    return {tuple(stack.split(";")): count for stack, count in data["stacks"]}


expected = folded(sys.argv[1])
for stack, count in expected.items():
    print("folded:", *stack, end=f": {count}\n")
for name, read, path in zip(
    ("speedscope", "firefox", "perf", "svg", "html"),
    (speedscope, firefox, perf, svg, page),
    sys.argv[2:],
):
    found = read(path)
    print(f"{name}: the same" if found == expected else f"{name}: {found}")
