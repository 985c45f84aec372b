# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/readers glibc: backtrace() of a GNU C library built with --enable-sframe, over programs
whose sections sframe-gen has made, in the situations of glibc/scenarios.cc.

The reader falls back to DWARF CFI (libgcc's _Unwind_Backtrace) whenever it cannot use a section,
and hides by that how often this happens. Here _Unwind_Backtrace of the copies returns at once, and
what is left is what SFrame alone gives. A trace is right if it is the one that DWARF CFI gives for
the same code.

In the cache folder: sid/, a root with Debian's newest tools (debootstrap), and in its src/ the
library's source and build. The programs run on this system, by the new dynamic linker."""

import datetime
import glob
import os
import re
import shutil
import subprocess
import tempfile

from common import HERE, Elf, Missing, PT_LOAD, grouped, note, print_table, run, table, write_table
from lookups import Reader, report

PACKAGES = "gcc g++ make bison gawk python3 linux-libc-dev binutils dpkg-dev xz-utils patch mold lld".split()  # the last two for scripts/readers linkers
CONFIGURE = (
    "--prefix=/usr --enable-sframe --disable-werror --disable-nscd --disable-build-nscd --disable-profile --disable-mathvec "
    "--disable-timezone-tools --without-selinux"
).split()
SYSTEM = "usr/lib/x86_64-linux-gnu/"
VARIANTS = (  # name, options of sframe-gen
    ("as built", None),
    ("version 2", ["--sframe-version=2"]),
    ("version 2, return addresses", ["--sframe-version=2", "--return-addresses"]),
    ("--for=glibc", ["--for=glibc"]),
)
STATIC = ("deep", "signal", "abort", "throw", "single steps")
TESTS = ["tst-backtrace%d" % i for i in range(1, 7)]


def mirror():
    """The address of the Debian archive that this machine's apt uses."""
    listed = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(REPO_URI)",
            "Created-By: Packages",
            "Label: Debian",
        ],
        capture_output=True,
        text=True,
    )
    found = [line for line in listed.stdout.splitlines() if line]
    for path in [] if found else [*glob.glob("/etc/apt/sources.list.d/*"), "/etc/apt/sources.list"]:
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                found += re.findall(
                    r"^(?:URIs: *|deb (?:\[[^]]*\] )?)(http\S+/debian/?)(?:\s|$)", file.read(), re.M
                )
    if not found:
        raise Missing("apt's configuration names no Debian archive")
    return found[0]


def in_root(root, command, log=None):
    """Runs a shell command in the root, at low priority."""
    environment = dict(
        os.environ,
        DEBIAN_FRONTEND="noninteractive",
        LC_ALL="C",
        PATH="/usr/sbin:/usr/bin:/sbin:/bin",
    )
    with open(log or os.devnull, "w") as file:
        if log:
            code = subprocess.run(
                ["nice", "chroot", root, "sh", "-ec", command],
                stdout=file,
                stderr=file,
                env=environment,
            ).returncode
            if code:
                raise Missing("failed in %s: %s (see %s)" % (root, command[:200], log))
            return ""
    return run(["nice", "chroot", root, "sh", "-ec", command], env=environment)


def make_root(cache):
    """A root of Debian sid with compilers; kept."""
    root = os.path.join(cache, "sid")
    done = os.path.join(root, "src", "root-ready")
    if os.path.exists(done):
        return root
    if os.geteuid() != 0:
        raise Missing("debootstrap and chroot need root")
    if not shutil.which("debootstrap"):
        raise Missing("no debootstrap (package debootstrap)")
    address = mirror()
    os.makedirs(cache, exist_ok=True)
    if not os.path.exists(os.path.join(root, "usr/bin/apt-get")):
        note("debootstrap of sid into " + root)
        run(["nice", "debootstrap", "--variant=minbase", "sid", root, address])
    with open(os.path.join(root, "etc/apt/sources.list"), "w") as file:
        file.write("deb %s sid main\ndeb-src %s sid main\n" % (address, address))
    with open(os.path.join(root, "etc/apt/apt.conf.d/90archive"), "w") as file:
        file.write(
            'Acquire::Check-Valid-Until "false";\n'
        )  # the archive may be a copy of an earlier day
    shutil.copy("/etc/resolv.conf", os.path.join(root, "etc/resolv.conf"))
    note("compilers")
    os.makedirs(os.path.join(root, "src"), exist_ok=True)
    in_root(
        root,
        "apt-get -q update && apt-get -q -y install --no-install-recommends " + " ".join(PACKAGES),
        os.path.join(cache, "packages.log"),
    )
    open(done, "w").close()
    return root


