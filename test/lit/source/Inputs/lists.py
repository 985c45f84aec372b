"""lists.py PROJECT: lists that are kept by hand are those of the code: what a reader's option
takes, versions, ABIs, formats."""
import json
import os
import re
import subprocess
import sys

project = sys.argv[1]
wrong, count = [], 0


def content(path):
    with open(os.path.join(project, path), encoding="utf-8") as file:
        return file.read()


def same(what, found, expected):
    """In the same order."""
    global count
    count += 1
    found, expected = list(found), list(expected)
    if found != expected:
        wrong.append("%s: %s, not %s" % (what, " ".join(found) or "nothing", " ".join(expected)))


def choices(program, option):
    """What an option of a program takes."""
    page = json.loads(
        subprocess.run([program, "--help-json"], capture_output=True, text=True, check=True).stdout
    )
    return next((one["values"] for one in page["options"] if option in one["names"]), [])


def arguments(path, macro, number=0):
    return [
        one.split(",")[number].strip(' "')
        for one in re.findall(r"^%s\(([^)]*)\)" % macro, content(path), re.M)
    ]


readers = choices("sframe-gen", "--for")
versions = arguments("libsframe/include/sframe/versions.def", "SFRAME_DEFINE_VERSION")
abis = list(
    dict.fromkeys(
        name.split("_")[0]
        for name in arguments("libsframe/include/sframe/abis.def", "SFRAME_DEFINE_ABI")
    )
)
assert len(readers) > 3 and len(versions) > 2 and len(abis) > 2, (readers, versions, abis)

# The kits that test readers have a list of their own, since they are independent of the codec.
same(
    "conformance/sframe_conformance/rules.py",
    re.findall(r'Abi\("\w+", (\d+),', content("conformance/sframe_conformance/rules.py")),
    arguments("libsframe/include/sframe/abis.def", "SFRAME_DEFINE_ABI", 1),
)
same(
    "conformance/readers/question.schema.json",
    re.findall(
        r'"version": {"enum": \[([\d, ]+)\]', content("conformance/readers/question.schema.json")
    )[0].split(", "),
    versions,
)

# Readers of sections.
same("sframe-verify --profile", choices("sframe-verify", "--profile"), readers)
same(
    "cmake/SFrame.cmake",
    re.search(r"PROFILE ([\w|-]+)", content("cmake/SFrame.cmake"))[1].split("|"),
    readers,
)
bazel = re.search(r'"profile":.*?values = \[(.*?)\]', content("packaging/bazel/sframe.bzl"), re.S)[
    1
]
same("packaging/bazel/sframe.bzl", re.findall(r'"([\w-]+)"', bazel), readers)
page = re.search("READER is [^.;]*", content("docs/sframe-verify.md"))[0]
same("docs/sframe-verify.md", re.findall("`(.*?)`", page), readers)

# Those of the sweep, with the version and ABIs that each has.
measure = re.search(
    r"^READERS = (\{.*\})$", content("tools/sframe-sweep/sframe_sweep/measure.py"), re.M
)[1]
swept = eval(measure, {})  # a literal
same("readers of measure.py", [name for name in swept if name in readers], swept)
same(
    "ABIs of measure.py",
    [name for _, names in swept.values() for name in names if name not in abis],
    [],
)

# Versions and ABIs.
same("sframe-gen --sframe-version", choices("sframe-gen", "--sframe-version"), versions)
for path in ("tools/sframe-sweep/sframe_sweep/elf_file.py", "test/readers/common.py"):
    machines = re.search(r"^MACHINES = (\{.*\})$", content(path), re.M)[1]
    same("ABIs of " + path, sorted(eval(machines, {}).values()), sorted(abis))

# Formats and reports that the pages name.
for program, option in (
    ("sframe-dump", "--format"),
    ("sframe-verify", "--format"),
    ("sframe-unwind", "--format"),
    ("sframe-gen", "--emit"),
    ("sframe-gen", "--report"),
    ("sframe-gen", "--optimize"),
):
    page = content("docs/%s.md" % program)
    found = choices(program, option)
    assert len(found) > 2, (program, option, found)
    same(
        "docs/%s.md on %s" % (program, option),
        [one for one in found if "%s=%s" % (option, one) in page or "`%s`" % one in page],
        found,
    )

print(*wrong, sep="\n")
print("%d comparisons, %d differ" % (count, len(wrong)))
sys.exit(bool(wrong))
