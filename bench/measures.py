# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/run and bench/compare measure: whole commands, and the libraries' Google Benchmark
programs.

A job runs one or more measures once per round. A measure has up to three roles: `ours`; `peer`, the
other program that does the same; and `limit`, what the job cannot be faster than (bench/limit.cc,
or a bare decoder).
"""

import atexit
import dataclasses
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ROLES = ("ours", "peer", "limit")


@dataclasses.dataclass
class Measure:
    key: str  # "dump.gnu": the group, then what of it
    title: str
    names: dict  # role -> what is measured, for readers
    unit: str = "ms"  # or "ns" or "million/s"
    samples: dict = dataclasses.field(
        default_factory=lambda: {role: [] for role in ROLES}
    )  # in `unit`; elapsed time
    cpu: dict = dataclasses.field(
        default_factory=lambda: {role: [] for role in ROLES}
    )  # ms, commands only
    memory: dict = dataclasses.field(
        default_factory=dict
    )  # role -> peak MiB with the pages of mapped files

    def to_json(self):
        """As a report has it; three digits after the point are more than a measurement has."""
        rounded = {
            key: {
                role: [round(value, 3) for value in values]
                for role, values in getattr(self, key).items()
            }
            for key in ("samples", "cpu")
        }
        return {
            **dataclasses.asdict(self),
            **rounded,
            "memory": {role: round(value, 1) for role, value in self.memory.items()},
        }


def run_once(argv):
    """Milliseconds of one run: elapsed, and processor time of all its threads. Its output is thrown
    away."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)] + [
        (os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)
    ]
    start = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)
    _, _, usage = os.wait4(pid, 0)
    return (time.perf_counter() - start) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def peak_memory(argv):
    """Peak MiB of one run, by time(1): a child of this program would start with this program's
    memory. None without time(1)."""
    if not os.path.exists("/usr/bin/time"):
        return None
    with tempfile.NamedTemporaryFile("r") as report:
        subprocess.run(
            ["/usr/bin/time", "-q", "-f", "%M", "-o", report.name, *argv],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return int(report.read().split()[-1]) / 1024


class CommandJob:
    """One measure: whole commands, {role: (name, argv)}. Roles whose program is missing are left
    out."""

    def __init__(self, key, title, **roles):
        self.commands = {role: argv for role, (_, argv) in roles.items() if argv and argv[0]}
        self.measures = [Measure(key, title, {role: roles[role][0] for role in self.commands})]

    def program(self):
        return self.commands["ours"][0]

    def warm_up(self):
        """Fills the caches; measures memory."""
        for role, argv in self.commands.items():
            memory = peak_memory(argv)
            if memory is None:
                run_once(argv)
            else:
                self.measures[0].memory[role] = memory

    def round(self, only=ROLES):
        for role, argv in self.commands.items():
            if role not in only:
                continue
            elapsed, cpu = run_once(argv)
            self.measures[0].samples[role].append(elapsed)
            self.measures[0].cpu[role].append(cpu)


class BenchmarkJob:
    """Several measures, each a benchmark of one Google Benchmark program: {(measure, role): its
    name}. A value is the time of an iteration, or a counter of that name in seconds ("per_frame"),
    or the rate of items."""

    COUNTERS = {"items_per_second": 1e-6, "per_frame": 1e9}
    UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

    def __init__(self, argv, measures, counter=None, environment=None):
        self.argv, self.counter, self.environment = argv, counter, environment
        self.measures = [measure for measure, _ in measures]
        self.wanted = {
            name: (measure, role) for measure, names in measures for role, name in names.items()
        }

    def program(self):
        return self.argv[0]

    def warm_up(self):
        pass

    def round(self, only=ROLES):
        pattern = "|".join(
            "^" + re.escape(name) + "$" for name, (_, role) in self.wanted.items() if role in only
        )
        done = subprocess.run(
            [
                *self.argv,
                "--benchmark_format=json",
                f"--benchmark_filter={pattern}",
                "--benchmark_min_time=0.03",
            ],
            capture_output=True,
            text=True,
            env={**os.environ, **(self.environment or {})},
        )
        if done.returncode != 0 or not done.stdout:
            return
        for found in json.loads(done.stdout)["benchmarks"]:
            at = self.wanted.get(found["name"])
            if not at or "error_occurred" in found:
                continue
            measure, role = at
            value = (
                found[self.counter] * self.COUNTERS[self.counter]
                if self.counter
                else found["cpu_time"] * self.UNITS[found["time_unit"]]
            )
            measure.samples[role].append(value)


class Programs:
    """Where the programs and their peers are. With a folder for copies, our programs run as copies,
    which renew() makes again: where the kernel happens to keep a file's pages makes up to 3 % of a
    short program's time, and 8 % for the file that ld wrote."""

    def __init__(self, build, peers=None, copies=None):
        self.build, self.peers, self.copies, self.used = (
            os.path.abspath(build),
            peers,
            copies,
            set(),
        )

    def has(self, name):
        return os.path.exists(os.path.join(self.build, "bin", name))

    def ours(self, name):
        if not self.copies or not self.has(name):
            return os.path.join(self.build, "bin", name)
        if name not in self.used:
            os.makedirs(self.copies, exist_ok=True)
            self._copy(name)
            self.used.add(name)
        return os.path.join(self.copies, name)

    def renew(self, names):
        for name in self.used & set(names):
            self._copy(name)

    def _copy(self, name):
        new = os.path.join(self.copies, name + ".new")
        shutil.copy(os.path.join(self.build, "bin", name), new)
        os.rename(new, os.path.join(self.copies, name))

    def peer(self, name):
        """The peer's path, newer releases first; None if it is not there."""
        path = os.path.join(self.peers or "", "sid", "bin", name)
        return path if self.peers and os.path.exists(path) else shutil.which(name)

    def version(self, name):
        """ "objdump 2.47", from what the program says about itself."""
        path = self.peer(name)
        line = (
            subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if path
            else ""
        )
        number = re.search(r"\b\d+\.[\d.]*\d", line)
        return f"{name} {number[0]}" if number else name


class Inputs:
    """What is measured with, made in one folder when it is first needed, by the programs of one
    build."""

    SOURCE = os.path.dirname(os.path.abspath(__file__))

    def __init__(self, folder, programs, library, functions, large=()):
        self.folder, self.programs, self.shared_library, self.functions, self.large = (
            folder,
            programs,
            library,
            functions,
            large,
        )
        self.processes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def _made(self, name, argv):
        path = self.path(name)
        if not os.path.exists(path):
            subprocess.run([*argv, path], check=True, stdout=subprocess.DEVNULL)
        return path

    def section(self, version):
        return self._made(
            f"v{version}.so",
            [self.programs.ours("make-section"), str(self.functions), str(version)],
        )

    def cfi(self, functions):
        return self._made(f"{functions}.cfi", [self.programs.ours("make-cfi"), str(functions)])

    def section_of_library(self):
        return self._made(
            "library.sframe",
            [
                self.programs.ours("sframe-gen"),
                self.shared_library,
                "--emit=section",
                "--report=none",
                "-o",
            ],
        )

    def section_bytes(self, path, name):
        """FILE:OFFSET:SIZE of a section, as bench/limit takes it."""
        for line in subprocess.run(
            ["readelf", "-SW", path], capture_output=True, text=True
        ).stdout.splitlines():
            fields = line.split("]", 1)[-1].split()
            if fields[:1] == [name]:
                return f"{path}:0x{fields[3]}:0x{fields[4]}"
        return path

    def output_size(self, argv):
        return len(subprocess.run(argv, capture_output=True).stdout)

    def threads(self, name, options=()):
        return self._made(
            name,
            [
                "gcc",
                "-O1",
                "-fomit-frame-pointer",
                "-pthread",
                os.path.join(self.SOURCE, "threads.c"),
                *options,
                "-o",
            ],
        )

    def core(self, name, options=()):
        program, core = self.threads(name, options), self.path(name + ".core")
        if not os.path.exists(core):
            subprocess.run(
                [
                    "gdb",
                    "-batch",
                    "-nx",
                    "-ex",
                    "run",
                    "-ex",
                    f"generate-core-file {core}",
                    program,
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return program, core

    def sidecars(self, *files):
        folder = self.path("sidecars")
        for file in files:
            subprocess.run(
                [
                    self.programs.ours("sframe-gen"),
                    file,
                    "-o",
                    folder + "/",
                    "--emit=sidecar",
                    "--report=none",
                ],
                stderr=subprocess.DEVNULL,
            )
        return folder

    def live(self):
        """A process of 65 threads that waits."""
        if not self.processes:
            self.processes.append(
                subprocess.Popen([self.threads("threads"), "stay"], stdout=subprocess.PIPE)
            )
            self.processes[0].stdout.readline()
        return str(self.processes[0].pid)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


# Each function makes the jobs of a group. `limit` is bench/limit with options.


def start(programs, inputs, limit):
    peers = {"dump": "readelf", "gen": "objcopy", "verify": "readelf", "unwind": "eu-stack"}
    for name, peer in peers.items():
        program = f"sframe-{name}"
        yield CommandJob(
            f"start.{name}",
            "start of the program",
            ours=(f"{program} --version", [programs.ours(program), "--version"]),
            peer=(f"{peer} --version", [programs.peer(peer), "--version"]),
            limit=("`true`", ["true"]),
        )


def dump(programs, inputs, limit):
    v3, v2, program = inputs.section(3), inputs.section(2), programs.ours("sframe-dump")
    for name, file, peer in (
        ("gnu", v3, "objdump"),
        ("llvm", v2, "llvm-readobj-22"),
        ("text", v3, None),
        ("json", v3, None),
    ):
        argv = [program, f"--format={name}", file]
        yield CommandJob(
            f"dump.{name}",
            f"{inputs.functions:,} functions",
            ours=(f"sframe-dump --format={name}", argv),
            peer=(
                peer and programs.version(peer) + " --sframe",
                peer and [programs.peer(peer), "--sframe", file],
            ),
            limit=limit(
                "read the file, write as many bytes",
                "--read",
                file,
                "--write",
                str(inputs.output_size(argv)),
            ),
        )
    yield CommandJob(
        "dump.stats",
        f"{inputs.functions:,} functions",
        ours=("sframe-dump --stats", [program, "--stats", v3]),
        limit=limit("read the file", "--read", v3),
    )


def gen(programs, inputs, limit):
    library, emit = inputs.shared_library, "sframe-gen --emit=section"
    name = os.path.basename(library)

    def convert(path, *options, to=inputs.path("out.sframe")):
        return [
            programs.ours("sframe-gen"),
            path,
            "-o",
            to,
            "--emit=section",
            "--report=none",
            *options,
        ]

    def readelf(path):
        return (
            programs.version("readelf") + " --debug-dump=frames-interp",
            [programs.peer("readelf"), "--debug-dump=frames-interp", path],
        )

    def read(path):
        return limit("read .eh_frame", "--read", inputs.section_bytes(path, ".eh_frame"))

    section = inputs.section_of_library()
    bare = limit(
        "read .eh_frame, write the section",
        "--read",
        inputs.section_bytes(library, ".eh_frame"),
        "--write",
        str(os.path.getsize(section)),
    )
    rows = (
        ("LLVM's row interpreter alone", [programs.ours("llvm-rows"), library])
        if programs.has("llvm-rows")
        else (None, None)
    )
    yield CommandJob(
        "gen.all", name, ours=(emit, convert(library)), peer=readelf(library), limit=bare
    )
    if os.path.isdir("/dev/shm"):  # without the wait for the disk (fsync)
        in_memory = f"/dev/shm/sframe-bench-{os.getpid()}"
        atexit.register(lambda: os.path.exists(in_memory) and os.remove(in_memory))
        yield CommandJob(
            "gen.memory",
            name,
            ours=(emit + " -o /dev/shm/...", convert(library, to=in_memory)),
            limit=bare,
        )
    yield CommandJob(
        "gen.j1", name, ours=(emit + " -j1", convert(library, "-j1")), peer=rows, limit=bare
    )
    yield CommandJob(
        "gen.no-share",
        name,
        ours=(emit + " --no-share", convert(library, "--no-share")),
        limit=bare,
    )
    made = inputs.cfi(10 * inputs.functions)
    yield CommandJob(
        "gen.large",
        f"{10 * inputs.functions:,} functions",
        ours=(emit, convert(made)),
        limit=read(made),
    )
    for path in inputs.large:
        key, title = f"gen.file.{path}", os.path.basename(path)
        if inputs.section_bytes(path, ".eh_frame") == path:  # a kernel has no CFI
            yield CommandJob(key, title, ours=(emit + " --from=code", convert(path, "--from=code")))
        else:
            yield CommandJob(
                key, title, ours=(emit, convert(path)), peer=readelf(path), limit=read(path)
            )


def verify(programs, inputs, limit):
    name, section = os.path.basename(inputs.shared_library), inputs.section_of_library()
    argv = [programs.ours("sframe-verify"), inputs.shared_library, "--sframe", section]
    yield CommandJob(
        "verify.cfi",
        name,
        ours=("sframe-verify --check=structure,cfi", argv + ["--check=structure,cfi"]),
        limit=limit(
            "read .eh_frame and the section",
            "--read",
            inputs.section_bytes(inputs.shared_library, ".eh_frame"),
            "--read",
            section,
        ),
    )
    yield CommandJob(
        "verify.all",
        name,
        ours=("sframe-verify", argv),
        limit=limit("Zydis on one core", "--decode", inputs.shared_library),
    )


def unwind(programs, inputs, limit):
    program = programs.ours("sframe-unwind")
    for name, options in (("dynamic", ()), ("static", ("-static",))):
        file, core = inputs.core(name, options)
        quiet = [program, "--no-names", core, file]
        eu = [programs.peer("eu-stack"), "-q", "--core", core, "-e", file]
        bare = limit("read 64 KiB of each stack", "--stacks", core)
        version = programs.version("eu-stack")
        yield CommandJob(
            f"unwind.{name}",
            f"core, 65 threads, {name}",
            ours=("sframe-unwind --no-names", quiet),
            peer=(version + " -q", eu),
            limit=bare,
        )
        if name == "dynamic":
            sidecars = inputs.sidecars(file, "/lib/x86_64-linux-gnu/libc.so.6")
            yield CommandJob(
                "unwind.sframe",
                f"core, 65 threads, {name}",
                peer=(version + " -q", eu),
                limit=bare,
                ours=("sframe-unwind --no-names --sframe-dir", [*quiet, "--sframe-dir", sidecars]),
            )
        yield CommandJob(
            f"unwind.{name}.names",
            f"core, 65 threads, {name}",
            ours=("sframe-unwind", [program, core, file]),
            limit=bare,
            peer=(version, [argument for argument in eu if argument != "-q"]),
        )


def live(programs, inputs, limit):
    pid, program, eu, version = (
        inputs.live(),
        programs.ours("sframe-unwind"),
        programs.peer("eu-stack"),
        programs.version("eu-stack"),
    )
    bare = limit("the system calls alone", "--stop", pid)
    yield CommandJob(
        "live",
        "process, 65 threads",
        ours=("sframe-unwind --no-names --pid", [program, "--no-names", "--pid", pid]),
        peer=(version + " -q", [eu, "-q", "-p", pid]),
        limit=bare,
    )
    yield CommandJob(
        "live.names",
        "process, 65 threads",
        ours=("sframe-unwind --pid", [program, "--pid", pid]),
        peer=(version, [eu, "-p", pid]),
        limit=bare,
    )


def walk(programs, inputs, limit):
    _, core = inputs.core("dynamic")
    measures = [
        (
            Measure(
                f"walk.{kind}.{source}",
                "core, 65 threads, per frame",
                {"ours": f"a {kind} walker, by {label}"},
                "ns",
            ),
            {"ours": f"{kind}/{source}"},
        )
        for kind in ("warm", "cold")
        for source, label in (("sframe", "SFrame"), ("cfi", "CFI"))
    ]
    yield BenchmarkJob([programs.ours("walk-bench"), core], measures, "per_frame")


def here(programs, inputs, limit):
    names = {"ours": "`callers()`", "peer": "`_Unwind_Backtrace`", "limit": "a chain of pointers"}
    yield BenchmarkJob(
        [programs.ours("here-bench")],
        [
            (
                Measure("here.warm", "own stack of 200 frames, per frame", names, "ns"),
                {
                    "ours": "warm/by_here/190",
                    "peer": "warm/by_libgcc/190",
                    "limit": "warm/by_chain/190",
                },
            )
        ],
        "per_frame",
    )


def codec(programs, inputs, limit):
    for functions in (100_000, 1_000_000):
        title = f"{functions:,} functions"
        rates = [
            (
                Measure(
                    f"codec.{what}.{functions}", title + ", rows", {"ours": label}, "million/s"
                ),
                {"ours": f"{benchmark}/{functions}"},
            )
            for what, label, benchmark in (
                ("decode", "decode", "decode_all_rows/v3"),
                ("encode", "encode", "encode_all_rows/plain"),
            )
        ]
        finds = []
        for what, label, benchmark in (
            ("find", "`Section::find`", "find_in_section/v3"),
            ("index", "`Index::find`", "find_in_index"),
        ):
            with_peer = functions == 100_000
            names = {"ours": label, **({"peer": "GNU `sframe_find_fre`"} if with_peer else {})}
            benchmarks = {"ours": f"{benchmark}/{functions}"}
            if with_peer and what == "find":
                benchmarks["peer"] = f"gnu_find_fre/{functions}"
            finds.append(
                (
                    Measure(
                        f"codec.{what}.{functions}",
                        title + ", a lookup",
                        {role: names[role] for role in benchmarks},
                        "ns",
                    ),
                    benchmarks,
                )
            )
        yield BenchmarkJob([programs.ours("codec-bench")], rates, "items_per_second")
        yield BenchmarkJob([programs.ours("codec-bench")], finds)


def code(programs, inputs, limit):
    names = {"ours": "analysis with every row compared", "limit": "Zydis alone, with operands"}
    yield BenchmarkJob(
        [programs.ours("code-bench")],
        [
            (
                Measure(
                    "code",
                    os.path.basename(inputs.shared_library) + ", instructions, one thread",
                    names,
                    "million/s",
                ),
                {"ours": "analyse_and_compare", "limit": "zydis"},
            )
        ],
        "items_per_second",
        {"SFRAME_BENCH_ELF": inputs.shared_library, "SFRAME_BENCH_EACH": "16"},
    )


GROUPS = {
    group.__name__: group
    for group in (start, dump, gen, verify, unwind, live, walk, here, codec, code)
}


def jobs(programs, inputs, groups):
    """The jobs of these groups, made one after the other while they are used."""

    def limit(name, *options):
        return (name, [programs.ours("limit"), *options] if programs.has("limit") else None)

    needs = {
        "walk": "walk-bench",
        "here": "here-bench",
        "codec": "codec-bench",
        "code": "code-bench",
        "dump": "make-section",
        "gen": "make-cfi",
    }
    for group in groups:
        if group in needs and not programs.has(needs[group]):
            continue
        if group in ("gen", "verify", "code") and not os.path.exists(inputs.shared_library):
            continue
        yield from GROUPS[group](programs, inputs, limit)
