# The programs' tests: lit runs the RUN lines of each *.test file, FileCheck compares.
#
# Substitutions: the programs and the LLVM tools go by their bare names (they are put first on
# PATH); %inputs is test/inputs, %build the build folder; %objdump247, %readelf247, %as247, %ld247
# ... are newer binutils, %as240, %objdump240 the system's if they are 2.40. Features, for REQUIRES:
# binutils-2.40, binutils-2.44, binutils-2.47, libsframe-2.40 and so on (%libsframe240), eu-stack,
# gdb, gdb-python, gdb-multiarch-python, cc, c++, aarch64-cc, s390x-cc, gold, lld, mold,
# qemu-aarch64, qemu-aarch64_be, qemu-s390x, patchelf, chrpath, dwz, debugedit, find-debuginfo,
# elfutils, python3, clang, asan, rustc, go, python-frames (CPython 3.11 to 3.13: %pythons), pip
# (with setuptools and wheel: %pip-python), hardened (release flags), zstd-program. %cxx is the
# compiler of the build. %newer-strips and %newer-objcopies are those of all newer binutils; perhaps
# none. lld, mold: these linkers are installed (gcc -fuse-ld=...). parallel: GNU parallel is
# installed. sshd, slurm: may be started on loopback. xmllint: libxml2's. debian-mirror: debootstrap
# can make a root (as root, by a mirror that answers: %debian-mirror; with all=1 only). own-mounts:
# a name space with mounts of its own may be made; hung-fuse: with FUSE file systems, too.
# static-zydis: there is a libZydis.a (scripts/static-zydis), so that static-archive and wheel can
# be linked. amd64: the host is one. debuginfod: the server and its client library are installed.
# static-libc: gcc can link statically. ptrace: processes may be traced. landlock: the kernel limits
# paths. perf: samples can be taken by it. map-files: mapped files can be opened by the names of
# their mappings (/proc/PID/map_files; root). seccomp: the programs limit system calls. bpf: BPF
# programs may be started by perf events, and walk stacks (Linux 5.17); bpf-example, orc-example:
# examples/bpf, orc_jit was built. bpf-tables: SFRAME_BPF is on. bpf-recorder: sframe-profile was
# built with its BPF programs; kprobes: the kernel has probes of its functions. clang-bpf: a clang
# with the target bpf (%clang-bpf). libdw: its headers are installed. %core FILE PROGRAM
# ARGUMENTS... runs the program, which must die, and leaves its core in FILE, made by the kernel,
# else by gdb (feature cores); kernel-cores: by the kernel, which needs a core_pattern that names a
# file in the program's folder; %gcore FILE...: by gdb (gdb-cores). `lit --param cores=gdb` or
# SFRAME_TEST_CORES=gdb does without the kernel's. all: `lit --param all=1` (scripts/test --all) has
# it: for tests that build, package or run other projects, or take long without being near what
# changes often. A test whose tools are missing is reported as unsupported.
import ctypes
import glob
import os
import platform
import re
import shlex
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
import plain_paths

config.test_exec_root = os.path.realpath(lit_config.params.get("exec_root", config.obj_root))
links = plain_paths.links_for(config.project, config.build, config.test_exec_root)
# Other programs than the build's: scripts/mutate-code.
config.programs = lit_config.params.get("programs", config.programs)
for name in ("programs", "inputs", "project", "build"):
    setattr(config, name, plain_paths.plain(getattr(config, name), links))

if not links:  # what a core names is where it says
    config.available_features.add("plain-paths")