def build_library(cache, root):
    """The library's build folder; kept. Takes a quarter of an hour on two cores."""
    source = os.path.join(root, "src")
    done = os.path.join(source, "built")
    if os.path.exists(done):
        return os.path.join(source, "build")
    log = os.path.join(cache, "glibc.log")
    try:
        in_root(root, "cd /src && apt-get -q source --download-only glibc", log)
    except Missing:
        # An archive in the middle of an update lists a version whose patches are not there yet.
        note("Debian's patches cannot be had: the upstream source alone")
        in_root(root, "cd /src && apt-get -q source --download-only --tar-only glibc", log)
    described = glob.glob(os.path.join(source, "glibc_*.dsc"))
    if described:
        in_root(
            root,
            "cd /src && rm -rf glibc-*/ && dpkg-source -x " + os.path.basename(described[0]),
            log,
        )
    else:
        in_root(root, "cd /src && rm -rf glibc-*/ && tar xf glibc_*.orig.tar.xz", log)
    (tree,) = glob.glob(os.path.join(source, "glibc-*/"))
    if not os.path.exists(os.path.join(tree, "manual/Makefile")):  # Debian removes the manual
        os.makedirs(os.path.join(tree, "manual"), exist_ok=True)
        with open(os.path.join(tree, "manual/Makefile"), "w") as file:
            file.write("subdir := manual\ninclude ../Makeconfig\ninclude ../Rules\n")
    note("building %s in %s" % (os.path.basename(tree.rstrip("/")), tree))
    shutil.rmtree(os.path.join(source, "build"), ignore_errors=True)
    os.makedirs(os.path.join(source, "build"))
    in_root(
        root,
        "cd /src/build && ../%s/configure %s && make -j2"
        % (os.path.basename(tree.rstrip("/")), " ".join(CONFIGURE)),
        log,
    )
    open(done, "w").close()
    return os.path.join(source, "build")


def disable(path, symbol="_Unwind_Backtrace"):
    """Makes a function of an AMD64 file return 0 at once. False if the file does not have it."""
    found = ""
    for table_option in ("-D", "--"):
        listed = subprocess.run(["nm", table_option, path], capture_output=True, text=True).stdout
        found = re.search(r"^([0-9a-f]+) [Tt] %s(?:@|$)" % symbol, listed, re.M)
        if found:
            break
    if not found:
        return False
    address, elf = int(found.group(1), 16), Elf(path)
    data = bytearray(elf.data)
    for _, _, offset, start, size, _ in elf.find(PT_LOAD):
        if start <= address < start + size:
            at = offset + address - start
            data[at : at + 3] = b"\x31\xc0\xc3"  # xor eax, eax; ret
    with open(path, "wb") as file:
        file.write(data)
    return True


def compile_programs(root, build, folder):
    """The programs and libraries as built, with the tools of the root."""
    inside = os.path.join(root, "src/readers")
    shutil.rmtree(inside, ignore_errors=True)
    os.makedirs(inside)
    for name in ("scenarios.cc", "plugin.c"):
        shutil.copy(os.path.join(HERE, "glibc", name), inside)
    (tree,) = glob.glob(os.path.join(root, "src/glibc-*/"))
    os.makedirs(os.path.join(inside, "debug/support"))
    for path in glob.glob(os.path.join(tree, "debug/tst-backtrace*")):
        shutil.copy(path, os.path.join(inside, "debug"))
    # In place of the library's test framework.
    for name in ("debug/support/test-driver.c", "test-skeleton.c"):
        with open(os.path.join(inside, name), "w") as file:
            file.write("int main(void) { return do_test(); }\n")
    flags = "-O2 -g -Wa,--gsframe -Wl,-z,lazy"
    in_root(
        root,
        "cd /src/readers; g++ -std=c++20 %s -rdynamic scenarios.cc -o scenarios; gcc %s -shared -fPIC plugin.c -o libplugin.so"
        % (flags, flags),
    )
    in_root(
        root,
        "cd /src/readers; g++ -std=c++20 %s -DSTATIC -static-pie -fPIE -B/src/build/csu/ -L/src/build scenarios.cc -o static"
        % flags,
    )
    for test in TESTS:
        in_root(
            root,
            "cd /src/readers/debug; gcc %s -rdynamic -funwind-tables -I. -I.. '-D__attribute_optimization_barrier__=__attribute__((noinline,noclone))' %s.c -o ../%s"
            % (flags, test, test),
        )
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path, name in [
        (os.path.join(inside, n), n) for n in ("scenarios", "libplugin.so", "static", *TESTS)
    ] + [
        (os.path.join(build, "libc.so"), "libc.so.6"),
        (os.path.join(build, "math/libm.so"), "libm.so.6"),
        (os.path.join(build, "elf/ld.so"), "ld.so"),
        (os.path.join(root, SYSTEM, "libstdc++.so.6"), "libstdc++.so.6"),
        (os.path.join(root, SYSTEM, "libgcc_s.so.1"), "libgcc_s.so.1"),
    ]:
        shutil.copy(os.path.realpath(path), os.path.join(folder, name))


