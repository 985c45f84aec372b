"""package-database.py CORE DATABASE: the package of CORE's program, by databases of dpkg (dpkg(1),
"FILES") that are written to the folder DATABASE, which is mounted at /var/lib/dpkg."""
import os, re, shutil, subprocess, sys

core, database = sys.argv[1:]
lists = os.path.join(database, "info")


def paragraph(package, version, architecture):
    return (
        "Package: %s\nStatus: install ok installed\nArchitecture: %s\nDescription: Version: 0\n Version: 0\nVersion: %s\n\n"
        % (package, architecture, version)
    )


def unwind(status=None, **files):
    """The program and its package; `files`: the lists, by name."""
    shutil.rmtree(lists, ignore_errors=True)
    os.mkdir(lists)
    for name, text in files.items():
        with open(
            os.path.join(lists, name.replace("__", ":").replace("_", ".")), "w", encoding="utf-8"
        ) as out:
            out.write(text)
    if status is not None:
        with open(os.path.join(database, "status"), "w", encoding="utf-8") as out:
            out.write(status)
    done = subprocess.run(["sframe-unwind", core], capture_output=True, text=True)
    assert done.returncode in (0, 1), done
    found = re.search(r"^  package: +(.*)$", done.stdout, re.M)
    return re.search(r"^  program: +(.*)$", done.stdout, re.M)[1], found and found[1]


status = (
    paragraph("other", "1", "amd64")
    + paragraph("shell", "2", "i386")
    + paragraph("shell", "3-4", "amd64")
    + paragraph("shell-doc", "5", "all")
)
program, package = unwind(status)
assert package is None and program.startswith("/usr/"), (program, package)

# A package of one architecture is named with it; of the package's paragraphs, its own has the
# version.
around = "/.\n/usr\n%s\n/usr/share/doc\n"
assert unwind(shell__amd64_list=around % program)[1] == "shell 3-4"
assert unwind(shell__i386_list=around % program)[1] == "shell 2"
assert unwind(shell_list=around % program)[1] == "shell 2"
assert unwind(shell__s390x_list=around % program)[1] == "shell"
assert unwind(unknown_list=around % program)[1] == "unknown"
# The last line, whose path is from before /usr was merged.
assert unwind(other_list="/.\n" + program.removeprefix("/usr") + "\n")[1] == "other 1"
# Only whole paths count; among others, the right one is found.
alike = "%s.real\n%sx\n/opt%s\n/opt%s\n%s/\n" % (
    program,
    program,
    program,
    program.removeprefix("/usr"),
    program,
)
assert unwind(other_list=alike)[1] is None
assert unwind(other_list=alike + program + "\n")[1] == "other 1"
# Other files of the folder are no lists.
assert unwind(shell_md5sums=around % program, other_list="/.\n")[1] is None

# Lists of up to 64 MiB are read.
line, most = program + "\n", 64 << 20
for size, expected in ((most, "other 1"), (most + 1, None)):
    assert unwind(other_list="\n" * (size - len(line)) + line)[1] == expected, size

# A database that is not there, or is a directory where a file is expected.
os.remove(os.path.join(database, "status"))
assert unwind(other_list="/.\n" + line)[1] == "other"
os.mkdir(os.path.join(database, "status"))
assert unwind(other_list="/.\n" + line)[1] == "other"
shutil.rmtree(lists)
assert subprocess.run(["sframe-unwind", core], capture_output=True).returncode in (0, 1)
print("as expected")