config.name = "sframe-utils"
config.test_format = plain_paths.ShTest(links)
config.suffixes = [".test", ".s", ".c"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

if lit_config.params.get("all"):
    config.available_features.add("all")
config.environment["PATH"] = os.pathsep.join(
    [config.programs, config.llvm_tools, os.environ.get("PATH", "")]
)
config.environment["LC_ALL"] = "C"
# What the tests' scripts share: writers of ELF files and of cores.
config.environment["PYTHONPATH"] = os.path.join(config.project, "test", "lib")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"  # the source tree stays as it is
# What Go compiles of its library for another machine, once for all tests.
config.environment["GOCACHE"] = os.path.join(config.build, "test", "go-cache")


def put_first(name, folder, script):
    """A program for the tests, before all others of that name."""
    folder = os.path.join(config.test_exec_root, folder)
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as wrapper:
        wrapper.write("#!/bin/sh\n" + script)
    os.chmod(wrapper.name, 0o755)
    os.replace(wrapper.name, os.path.join(folder, name))  # which another lit may be running
    config.environment["PATH"] = folder + os.pathsep + config.environment["PATH"]


def find_python():
    """The system's if it is new enough: those of version managers need up to 0.2 s to start, in a
    thousand runs."""
    for name in filter(None, ("/usr/bin/python3", shutil.which("python3"))):
        program = "import sys; print(sys.executable if sys.version_info >= (3, 11) else '')"
        try:
            path = subprocess.run(
                [name, "-c", program], capture_output=True, text=True
            ).stdout.strip()
        except OSError:
            continue
        if path:
            return path
    return None


python = find_python()
if python:
    config.available_features.add("python3")
    put_first("python3", "python", 'exec %s "$@"\n' % shlex.quote(python))
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%inputs", config.inputs))
config.substitutions.append(("%project", config.project))
config.substitutions.append(("%build", config.build))
config.substitutions.append(("%extended", os.path.join(config.build, "test", "extension")))


def first_line(command):
    try:
        return subprocess.run([command, "--version"], capture_output=True, text=True).stdout.split(
            "\n"
        )[0]
    except OSError:
        return ""


peers = os.environ.get("SFRAME_PEERS") or config.peers


def add_binutils(suffix, version, folder, prefix=""):
    """Substitutions %as247 and so on, and the feature binutils-2.47, if the folder's objdump is
    that version."""
    objdump = os.path.join(folder, "objdump") if folder else shutil.which("objdump")
    if not objdump or not re.search(r"\b%s\b" % re.escape(version), first_line(objdump)):
        return
    config.available_features.add("binutils-" + version)
    for tool in ("as", "ld", "objdump", "readelf", "objcopy", "strip"):
        path = os.path.join(folder, tool) if folder else shutil.which(tool)
        config.substitutions.append(("%%%s%s" % (tool, suffix), path))
        for cross in ("aarch64", "s390x"):
            name = "%s-linux-gnu-%s" % (cross, tool)
            found = os.path.join(folder, name) if folder else shutil.which(name)
            if found and os.path.exists(found):
                config.available_features.add("%s-binutils-%s" % (cross, version))
                config.substitutions.append(("%%%s-%s%s" % (cross, tool, suffix), found))


def add_libsframe(suffix, version, release, folders):
    """The substitution %libsframe247 and so on, and the feature libsframe-2.47, if that library is
    there."""
    found = [
        path
        for folder in folders
        for path in sorted(
            glob.glob(os.path.join(glob.escape(folder), "*", "libsframe.so.%d" % release))
        )
    ]
    if found and "binutils-" + version in config.available_features:
        config.available_features.add("libsframe-" + version)
        config.substitutions.append(("%libsframe" + suffix, found[0]))


add_binutils("240", "2.40", "")
add_libsframe("240", "2.40", 0, ["/usr/lib"])
if peers:
    add_binutils("244", "2.44", os.path.join(peers, "trixie", "bin"))
    for version in ("2.47", "2.47.50"):
        add_binutils("247", version, os.path.join(peers, "sid", "bin"))
    if "binutils-2.47.50" in config.available_features:
        config.available_features.add("binutils-2.47")
    add_libsframe("244", "2.44", 1, [os.path.join(peers, "trixie", "root", "usr", "lib")])
    add_libsframe("247", "2.47", 3, [os.path.join(peers, "sid", "root", "usr", "lib")])

# Of all newer binutils that are there; perhaps none.
for name, tool in (("%newer-strips", "%strip"), ("%newer-objcopies", "%objcopy")):
    found = {key: path for key, path in config.substitutions if key in (tool + "244", tool + "247")}
    config.substitutions.append((name, " ".join(found.values())))

for feature, tool in (
    ("gdb", "gdb"),
    ("eu-stack", "eu-stack"),
    ("cc", "gcc"),
    ("c++", "g++"),
    ("qemu-aarch64", "qemu-aarch64"),
    ("qemu-s390x", "qemu-s390x"),
    ("qemu-aarch64_be", "qemu-aarch64_be"),
    ("aarch64-cc", "aarch64-linux-gnu-gcc"),
    ("s390x-cc", "s390x-linux-gnu-gcc"),
    ("patchelf", "patchelf"),
    ("clang", "clang-22"),
    ("clang-14", "clang++-14"),
    ("elfutils", "eu-strip"),
    ("dwz", "dwz"),
    ("debugedit", "debugedit"),
    ("find-debuginfo", "find-debuginfo"),
    ("chrpath", "chrpath"),
    ("gold", "ld.gold"),
    ("lld", "ld.lld"),
    ("mold", "mold"),
    ("pkg-config", "pkg-config"),
    ("man", "man"),
    ("patch", "patch"),
    ("meson", "meson"),
    ("ninja", "ninja"),
    ("git", "git"),
    ("dpkg-deb", "dpkg-deb"),
    ("parallel", "parallel"),
    ("lintian", "lintian"),
    ("debhelper", "dh_strip"),
    ("rpmbuild", "rpmbuild"),
    ("cpio", "cpio"),
    ("zstd-program", "zstd"),
    ("xmllint", "xmllint"),
    ("go", "go"),
    ("dlv", "dlv"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("clang-format-14", "clang-format-14"),
    ("pyflakes", "pyflakes3"),
    ("black", "black"),
):
    if shutil.which(tool):
        config.available_features.add(feature)
# A gdb with Python; SFRAME_TEST_GDB and SFRAME_TEST_GDB_MULTIARCH name others.
for name in ("gdb", "gdb-multiarch"):
    gdb = os.environ.get("SFRAME_TEST_" + name.upper().replace("-", "_"), name)
    if (
        shutil.which(gdb)
        and "42"
        in subprocess.run(
            [gdb, "-nx", "-batch", "-ex", "python import ctypes; print(6 * 7)"],
            capture_output=True,
            text=True,
        ).stdout
    ):
        config.available_features.add(name + "-python")
    setattr(config, name.replace("-", "_"), gdb)


def interpreters():
    """CPython 3.11 to 3.13: one of each."""
    found = {}
    for name in ("/usr/bin/python3", "python3", "python3.11", "python3.12", "python3.13"):
        program = "import platform, sys; print(platform.python_implementation(), *sys.version_info[:2], sys.executable)"
        result = subprocess.run(
            ["sh", "-c", "exec %s -c '%s'" % (name, program)], capture_output=True, text=True
        ).stdout
        fields = result.strip().split(" ", 3)
        if (
            len(fields) == 4
            and fields[0] == "CPython"
            and ("3", "11") <= (fields[1], fields[2]) <= ("3", "13")
        ):
            found.setdefault(fields[2], os.path.realpath(fields[3]))
    return list(found.values())


pythons = interpreters()
if pythons:
    config.available_features.add("python-frames")
config.substitutions.append(("%pythons", " ".join("'%s'" % path for path in pythons)))
if shutil.which("gcc") and os.path.isabs(
    subprocess.run(["gcc", "-print-file-name=libc.a"], capture_output=True, text=True).stdout
):
    config.available_features.add("static-libc")
if first_line("rustc").startswith("rustc "):  # rustup's may have no compiler
    config.available_features.add("rustc")
for candidate in filter(None, (shutil.which("python3"), shutil.which("/usr/bin/python3"))):
    if not subprocess.run(
        [candidate, "-c", "import setuptools, wheel, pip"], stderr=subprocess.DEVNULL
    ).returncode:
        config.available_features.add("pip")
        config.substitutions.append(("%pip-python", candidate))
        break
if (
    python
    and not subprocess.run(
        [python, "-c", "import jsonschema; jsonschema.Draft202012Validator"],
        stderr=subprocess.DEVNULL,
    ).returncode
):
    config.available_features.add("jsonschema")
if config.sanitizers:
    config.available_features.add("asan")
    # AddressSanitizer reserves more addresses than sframe-sweep lets a program have.
    put_first(
        "sframe-sweep",
        "asan",
        'case $1 in run | spread) command=$1; shift; set -- "$command" --max-memory=%d "$@" ;; esac\nexec %s "$@"\n'
        % (1 << 25, shlex.quote(os.path.join(config.programs, "sframe-sweep"))),
    )
if config.static_zydis and os.path.exists(config.static_zydis):
    config.available_features.add("static-zydis")
if config.hardened == "ON":
    config.available_features.add("hardened")
config.substitutions.append(("%cxx", config.cxx))
# The standard that public headers need: %std is the compiler's option, with what else they need.
config.substitutions.append(("%{standard}", "23" if config.std_expected == "ON" else "20"))
config.substitutions.append(
    ("%std", "-std=c++23 -DSFRAME_STD_EXPECTED" if config.std_expected == "ON" else "-std=c++20")
)
if config.std_expected != "ON":
    config.available_features.add("c++20")


def can_start_sshd():
    """As another user than root it needs nothing; root's wants a folder, or a mount namespace in
    which to make it."""
    if not os.path.exists("/usr/sbin/sshd") or not shutil.which("ssh"):
        return False
    return (
        os.geteuid() != 0
        or os.path.isdir("/run/sshd")
        or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
    )


if can_start_sshd():
    config.available_features.add("sshd")

if (
    shutil.which("unshare")
    and subprocess.run(
        ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"],
        capture_output=True,
    ).returncode
    == 0
):
    config.available_features.add("own-mounts")


def can_serve_fuse():
    with tempfile.TemporaryDirectory() as folder:
        server = os.path.join(config.test_source_root, "unwind", "Inputs", "hung-fuse.py")
        return (
            subprocess.run(
                [
                    "unshare",
                    "--map-root-user",
                    "--mount",
                    "python3",
                    server,
                    folder,
                    folder,
                    "true",
                ],
                capture_output=True,
            ).returncode
            == 0
        )


if shutil.which("unshare") and python and can_serve_fuse():
    config.available_features.add("hung-fuse")

if os.geteuid() == 0 and all(
    shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    for name in ("sbatch", "slurmctld", "slurmd", "munged")
):
    config.available_features.add("slurm")


def debian_mirror():
    """A mirror of this machine's own package sources that answers, if debootstrap can make a root
    of it; else nothing. Asked with --param all=1 only: other runs need no network."""
    if (
        "all" not in config.available_features
        or os.geteuid() != 0
        or not all(map(shutil.which, ("debootstrap", "apt-get", "unshare")))
    ):
        return None
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.mknod(os.path.join(folder, "null"), 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except OSError:
            return None
    mirrors = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(REPO_URI)",
            "Codename: bookworm",
            "Created-By: Packages",
        ],
        capture_output=True,
        text=True,
    ).stdout.split()
    try:
        with urllib.request.urlopen(mirrors[0] + "dists/bookworm/InRelease", timeout=20) as answer:
            return mirrors[0] if answer.status == 200 else None
    except (OSError, ValueError, IndexError):
        return None


mirror = debian_mirror()
if mirror:
    config.available_features.add("debian-mirror")
    config.substitutions.append(("%debian-mirror", mirror))


def has_debuginfod():
    """A server, and the library that the programs open."""
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        return False
    return bool(shutil.which("debuginfod"))


if has_debuginfod():
    config.available_features.add("debuginfod")

# crashpad's handler, which writes minidumps: in the PATH, or where Debian's chromium-common has it.
handler = shutil.which("chrome_crashpad_handler", path=os.environ["PATH"] + ":/usr/lib/chromium")
if handler:
    config.available_features.add("crashpad-handler")
    config.substitutions.append(("%crashpad-handler", handler))


def kernel_makes_cores():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["sh", "-c", "ulimit -c unlimited && kill -ABRT $$"], cwd=folder, capture_output=True
        )
        return bool(glob.glob(os.path.join(folder, "core*")))


