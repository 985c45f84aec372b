#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links whole converted archives, and objects, by one linker in several ways.

    link-archives.py FOLDER LINKER [SFRAME-GEN-OPTION...]

Prints a line for each way: "one static: runs, merged". The program must run in each case.

    merged        one section, in which sframe-verify finds no error but in the linker's own rows for its stubs
    concatenated  several, of which `sframe-gen --from=sframe` must make one that is right
    dropped       none
    not linked    the linker refuses

sframe-gen must also be able to convert the program again, from its CFI, and that must run and be
right. Anything else ends the script.
"""
import os
import re
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
folder, linker, *options = sys.argv[1:]
linker = shutil.which(linker)

archives = ("libc.a", "libc_nonshared.a", "libm-2.36.a", "libstdc++.a", "libgcc.a", "libgcc_eh.a")
start_files = (
    "crt1.o",
    "Scrt1.o",
    "rcrt1.o",
    "crti.o",
    "crtn.o",
    "crtbegin.o",
    "crtbeginS.o",
    "crtbeginT.o",
    "crtend.o",
    "crtendS.o",
)


def path(*names):
    return os.path.join(folder, *names)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def check(*command):
    done = run(*command)
    if done.returncode:
        sys.exit("%s: exit code %d\n%s%s" % (command, done.returncode, done.stdout, done.stderr))
    return done.stdout


def convert(source, target):
    check("sframe-gen", source, "-o", target, "--report=none", "--allow-missing", *options)


def prepare():
    """all/ has every archive, cxx/ only those that go with a shared C library."""
    for name in ("linker", "start", "all", "cxx"):
        os.makedirs(path(name))
    os.symlink(linker, path("linker", "ld"))
    for name in archives + start_files:
        found = check("g++", "-print-file-name=" + name).strip()
        if not os.path.isabs(found):
            continue
        convert(found, path("start" if name in start_files else "all", name))
        if name.startswith(("libstdc++", "libgcc")):
            os.symlink(path("all", name), path("cxx", name))
    with open(path("many.cc"), "w", encoding="utf-8") as source:
        source.write(many_functions())
    for name in ("one", "two"):
        compile_object(os.path.join(here, "object-%s.cc" % name), name)
    compile_object(path("many.cc"), "many")


def many_functions(count=200):
    """A program of functions with equal rows, that throws and catches."""
    functions = "".join(
        "[[gnu::noinline]] int f%d(int a) { if (a < 0) throw a; return a + %d; }\n" % (i, i)
        for i in range(count)
    )
    table = ", ".join("f%d" % i for i in range(count))
    return functions + (
        "int (*table[])(int) = {%s};\n" % table
        + "int main(int argc, char**) {\n  int sum = 0;\n  for (auto f : table) sum += f(argc);\n"
        "  try { table[argc](-argc); } catch (int) { return sum != %d; }\n  return 2;\n}\n"
        % (count + count * (count - 1) // 2)
    )


def compile_object(source, name):
    check("g++", "-O2", "-fPIE", "-ffunction-sections", "-c", source, "-o", path(name + ".o"))
    convert(path(name + ".o"), path(name + ".o"))


def link(output, *arguments):
    """Whether the linker makes the program."""
    static = "-static" in arguments or "-static-pie" in arguments
    libraries = path("all" if static else "cxx")
    done = run(
        "g++",
        "-B" + path("linker") + "/",
        "-B" + path("start") + "/",
        "-L" + libraries,
        *arguments,
        "-o",
        output,
    )
    return done.returncode == 0


def ranges_of_stubs(program):
    """The addresses of the linker's own code."""
    lines = check("llvm-readelf", "-SW", program).splitlines()
    found = [
        re.search(r" \.plt\S* +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", line) for line in lines
    ]
    return [(int(m[1], 16), int(m[1], 16) + int(m[2], 16)) for m in found if m]


def what_is_wrong(program, stubs):
    """Errors of sframe-verify, but for those of the linker's own code."""
    output = run("sframe-verify", "--check=structure,cfi", program).stdout
    errors = re.findall(r": error: (\S+ ?(?:0x([0-9a-f]+))?.*)", output)
    if not re.search(r"\d+ functions: ", output):
        return [output or "sframe-verify fails"]
    return [
        text
        for text, address in errors
        if not (
            address
            and text.startswith("C1")
            and any(begin <= int(address, 16) < end for begin, end in stubs)
        )
    ]


def demand_right(program, stubs, what):
    if wrong := what_is_wrong(program, stubs):
        sys.exit("%s, %s: %d errors\n%s" % (what, program, len(wrong), "\n".join(wrong[:10])))


def demand_running(program):
    done = run(program)
    if done.returncode:
        sys.exit("%s: exit code %d" % (program, done.returncode))


def kind_of_section(program):
    stubs = ranges_of_stubs(program)
    dumped = run("sframe-dump", "--header", program)
    found = dumped.stdout.count("Version ") if dumped.returncode == 0 else 0
    if found == 1:
        demand_right(program, stubs, "merged")
    converted = program + ".converted"
    for source in ["sframe"] * (found > 1) + ["cfi"]:
        check("sframe-gen", program, "-o", converted, "--from=" + source, "--report=none")
        demand_running(converted)
        demand_right(converted, [], "--from=" + source)
    return ("dropped", "merged", "concatenated")[min(found, 2)]


def tried(name, linked, output):
    if not linked:
        print(name + ": not linked")
        return
    demand_running(output)
    print("%s: runs, %s" % (name, kind_of_section(output)))


def both_of(kind):
    """Objects joined by the linker's -r; None if it refuses."""
    output = path(kind + ".joined.o")
    sources = [path(n + ".o") for n in (("one", "two") if kind == "two" else ("many",))]
    done = run(linker, "-r", *sources, "-o", output)
    return output if done.returncode == 0 else None


prepare()
objects = {"one": [path("many.o")], "comdat": [path("one.o"), path("two.o")]}
ways = {
    "static": ["-static"],
    "static-pie": ["-static-pie"],
    "pie": ["-pie", "-static-libstdc++", "-static-libgcc"],
    "no-pie": ["-no-pie", "-static-libstdc++", "-static-libgcc"],
    "gc-sections": ["-static", "-Wl,--gc-sections"],
}
for kind, inputs in objects.items():
    for way, arguments in ways.items():
        program = path(kind + "." + way)
        tried(kind + " " + way, link(program, *inputs, *arguments), program)
for kind in ("many", "two"):
    joined = both_of(kind)
    program = path(kind + ".program")
    tried("joined " + kind, joined and link(program, joined, "-static"), program)
