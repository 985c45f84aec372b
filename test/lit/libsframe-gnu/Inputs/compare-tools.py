"""compare-tools.py SID OURS FOLDER dumps INPUTS | sources FILE.s... | c++ COMPILER PROJECT

Runs programs of GNU binutils (SID: an unpacked Debian) with their own libsframe.so.3 and with that
in OURS, and compares what they print, their exit codes and the files that they write.

dumps: objdump and readelf --sframe over all files in INPUTS. sources: as over assembler sources
named ABI/..., and ld of the results. c++: as and ld over C++ sources of the project."""
import glob
import os
import shutil
import subprocess
import sys

sid, ours, folder, what = sys.argv[1:5]
rest = sys.argv[5:]
loader = glob.glob(os.path.join(sid, "root/usr/lib/*/ld-linux-x86-64.so.2"))[0]
system = os.path.dirname(loader)
libraries = {"gnu": [system], "ours": [ours, system]}
prefixes = {"amd64": "x86_64", "aarch64": "aarch64", "aarch64_be": "aarch64", "s390x": "s390x"}
count = {}
faults = []


def run(library, tool, arguments, cwd):
    """Exit code and text of a program."""
    environment = dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(libraries[library]))
    # The programs write their own path into messages, and it is the same for both.
    command = [loader, os.path.join(sid, "root/usr/bin", tool)] + arguments
    result = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return result.returncode, result.stdout


def compare(kind, tool, arguments, output=None):
    """The same command in the two folders; True if it succeeded in both alike."""
    results = {
        library: run(library, tool, arguments, os.path.join(folder, library))
        for library in libraries
    }
    same = results["gnu"] == results["ours"]
    if same and output and results["gnu"][0] == 0:
        contents = [
            open(os.path.join(folder, library, output), "rb").read() for library in libraries
        ]
        same = contents[0] == contents[1]
    count[kind] = count.get(kind, 0) + 1
    if not same:
        faults.append("%s %s: differs" % (tool, " ".join(arguments)))
    return same and results["gnu"][0] == 0


def assemble(abi, source, options):
    """The object's name, if as makes one."""
    name = "%s-%s%s.o" % (abi, os.path.basename(source)[:-2], "".join(options))
    target = ["-EB"] if abi == "aarch64_be" else []
    return (
        name
        if compare(
            "as", prefixes[abi] + "-linux-gnu-as", target + options + [source, "-o", name], name
        )
        else None
    )


def link(abi, objects, name):
    target = ["-EB"] if abi == "aarch64_be" else []
    for label, options in (
        ("shared", ["-shared"]),
        ("pie", ["-pie", "--no-dynamic-linker"]),
        ("static", ["-static"]),
        ("r", ["-r"]),
        ("gc", ["-shared", "--gc-sections"]),
        ("ibtplt", ["-shared", "-z", "ibtplt"] if abi == "amd64" else ["-shared", "-z", "now"]),
    ):
        output = "%s-%s-%s" % (abi, name, label)
        compare(
            "ld",
            prefixes[abi] + "-linux-gnu-ld",
            target + options + ["--unresolved-symbols=ignore-all", "-o", output] + objects,
            output,
        )


def dumps(inputs):
    for path in sorted(glob.glob(os.path.join(inputs, "*", "*"))):
        abi = os.path.basename(os.path.dirname(path))
        if abi not in prefixes or path.endswith((".gnu", ".sframe")) or os.path.isdir(path):
            continue
        for prefix in sorted({"x86_64", prefixes[abi]}):
            for tool in ("objdump", "readelf"):
                compare(tool, "%s-linux-gnu-%s" % (prefix, tool), ["--sframe", path])


def sources(files):
    for abi in prefixes:
        # Big-endian AArch64 has no sources of its own.
        own = [
            path
            for path in files
            if os.path.basename(os.path.dirname(os.path.dirname(path))) == abi.removesuffix("_be")
        ]
        for options in (["--gsframe"], ["--gsframe-3"]):
            objects = {os.path.basename(path)[:-2]: assemble(abi, path, options) for path in own}
            for names in (
                ["basic"],
                ["basic", "second"],
                ["basic", "second", "flex"],
                ["cc"],
                ["cc-sections", "second"],
            ):
                wanted = [objects.get(name) for name in names]
                if all(wanted):
                    link(abi, wanted, "+".join(names) + options[0])


def cxx(compiler, project):
    objects = []
    for path in sorted(glob.glob(os.path.join(project, "libsframe/src/*.cc"))):
        assembly = os.path.join(folder, os.path.basename(path)[:-3] + ".s")
        includes = ["-I" + os.path.join(project, "libsframe", name) for name in ("include", "src")]
        subprocess.run(
            [
                compiler,
                "-std=c++23",
                "-O1",
                "-fPIC",
                "-ffunction-sections",
                "-S",
                path,
                "-o",
                assembly,
            ]
            + includes,
            check=True,
        )
        objects.append(assemble("amd64", assembly, ["--gsframe"]))
    if all(objects):
        link("amd64", objects, "c++")


shutil.rmtree(folder, ignore_errors=True)
for library in libraries:
    os.makedirs(os.path.join(folder, library))
environment = dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(libraries["ours"]))
for tool in ("objdump", "readelf", "as", "ld"):
    loaded = subprocess.run(
        [loader, "--list", os.path.join(sid, "root/usr/bin/x86_64-linux-gnu-" + tool)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if os.path.join(ours, "libsframe.so.3") not in loaded:
        faults.append(tool + " does not load our library")

if what == "dumps":
    dumps(*rest)
elif what == "sources":
    sources(rest)
else:
    cxx(*rest)
print("\n".join(faults))
print(
    ", ".join("%s: %d times" % (kind, times) for kind, times in sorted(count.items()))
    + ", %d differences" % len(faults)
)
sys.exit(1 if faults else 0)