def gdb_makes_cores():
    if not shutil.which("gdb"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        core = os.path.join(folder, "core")
        subprocess.run(
            ["gdb", "-nx", "-batch", "-ex", "starti", "-ex", "gcore " + core, "/bin/true"],
            capture_output=True,
        )
        return os.path.exists(core)


def can_trace():
    """Whether a child of ours may be seized, and let go by the end of this interpreter."""
    libc = ctypes.CDLL(None, use_errno=True)
    child = subprocess.Popen(["sleep", "10"])
    allowed = libc.ptrace(0x4206, child.pid, None, None) == 0  # PTRACE_SEIZE
    child.kill()
    child.wait()
    return allowed


def can_use_bpf():
    """Whether a map and a perf event can be made; programs need no more rights."""
    calls = {"x86_64": (321, 298), "aarch64": (280, 241)}.get(platform.machine())
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    if (
        not calls
        or not release
        or (int(release[1]), int(release[2])) < (5, 17)
        or not os.path.exists("/sys/kernel/btf/vmlinux")
    ):
        return False
    libc = ctypes.CDLL(None)
    array_map = struct.pack(
        "IIII", 2, 4, 4, 1
    )  # BPF_MAP_TYPE_ARRAY, sizes of key and value, entries
    event = struct.pack("IIQ", 1, 64, 0) + bytes(48)  # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK
    opened = [
        libc.syscall(calls[0], 0, array_map, len(array_map)),
        libc.syscall(calls[1], event, 0, -1, -1, 0),
    ]
    for descriptor in opened:
        if descriptor >= 0:
            os.close(descriptor)
    return min(opened) >= 0


def has_mode32():
    """Whether the kernel has a segment for 32-bit code of processes (not with ia32_emulation=0): by
    `lar`, in a process of its own."""
    ask = """import ctypes, mmap
memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex("b823000000 0f02c0 0f94c0 0fb6c0 c3"))  # mov $0x23,%eax; lar %eax,%eax; sete %al; movzbl %al,%eax; ret
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))())"""
    return (
        platform.machine() == "x86_64"
        and subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout
        == "1\n"
    )


if has_mode32():
    config.available_features.add("mode32")


def can_use_perf():
    if not shutil.which("perf"):
        return False
    return (
        subprocess.run(
            ["perf", "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "true"],
            capture_output=True,
        ).returncode
        == 0
    )


if can_use_perf():
    config.available_features.add("perf")
clang_bpf = next(
    (
        path
        for path in map(shutil.which, ("clang", "clang-22", "clang-19", "clang-16", "clang-14"))
        if path
    ),
    None,
)
if clang_bpf:
    config.available_features.add("clang-bpf")
    config.substitutions.append(("%clang-bpf", clang_bpf))
if os.path.exists("/usr/include/elfutils/libdwfl.h"):
    config.available_features.add("libdw")
if config.bpf == "ON":
    config.available_features.add("bpf-tables")
if can_use_bpf():
    config.available_features.add("bpf")
if os.path.exists(os.path.join(config.build, "examples", "bpf", "sframe_stacks")):
    config.available_features.add("bpf-example")
if os.path.exists(os.path.join(config.build, "tools", "sframe-profile", "bpf", "record.bpf.o")):
    config.available_features.add("bpf-recorder")
if os.path.exists("/sys/bus/event_source/devices/kprobe"):
    config.available_features.add("kprobes")
if os.path.exists(os.path.join(config.build, "examples", "orc_jit")):
    config.available_features.add("orc-example")
if platform.machine() in ("x86_64", "AMD64"):
    config.available_features.add("amd64")
for linker in ("ld.lld", "mold"):
    if shutil.which(linker, path=config.environment["PATH"]):
        config.available_features.add(linker.removeprefix("ld."))
if can_trace():
    config.available_features.add("ptrace")
map_files = "/proc/self/map_files"
if os.path.isdir(map_files) and any(
    os.path.exists(os.path.join(map_files, name)) for name in os.listdir(map_files)
):
    config.available_features.add("map-files")
if ctypes.CDLL(None).syscall(444, None, 0, 1) > 0:  # landlock_create_ruleset: the version
    config.available_features.add("landlock")

if (
    os.path.exists(config.seccomp) and ctypes.CDLL(None).prctl(21, 0, 0, 0, 0) >= 0
):  # PR_GET_SECCOMP: the kernel has it
    config.available_features.add("seccomp")

ways = lit_config.params.get("cores", os.environ.get("SFRAME_TEST_CORES", "kernel,gdb")).split(",")
if "kernel" in ways and kernel_makes_cores():
    config.available_features |= {"cores", "kernel-cores"}
if "gdb" in ways and gdb_makes_cores():
    config.available_features |= {"cores", "gdb-cores"}
make_core = plain_paths.plain(
    os.path.join(config.test_source_root, "unwind", "Inputs", "make-core"), links
)
config.core_maker = {
    "make_core": make_core,
    "core_how": "kernel" if "kernel-cores" in config.available_features else "gdb",
}
config.substitutions.append(("%core", "sh %(make_core)s %(core_how)s" % config.core_maker))
config.substitutions.append(("%gcore", "sh %s gdb" % make_core))