def convert_all(tools, source, target, options, useless):
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for path in sorted(glob.glob(os.path.join(source, "*"))):
        copy = os.path.join(target, os.path.basename(path))
        if options is None:
            shutil.copy(path, copy)
        else:
            run([tools.path("sframe-gen"), path, "-o", copy, "--report=none", "-q", *options])
        if useless and os.path.basename(path) in ("libgcc_s.so.1", "static") and not disable(copy):
            raise Missing("no _Unwind_Backtrace in " + path)


def traces(folder, program, name):
    """The frames that a scenario prints: a list per trace."""
    command = [os.path.join(folder, program), name]
    if program != "static":
        command = [os.path.join(folder, "ld.so"), "--library-path", folder, *command]
    try:
        done = subprocess.run(["timeout", "60", *command], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    if done.returncode:
        return "exit code %d %s" % (done.returncode, done.stderr.strip()[:60])
    return [line.split() for line in done.stdout.splitlines()]


def verdict(expected, got):
    if isinstance(got, str):
        return got
    same = sum(a == b for a, b in zip(expected, got))
    if len(expected) > 1:
        return "right" if same == len(expected) == len(got) else "%d of %d" % (same, len(expected))
    if same == 1:
        return "right"
    frames = got[0] if got else []
    good = 0
    while good < min(len(frames), len(expected[0])) and frames[good] == expected[0][good]:
        good += 1
    return "none" if not frames else "%d frames, %d right" % (len(frames), good)


SIGNAL_RETURN = (
    b"\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"  # mov $15, %rax; syscall: where handlers return to
)


def cause(tools, folder, frames):
    """Why a trace of the last variant is not right, from the rows at its return addresses and at
    the calls. The program's start needs no row, nor does the code that handlers return to."""

    def row(path, address):
        done = subprocess.run(
            [tools.path("sframe-dump"), "--address", "0x%x" % address, path],
            capture_output=True,
            text=True,
        )
        rows = [
            (int(start, 16), rules)
            for start, rules in re.findall(r"^ +(0x[0-9a-f]+)  +(\S.*)$", done.stdout, re.M)
        ]
        return max((r for r in rows if r[0] <= address), default=(0, None))[1]

    for frame in frames:
        module, offset = frame.rsplit("+", 1)
        path, address = os.path.join(folder, module), int(offset, 16)
        path = path if os.path.exists(path) else os.path.join(folder, "ld.so")
        elf = Elf(path)
        code = [
            elf.data[at + address - start :][:9]
            for _, _, at, start, size, _ in elf.find(PT_LOAD)
            if start <= address < start + size
        ]
        if code == [SIGNAL_RETURN]:
            continue
        here, before = row(path, address), row(path, address - 1)
        if here is None and frame == frames[-1]:
            continue
        if here is None:
            return frame + (": no row after the call" if before else ": no row in version 2")
        if before is None:
            return frame + ": the return address is the start of a function"
        if here != before:
            return frame + ": the call is followed by other code"
    return "a frame in the middle of a function"


class Library(Reader):
    """The reader of a GNU C library's source."""

    abis, profile, refuses_outermost = ("amd64",), "glibc", True

    def __init__(self, tree, build, work):
        self.tree, self.build, self.work, self.made = tree, build, work, None

    def program(self, abi):
        if not self.made:
            folder = os.path.join(self.tree, "sysdeps/generic")
            self.made = self.compile(
                self.work, "glibc.c", ["-I", folder, '-DGLIBC_SOURCE="%s/sframe-read.c"' % folder]
            )
        return self.made


def main(arguments, tools):
    root = make_root(arguments.cache)
    build = build_library(arguments.cache, root)
    version = re.search(
        r"release version (\d+\.\d+)",
        run(
            [
                os.path.join(build, "elf/ld.so"),
                "--library-path",
                build,
                os.path.join(build, "libc.so"),
            ]
        ),
    )
    assembler = in_root(root, "as --version").splitlines()[0]
    print("glibc %s, %s" % (version.group(1) if version else "of unknown version", assembler))
    work = os.path.join(arguments.cache, "programs")
    source = os.path.join(work, "source")
    compile_programs(root, build, source)
    reference = os.path.join(work, "dwarf")
    convert_all(tools, source, reference, None, False)
    folders = []
    for i, (name, options) in enumerate(VARIANTS):
        folders.append(os.path.join(work, "variant%d" % i))
        convert_all(tools, source, folders[-1], options, True)
    names = run(
        [
            os.path.join(reference, "ld.so"),
            "--library-path",
            reference,
            os.path.join(reference, "scenarios"),
            "list",
        ]
    ).splitlines()
    rows, right = [], [0] * len(VARIANTS)
    for program, name in [("scenarios", n) for n in names] + [("static", n) for n in STATIC]:
        expected = traces(reference, program, name)
        title = name + (", static-PIE" if program == "static" else "")
        if isinstance(expected, str) or not expected or not all(expected):
            rows.append((title, "failed: %s" % expected, *("" for _ in VARIANTS), ""))
            continue
        verdicts = [verdict(expected, traces(folder, program, name)) for folder in folders]
        right = [count + (v == "right") for count, v in zip(right, verdicts)]
        frames = str(len(expected[0])) if len(expected) == 1 else "%d traces" % len(expected)
        failed = verdicts[-1] != "right" and len(expected) == 1 and program == "scenarios"
        why = cause(tools, folders[-1], expected[0]) if failed else ""
        rows.append((title, frames, *verdicts, why))
    rows.append(("right", len(rows), *right, ""))
    tests = [
        sum(not isinstance(traces(folder, test, ""), str) for test in TESTS)
        for folder in [reference, *folders]
    ]
    rows.append(("glibc's tst-backtrace1 to 6 that pass", *tests, ""))
    speeds = []
    for folder in [reference, *folders]:
        lines = [traces(folder, "scenarios", "time") for _ in range(10)]
        values = [float(line[0][0]) for line in lines if not isinstance(line, str) and line]
        speeds.append("%.0f" % min(values) if values and min(values) > 0 else "-")
    rows.append(("ns per frame", *speeds, ""))
    # What users see: with DWARF to fall back to.
    fallback = os.path.join(work, "fallback")
    convert_all(tools, source, fallback, VARIANTS[1][1], False)
    slow = [
        float(lines[0][0])
        for lines in (traces(fallback, "scenarios", "time") for _ in range(10))
        if not isinstance(lines, str) and lines
    ] or [0]
    head = (
        "scenario",
        "frames (DWARF)",
        *(name for name, _ in VARIANTS),
        "first frame that is wrong",
    )
    print_table(head, rows)
    print("version 2 with DWARF to fall back to: %.0f ns per frame" % min(slow))
    if arguments.markdown:
        marked = (
            "scenario (frames by DWARF)",
            *(
                name if options is None else "`%s`" % " ".join(options)
                for name, options in VARIANTS
            ),
            "first frame that is wrong",
        )
        lines = [
            "glibc %s, %s, on %s." % (version.group(1), assembler, datetime.date.today()),
            "",
        ] + table(marked, grouped([("%s (%s)" % row[:2], *row[2:]) for row in rows], 0))
        lines += ["", "Version 2 with DWARF CFI to fall back to: %.0f ns per frame." % min(slow)]
        write_table("dev/readers.md", "glibc", lines)
    with tempfile.TemporaryDirectory() as folder:
        (tree,) = glob.glob(os.path.join(root, "src/glibc-*/"))
        code = report(
            arguments,
            tools,
            Library(tree.rstrip("/"), tools.build, folder),
            folder,
            "glibc reader",
            "the reader of glibc %s" % version.group(1),
        )
    return code if right[-1] >= 16 else 1
