"""How each command of the pages and of --help is tried; see pages.py. The key is the command as it
stands there, without its comment."""
import dataclasses


@dataclasses.dataclass
class Case:
    # Shell: makes the files that the command needs, in an empty folder. $inputs is test/inputs,
    # $pages this folder; core PROGRAM... makes `core`. What it leaves running is killed at the end.
    prepare: str = ""
    code: int = 0
    shows: object = "same"  # how the output agrees with the page's: "same", "numbers" (may differ), or patterns that both have a line for
    needs: tuple = ()  # programs, paths, features of lit; without one of them it is skipped
    stand_ins: dict = dataclasses.field(
        default_factory=dict
    )  # parts of the command, and what is put in their place
    instead: str = ""  # what is run in place of the whole command
    not_here: str = ""  # why it is not run at all


FIXTURE = 'cp "$inputs"/amd64/v3-gas247.so .; '
MALFORMED = (
    'mkdir ../cases; cp "$inputs"/cases/rows-equal-offset-v3-amd64.sframe ../cases; ' + FIXTURE
)
COMPILE = 'gcc -O2 -g "$pages"/server.c'
PROGRAM = COMPILE + " -o %s; "
TABLED = PROGRAM + "sframe-gen %s -o %s --report=none; "
A_OUT, APP = TABLED % (("a.out",) * 3), PROGRAM % "app"
LIBRARY = COMPILE + " -shared -fPIC -o %s; "
TABLED_LIBRARY = LIBRARY + "sframe-gen %s -o %s --report=none; "
LIBRARIES = "mkdir -p build; " + "".join(
    TABLED_LIBRARY % (("build/lib%s.so" % name,) * 3) for name in ("one", "two")
)
SERVER_CORE = PROGRAM % "server" + 'sh "$make_core" "$core_how" "$PWD"/core "$PWD"/server; '
SESSIONS_CORE = (
    'gcc -O2 -g "$project"/test/lit/unwind/Inputs/crashes/sessions.c -o sessions -pthread; '
    'sh "$make_core" "$core_how" "$PWD"/core "$PWD"/sessions; '
)
MINIDUMP = SERVER_CORE + 'python3 "$project"/test/lit/unwind/Inputs/minidump.py core crash.dmp; '
BARE_SERVER = TABLED % (("server",) * 3) + "objcopy -R .eh_frame -R .eh_frame_hdr server; "
OUR_UNWINDER = {
    "gdb -q": "SFRAME_LIBRARY=build/release/lib/libsframe-c.so.0 gdb -q",
    "~/.local/share/sframe/gdb": "interfaces/gdb",
}
CRASHES = "mkdir crashes; for i in 1 2 3; do cp core crashes/core.$i; done; "
SIDECARS = "sframe-gen ./server -o sidecars/ --emit=sidecar --report=none; "
SLEEPER = 'sleep 1000 & echo $! > pid; until grep -q "^sleep$" /proc/$(cat pid)/comm && grep -q "^State:.S" /proc/$(cat pid)/status; do :; done; '
PID = {"4711": "$(cat pid)"}
BIN = "mkdir bin; cp /bin/ls bin/one; cp /bin/cat bin/two; "
BASH = "sframe-gen /usr/bin/bash -o bash.sframe --emit=section --report=none; "
BASH_COPY = "cp /usr/bin/bash app; "
PACKAGES = 'python3 "$project"/test/lit/sweep/Inputs/packages.py "$inputs" packages; '
SWEEP = PACKAGES + "sframe-sweep run -q packages --db %s; "
MIRROR = PACKAGES + (
    "mkdir -p mirror/dists/stable/main/binary-amd64 mirror/pool; mv packages/*_amd64.deb mirror/pool; "
    'echo "Filename: pool/one_1.0_amd64.deb" | xz > mirror/dists/stable/main/binary-amd64/Packages.xz; '
)
BASELINE = "sframe-verify -q --write-baseline %s %s || true; "
OUR_TREE = 'ln -s "$project"/examples "$project"/lib "$project"/interfaces .; mkdir build; ln -s "$build" build/release; '
PYTHON = 'mkdir sframe; cp "$project"/interfaces/python/sframe/*.py "$build"/lib/libsframe-c.so.0 sframe; '
MESON_PROJECT = "echo \"int main(void) { return 0; }\" > app.c; { echo \"project('pipeline', 'c', default_options: ['prefix=/usr'])\"; cat block; } > meson.build; "
RELEASE = "mkdir -p build/release/bin; sframe-gen /bin/cat -o build/release/bin/app --report=none; printf '#!/bin/sh\n' > build/release/bin/script; "
WRONG_COMPILER = '"$project"/test/lit/conformance/Inputs/wrong-cc --language c --programs 1 --seed 3 --timeout 60 '
CI_JOB = "test/lit/install/ci-job.test runs it"
INSTALLS = "installs into the build folder's list; test/lit/install does the same"
BUILDS = "builds the whole tree"
RECORDS = "needs rights to record; test/lit/profile does the same where there are"
PERF_DATA = (
    'cores="$project"/test/lit/unwind/Inputs/cores; zstd -qdc "$cores"/aarch64.core.zst > made.core; PYTHONPATH="$project"/test/lib '
    'python3 "$project"/test/lit/profile/Inputs/perf-from-core.py made.core "$cores"/aarch64.elf perf.data; '
)
NEEDS_TIME = "needs root, packages and time"

# What every machine shows of the server's stack: other frames need the C library's debug symbols
# for their names.
STACK = [
    r"^TID \d+:$",
    r"^#0  0x[0-9a-f]{16}  .*\[context\]$",
    r"^#\d  0x[0-9a-f]{16}  abort \+ 0x[0-9a-f]+  \(libc\.so\.6\)  \[cfi\]$",
    r"^#\d  0x[0-9a-f]{16}  main \+ 0x[0-9a-f]+  \(server\)  \[sframe\]$",
]

CASES = {
    # docs/sframe-sweep.md, and --help
    "sframe-sweep run packages/ --db sweep.db": Case(PACKAGES),
    "sframe-sweep run --installed --db sweep.db": Case(
        stand_ins={"--installed": "--installed --shard 1/100000"}, needs=("/var/lib/dpkg/status",)
    ),
    "sframe-sweep run mirror/dists/stable/main/binary-amd64/Packages.xz --db sweep.db": Case(
        MIRROR, needs=("xz",)
    ),
    "sframe-sweep run mirror/dists/stable/main/binary-amd64/Packages.xz --db deb.db": Case(
        MIRROR, needs=("xz",)
    ),
    "sframe-sweep run packages/ --db part3.db --shard 3/100": Case(
        PACKAGES, stand_ins={"3/100": "2/3"}
    ),
    "sframe-sweep merge part*.db -o sweep.db": Case(SWEEP % "part1.db" + "cp part1.db part2.db; "),
    "sframe-sweep spread packages/ --db sweep.db --shards 100 --sshlogin node1,node2": Case(
        PACKAGES, stand_ins={"--shards 100": "--shards 2", "node1,node2": ":"}, needs=("parallel",)
    ),
    "sframe-sweep spread packages/ --db sweep.db --shards 100 --sshlogin n1,n2": Case(
        PACKAGES, stand_ins={"--shards 100": "--shards 2", "n1,n2": ":"}, needs=("parallel",)
    ),
    "sframe-sweep spread packages/ --db sweep.db --shards 100 --engine slurm": Case(
        not_here="needs a cluster; test/lit/sweep/slurm.test starts one"
    ),
    "sframe-sweep run --installed --db amd64.db": Case(
        stand_ins={"--installed": "--installed --shard 1/100000"}, needs=("/var/lib/dpkg/status",)
    ),
    "sframe-sweep run debs-arm64 --db arm64.db": Case(PACKAGES + "mv packages debs-arm64; "),
    "sframe-sweep run debs-s390x --db s390x.db": Case(PACKAGES + "mv packages debs-s390x; "),
    "sframe-sweep merge amd64.db arm64.db s390x.db -o distribution.db": Case(
        SWEEP % "amd64.db" + "cp amd64.db arm64.db; cp amd64.db s390x.db; "
    ),
    "sframe-sweep summary distribution.db": Case(SWEEP % "distribution.db"),
    "sframe-sweep summary sweep.db": Case(SWEEP % "sweep.db"),
    "sframe-sweep report sweep.db -o report.html --compare old.db": Case(
        SWEEP % "sweep.db" + "cp sweep.db old.db; "
    ),
    # docs/conformance.md, and --help
    "sframe-conformance readers --library ./my-reader.so": Case(
        'cp "$build"/conformance/sframe-utils.so my-reader.so; ',
        stand_ins={"my-reader.so": "my-reader.so --case 'one-row/v3-*' --timeout 60"},
        needs=("!asan",),
    ),
    "sframe-conformance readers --command ./my-reader --level minimal": Case(
        'printf \'#!/bin/sh\\nPYTHONPATH="%s" exec python3 -m sframe_conformance.reader\\n\' "$project"/conformance > my-reader; chmod +x my-reader; ',
        stand_ins={"--level": "--timeout 60 --case one-row --level"},
        needs=("amd64",),
    ),
    "sframe-conformance writers --as 'as --gsframe' --ld ld": Case(
        code=1, needs=("amd64", "binutils-2.40")
    ),
    "sframe-conformance writers --as 'aarch64-linux-gnu-as --gsframe'": Case(
        code=1, needs=("aarch64-binutils-2.40",)
    ),
    "sframe-conformance compilers --cc gcc --options=-O3 --save bugs": Case(
        stand_ins={"gcc --options=-O3": WRONG_COMPILER + "--options=-O1"},
        code=1,
        needs=("gcc", "amd64", "ptrace", "!asan"),
    ),
    "sframe-conformance compilers --cc gcc --options=-O2 --language c --programs 10 --save bugs": Case(
        stand_ins={"gcc --options=-O2": WRONG_COMPILER + "--options=-O1", "--programs 10": ""},
        code=1,
        needs=("gcc", "amd64", "ptrace", "!asan"),
        shows=[
            r"^x86_64/.* failed$",
            r"^    x86_64/.*/missing-.*: no row for the change by ",
            r"^    0x[0-9a-f]+ .*: cfa=.*; right: cfa=",
            r"cases, .* 0 passed, \d failed,",
            r"^FAILED$",
        ],
    ),
    "sframe-conformance make -o sections": Case(stand_ins={"sections": "sections --case one-row"}),
    "sframe-conformance readers --library ./my-reader.so --case outermost-function/v3-amd64": Case(
        'cp "$build"/conformance/linux.so my-reader.so; ', code=1, needs=("!asan",)
    ),
    # README.md, CONTRIBUTING.md
    "scripts/demo": Case(not_here=BUILDS),
    "sframe-gen app -o app --shrink-cfi": Case(APP, shows="numbers", needs=("gcc",)),
    "sframe-gen app -o app --shrink-cfi=sync --full-cfi=app.frames": Case(
        APP, shows="numbers", needs=("gcc", "amd64")
    ),
    "sframe-gen app -o app --shrink-cfi=faults --full-cfi=app.frames": Case(
        APP, shows="numbers", needs=("gcc", "amd64")
    ),
    "objcopy --add-section .debug_frame=app.frames app.debug": Case(
        APP
        + "sframe-gen app -o app.small --shrink-cfi=sync --full-cfi=app.frames --report=none; objcopy --only-keep-debug app app.debug; ",
        needs=("gcc", "objcopy", "amd64"),
    ),
    "sframe-gen app -o app --optimize=size": Case(APP, shows="numbers", needs=("gcc",)),
    "sframe-gen app -o app --from=cfi,code": Case(APP, shows="numbers", needs=("gcc",)),
    "sframe-gen stripped -o stripped.sframe --emit=section --from=code --report=json": Case(
        "cp /usr/bin/bash stripped; ", shows="numbers"
    ),
    "sframe-gen app -o app --from=cfi,code --repair --report=json --report-file report.json": Case(
        APP, needs=("gcc",)
    ),
    "sframe-dump app --origin report.json": Case(
        APP
        + "sframe-gen app -o app --from=cfi,code --repair --report=json --report-file report.json; ",
        needs=("gcc",),
        shows=[r"^ +START +CFA +RA +FP +ORIGIN$", r" cfi$"],
    ),
    "sframe-gen libfoo.so -o libfoo.so --repair=list": Case(LIBRARY % "libfoo.so", needs=("gcc",)),
    "sframe-gen libfoo.so -o libfoo.so --repair --report=json": Case(
        LIBRARY % "libfoo.so", needs=("gcc",)
    ),
    "sframe-gen app -o app --from=sframe --optimize=size": Case(
        APP + "sframe-gen app -o app --report=none; ", shows="numbers", needs=("gcc",)
    ),
    "scripts/measure-code --blind --objdump llvm-objdump DIR...": Case(
        BIN, stand_ins={"DIR...": "bin", "scripts/measure-code": '"$project"/scripts/measure-code'}
    ),
    "scripts/compare-runtimes": Case(not_here="needs thirty compilers and interpreters"),
    "scripts/measure-flags SOURCE...": Case(
        not_here="compiles for hours; source/measure-flags.test runs a part"
    ),
    "scripts/measure-size --totals --largest 300 DIR...": Case(
        BIN, stand_ins={"DIR...": "bin", "scripts/measure-size": '"$project"/scripts/measure-size'}
    ),
    "sframe-gen app -o app --optimize=smallest": Case(APP, shows="numbers", needs=("gcc",)),
    "scripts/test": Case(not_here="runs this suite"),
    "scripts/test --all": Case(not_here="runs this suite"),
    "scripts/readers kernel": Case(not_here=NEEDS_TIME),
    "scripts/readers glibc": Case(not_here=NEEDS_TIME),
    "scripts/readers optimized": Case(not_here=NEEDS_TIME),
    "scripts/readers linkers": Case(not_here=NEEDS_TIME),
    "cmake --preset release && cmake --build --preset release": Case(
        instead='cd "$project" && cmake --list-presets=all . | grep -c \'"release"\' | grep -x 2',
        needs=("cmake",),
    ),
    "sframe-gen /usr/bin/bash -o bash.sframe --emit=section": Case(
        shows="numbers", needs=("/usr/bin/bash",)
    ),
    "sframe-dump bash.sframe --address 0x30000": Case(
        BASH,
        shows=[
            r"^  \[\d+\] 0x[0-9a-f]+-0x[0-9a-f]+$",
            r"^      [\d,]+ bytes, addr\d, \d+ rows$",
            r"^      START +CFA +RA +FP$",
            r"^      0x[0-9a-f]+ +sp\+8 +fixed +same$",
        ],
        needs=("/usr/bin/bash",),
    ),
    "sframe-verify /usr/bin/bash --sframe bash.sframe": Case(
        BASH, shows="numbers", needs=("/usr/bin/bash",)
    ),
    "sframe-gen /usr/bin/git -o git && ./git --version && sframe-verify git": Case(
        needs=("/usr/bin/git",)
    ),
    "sframe-gen ./server -o sidecars/ --emit=sidecar": Case(PROGRAM % "server", needs=("gcc",)),
    "sframe-unwind core ./server --sframe-dir sidecars": Case(
        SERVER_CORE + SIDECARS, shows=STACK, needs=("gcc", "cores")
    ),
    # sframe-dump
    "sframe-dump --disassemble a.out": Case('cp "$inputs"/amd64/v3-gas247.so a.out'),
    "sframe-dump --disassemble --function frame_fp v3-gas247.so": Case(FIXTURE),
    "sframe-dump --list a.out": Case('cp "$inputs"/amd64/v3-gas247.so a.out'),
    "sframe-dump -v a.out": Case('cp "$inputs"/amd64/v3-gas247.so a.out'),
    "sframe-dump -v --function leaf v3-gas247.so": Case(FIXTURE),
    "sframe-dump --stats -r tree": Case('mkdir tree; cp "$inputs"/amd64/v3-gas247.so tree'),
    "sframe-dump [options] FILE...": Case(instead="sframe-dump --help"),
    "sframe-dump --function frame_fp v3-gas247.so": Case(FIXTURE),
    "sframe-dump --limits=strict v3-gas247.so": Case(FIXTURE),
    "sframe-verify --limits=off app": Case(TABLED % (("app",) * 3), needs=("gcc",)),
    "sframe-dump --stats v3-gas247.so": Case(FIXTURE),
    "sframe-dump --format=gnu ../cases/rows-equal-offset-v3-amd64.sframe | tail -n 2": Case(
        MALFORMED, code=1
    ),
    "sframe-dump a.out": Case(A_OUT, needs=("gcc",)),
    "sframe-dump --function 'Widget::*' a.out": Case(
        'printf "struct Widget { void draw(); };\\nvoid Widget::draw() {}\\nint main() { Widget().draw(); }\\n" > widget.cc;'
        "g++ widget.cc; sframe-gen a.out -o a.out --report=none",
        needs=("g++",),
    ),
    "sframe-dump --address 0x401136 a.out": Case(
        A_OUT, stand_ins={"0x401136": "0x$(nm a.out | sed -n 's/ T main$//p')"}, needs=("gcc", "nm")
    ),
    "sframe-dump --format=json lib.so": Case(TABLED_LIBRARY % (("lib.so",) * 3), needs=("gcc",)),
    "sframe-dump --stats -r /usr/bin": Case(
        BIN + "for f in bin/*; do sframe-gen $f -o $f --report=none; done",
        stand_ins={"/usr/bin": "bin"},
    ),
    "sframe-dump --stats --format=html lib.so -o lib.html": Case(
        TABLED_LIBRARY % (("lib.so",) * 3), needs=("gcc",)
    ),
    "sframe-verify -r /usr/bin /usr/lib --format=sarif -o report.sarif": Case(
        BIN + "for f in bin/*; do sframe-gen $f -o $f --report=none; done; cp -r bin lib",
        stand_ins={"/usr/bin /usr/lib": "bin lib"},
    ),
    "sframe-verify -r build --exclude '*.o'": Case(
        "mkdir build; sframe-gen /bin/ls -o build/ls --report=none"
    ),
    # Linux leaves pages of files out unless it is asked for them.
    "sframe-dump core": Case(
        "echo 0x37 > /proc/self/coredump_filter; "
        + SERVER_CORE.replace("-O2", "-O2 -Wa,--gsframe"),
        needs=("gcc", "cores", "binutils-2.40"),
    ),
    "sframe-gen a.out -o - --emit=section | sframe-dump -": Case(PROGRAM % "a.out", needs=("gcc",)),
    # sframe-gen
    "sframe-gen INPUT -o OUTPUT [options]": Case(instead="sframe-gen --help"),
    "sframe-gen INPUT... --in-place|-o DIR [-r] [options]": Case(instead="sframe-gen --help"),
    "sframe-gen -r --in-place debian/tmp": Case(
        "mkdir -p debian/tmp/usr/bin; cp /bin/ls debian/tmp/usr/bin"
    ),
    "sframe-gen -r --in-place root/usr --exclude '*.[oa]'": Case(
        "mkdir -p root/usr/bin; cd root/usr; cp /bin/ls /bin/cat bin; ln -s ls bin/dir; echo text > readme",
        shows=[
            r"^[\d,]+ files: [\d,]+ converted, 0 up to date, [\d,]+ skipped, 0 refused, 0 failed",
            r"^  covered:   [\d.]+ % of [\d,]+ executable bytes$",
            r"^  with CFI:  [\d.]+ % of [\d,]+ bytes covered$",
            r"^  functions: [\d,]+ \([\d,]+ whole, [\d,]+ in part, [\d,]+ left out\)$",
            r"^  .sframe:   [\d,]+ bytes, [\d,]+ FDEs, [\d,]+ rows$",
            r"^  written:   [\d,]+ bytes, from files of [\d,]+ bytes$",
            r"^  skipped:   [\d,]+ not an ELF file$",
            r"^  skipped:   [\d,]+ symbolic link$",
        ],
    ),
    "sframe-gen -r /usr/lib -o sidecars/ --emit=sidecar": Case(BIN, stand_ins={"/usr/lib": "bin"}),
    "sframe-gen -r root -o converted": Case("mkdir -p root/bin; cp /bin/ls root/bin"),
    "sframe-gen /usr/lib/x86_64-linux-gnu/libcrypto.so.3 -o libcrypto.sframe --emit=section": Case(
        shows="numbers", needs=("/usr/lib/x86_64-linux-gnu/libcrypto.so.3",)
    ),
    "sframe-gen app -o app": Case(APP, needs=("gcc",)),
    "sframe-gen libfoo.so -o sidecars/ --emit=sidecar": Case(LIBRARY % "libfoo.so", needs=("gcc",)),
    "sframe-gen app --debug app.debug -o app": Case(
        APP + "objcopy --only-keep-debug app app.debug; strip -g app; ",
        needs=("gcc", "objcopy", "strip"),
    ),
    "sframe-gen libfoo.so -o libfoo.sframe --emit=section": Case(
        LIBRARY % "libfoo.so", needs=("gcc",)
    ),
    "sframe-gen old.so -o new.sframe --from=sframe --emit=section": Case(
        'cp "$inputs"/amd64/v2-gas244.so old.so'
    ),
    "sframe-gen a.sframe -o b.sframe --from=sframe --emit=section --byte-order=big": Case(
        "sframe-gen /bin/ls -o a.sframe --emit=section --report=none"
    ),
    "sframe-gen app -o app.sframe --emit=section --report=json --min-coverage=90 > report.json": Case(
        BASH_COPY, needs=("/usr/bin/bash",)
    ),
    "sframe-gen app -o app.sframe --emit=section --report=json --min-coverage=90": Case(
        BASH_COPY, needs=("/usr/bin/bash",)
    ),
    "sframe-verify app": Case(TABLED % (("app",) * 3), needs=("gcc",)),
    "scripts/run-converted": Case(
        instead='"$project"/scripts/run-converted --bin "$build"/bin dash',
        shows=[
            r"^program +result +loaded and converted +of all loaded$",
            r"^dash +same +\d+ +\d+$",
        ],
        needs=("dash", "ldd"),
    ),
    "sframe-gen foo.o -o foo.o": Case(COMPILE + " -c -o foo.o", needs=("gcc",)),
    "sframe-gen libfoo.a -o libfoo.a": Case(
        COMPILE + " -c -o foo.o; cp foo.o bar.o; ar rc libfoo.a foo.o bar.o", needs=("gcc", "ar")
    ),
    "sframe-gen module.ko -o module.ko --sframe-version=3": Case(
        COMPILE + " -c -o module.ko", needs=("gcc",)
    ),
    # readers
    "sframe-gen --for=glibc app -o app": Case("cp /bin/ls app"),
    "sframe-verify --check=structure --profile=glibc app": Case(
        "sframe-gen --for=glibc /bin/ls -o app --report=none"
    ),
    # sframe-verify
    "sframe-verify FILE... [--sframe FILE|DIR] [--debug FILE] [options]": Case(
        instead="sframe-verify --help"
    ),
    "sframe-verify v3-gas247.so": Case(FIXTURE, code=1),
    "sframe-gen a.out -o a.sframe --emit=section": Case(PROGRAM % "a.out", needs=("gcc",)),
    "sframe-verify a.out": Case(A_OUT, needs=("gcc",)),
    "sframe-verify a.out --sframe a.sframe": Case(
        PROGRAM % "a.out" + "sframe-gen a.out -o a.sframe --emit=section --report=none",
        needs=("gcc",),
    ),
    "sframe-verify /usr/bin/* --sframe sidecars/": Case(
        BIN + "for f in bin/*; do sframe-gen $f -o sidecars/ --emit=sidecar --report=none; done",
        stand_ins={"/usr/bin/*": "bin/*"},
    ),
    "sframe-verify lib.so --debug lib.so.debug": Case(
        COMPILE
        + " -fno-asynchronous-unwind-tables -shared -fPIC -nostdlib -o lib.so; sframe-gen lib.so -o lib.so --report=none;"
        "objcopy --only-keep-debug lib.so lib.so.debug; strip -g lib.so",
        needs=("gcc", "objcopy"),
    ),
    "sframe-verify a.out --ignore S --error C107": Case(A_OUT, needs=("gcc",)),
    "sframe-verify a.out --profile=linux": Case(A_OUT, needs=("gcc",)),
    "sframe-verify *.so --format=sarif -o out.sarif": Case(
        TABLED_LIBRARY % (("lib.so",) * 3), needs=("gcc",)
    ),
    "sframe-verify *.so --format=html -o out.html": Case(
        TABLED_LIBRARY % (("lib.so",) * 3), needs=("gcc",)
    ),
    "sframe-verify app --against app.orig": Case(
        PROGRAM % "app.orig" + "sframe-gen app.orig -o app --shrink-cfi --report=none; ",
        shows="numbers",
        needs=("gcc",),
    ),
    "sframe-verify --compiler-bugs *.so": Case(LIBRARY % "lib.so", needs=("gcc",)),
    "sframe-verify *.so --baseline known.txt": Case(FIXTURE + BASELINE % ("known.txt", "*.so")),
    "sframe-verify --explain C102": Case(),
    "sframe-verify --check=run -- ./a.out 1 2": Case(
        "sframe-gen /usr/bin/expr -o a.out --report=none; ",
        stand_ins={"1 2": "1 + 2"},
        needs=("ptrace", "/usr/bin/expr"),
    ),
    "sframe-verify --compiler-bugs FILE... [--debug FILE] [--format=text|json]": Case(
        instead="sframe-verify --help"
    ),
    "sframe-verify --check=run --run-from EVP_DigestUpdate --run-steps 1000000 -- openssl speed sha256": Case(
        not_here="test/lit/verify/run-from.test follows programs from a function on"
    ),
    "sframe-verify --check=run [FILE...] [options] -- PROGRAM [ARGUMENTS]": Case(
        instead="sframe-verify --help"
    ),
    "QEMU_LD_PREFIX=/usr/aarch64-linux-gnu sframe-verify --check=run -- ./a.out.aarch64": Case(
        not_here="test/lit/verify/run-emulated.test runs programs of other machines"
    ),
    "sframe-gen /usr/bin/expr -o expr --report=none": Case(needs=("/usr/bin/expr",)),
    "sframe-verify --check=run expr -- ./expr 6 '*' 7": Case(
        "sframe-gen /usr/bin/expr -o expr --report=none; ",
        shows="numbers",
        needs=("ptrace", "/usr/bin/expr"),
    ),
    "sframe-verify --write-baseline known.txt build/*.so": Case(
        "mkdir build; " + 'cp "$inputs"/amd64/v3-gas247.so build', code=1
    ),
    "sframe-verify --baseline known.txt build/*.so": Case(
        "mkdir build; "
        + 'cp "$inputs"/amd64/v3-gas247.so build; '
        + BASELINE % ("known.txt", "build/*.so")
    ),
    # sframe-profile
    "sframe-profile [options] -a | -p PID... | [-a] -- PROGRAM ARGS...": Case(
        instead="sframe-profile --help"
    ),
    "sframe-profile [options] FILE": Case(instead="sframe-profile --help"),
    "sframe-profile -o a.html -- ./a.out 1 2": Case(not_here=RECORDS),
    "sframe-profile -p 4711 -o server.pb.gz": Case(not_here=RECORDS),
    "sframe-profile -a -d 10 -o machine.svg": Case(not_here=RECORDS),
    "sframe-profile -e off-cpu -p 4711 -d 10 -o waits.html": Case(not_here=RECORDS),
    "sframe-profile -e uprobe:libc.so.6:malloc -o malloc.pb.gz -- ./a.out": Case(not_here=RECORDS),
    "sframe-profile -a -e off-cpu -d 10 -o wait.svg": Case(not_here=RECORDS),
    "sframe-profile perf.data -o perf.svg": Case(PERF_DATA),
    "sframe-profile perf.data -o profile.html": Case(PERF_DATA),
    "sframe-profile perf.data --format=perf": Case(
        PERF_DATA, shows=[r"^\s+[0-9a-f]+ recurse\+0x[0-9a-f]+ \(.*aarch64\.elf\)$"]
    ),
    # sframe-unwind
    "sframe-unwind [options] CORE [EXECUTABLE]": Case(instead="sframe-unwind --help"),
    "sframe-unwind [options] CORE CORE...": Case(instead="sframe-unwind --help"),
    "sframe-unwind [options] --pid PID": Case(instead="sframe-unwind --help"),
    "printf 'SIGSEGV\\nwrite_second\\nmain\\n' | sha256sum | cut -c1-16": Case(),
    "sframe-unwind -r crashes/": Case(
        SERVER_CORE + CRASHES,
        shows=[
            r"^\d cores in \d groups?$",
            r"^Group 1: \d cores, server, SIGABRT, signature 3:[0-9a-f]{16}$",
        ],
        needs=("gcc", "cores"),
    ),
    "sframe-unwind -r /var/crash": Case(
        SERVER_CORE + CRASHES, stand_ins={"/var/crash": "crashes"}, needs=("gcc", "cores")
    ),
    "sframe-unwind --pid PID [options]": Case(instead="sframe-unwind --help"),
    "sframe-gen server -o sidecars/ --emit=sidecar --report=none": Case(
        PROGRAM % "server", needs=("gcc",)
    ),
    "sframe-unwind core --sframe-dir sidecars": Case(
        SERVER_CORE + SIDECARS,
        shows=[r"^PID \d+: server, SIGABRT$", *STACK],
        needs=("gcc", "cores"),
    ),
    "sframe-unwind core --compare --generate": Case(
        SERVER_CORE,
        shows=[
            r"^TID \d+:$",
            r"^  sframe +\d+ frames$",
            r"^  cfi +\d+ frames$",
            r"^  frame-pointer +\d+ frames  \[heuristic\]$",
            r"^  analysis +\d+ frames  \[heuristic\]$",
        ],
        needs=("gcc", "cores"),
    ),
    "sframe-unwind core --args --locals --source": Case(
        SERVER_CORE,
        shows=[r"^      inlined parse \(n=2\) at .*server\.c:7$"],
        needs=("gcc", "cores"),
    ),
    "sframe-unwind core --source --source-dir ~/src/server": Case(
        SERVER_CORE, stand_ins={"~/src/server": "."}, needs=("gcc", "cores")
    ),
    "sframe-unwind core --modules": Case(
        SERVER_CORE,
        shows=[
            r"^PID \d+: server, SIGABRT$",
            r"^0x[0-9a-f]{16}-0x[0-9a-f]{16}  .*/server$",
            r"^  build ID [0-9a-f]{40}$",
            r"^  file found; frames: CFI; names: full$",
        ],
        needs=("gcc", "cores"),
    ),
    "DEBUGINFOD_URLS=http://127.0.0.1:8002 sframe-unwind core": Case(
        SERVER_CORE, stand_ins={"http://127.0.0.1:8002": "''"}, needs=("gcc", "cores")
    ),
    "sframe-unwind core --perf-map perf-4711.map": Case(
        not_here="test/lit/unwind/perf-map.test runs it"
    ),
    "coredumpctl debug --debugger=sframe-unwind": Case(
        not_here="test/lit/unwind/coredumpctl.test runs it"
    ),
    "coredumpctl dump | sframe-unwind -": Case(not_here="test/lit/unwind/coredumpctl.test runs it"),
    "sframe-unwind core": Case(
        SESSIONS_CORE,
        shows=[
            r"^PID \d+: sessions, SIGSEGV$",
            r"^  signal: .*read of 0x8, not mapped; looks like a null pointer \+ 0x8$",
            r'^  where:  .*\(user=0x[0-9a-f]+ "carol"\) at .*/sessions\.c:23$',
            r"^  called by:  .* handle .*/sessions\.c:30$",
            r"^TID \d+: crashed$",
            r"^#1  0x[0-9a-f]{16}  handle \+ 0x[0-9a-f]+  \(sessions\)  \[cfi\]$",
        ],
        needs=("gcc", "cores"),
    ),
    "sframe-unwind core ./server --format=json": Case(SERVER_CORE, needs=("gcc", "cores")),
    "sframe-unwind core --format=html -o crash.html": Case(SERVER_CORE, needs=("gcc", "cores")),
    "sframe-unwind core --format=svg -o stacks.svg": Case(SERVER_CORE, needs=("gcc", "cores")),
    "sframe-unwind ./server -c core": Case(SERVER_CORE, needs=("gcc", "cores")),
    "sframe-unwind crash.dmp": Case(MINIDUMP, needs=("gcc", "cores")),
    "sframe-unwind crash.dmp --sysroot DIR": Case(
        MINIDUMP, stand_ins={"DIR": "/"}, needs=("gcc", "cores")
    ),
    "sframe-unwind core --steppers=cfi": Case(SERVER_CORE, needs=("gcc", "cores")),
    "sframe-unwind --pid 4711": Case(SLEEPER, stand_ins=PID, needs=("ptrace",)),
    "sframe-unwind --pid 4711 --format=svg --count 500 -o f.svg": Case(
        SLEEPER, stand_ins=PID | {"500": "20"}, needs=("ptrace",)
    ),
    "sframe-unwind --pid 4711 --count 500 --format=svg -o flames.svg": Case(
        SLEEPER, stand_ins=PID | {"500": "20"}, needs=("ptrace",)
    ),
    "sframe-unwind --pid 4711 --format=folded --interval 5": Case(
        SLEEPER, stand_ins=PID, needs=("ptrace",)
    ),
    # docs/pipelines.md
    "sframe-verify --check=structure,cfi --profile=linux build/*.so": Case(
        LIBRARIES, needs=("gcc",)
    ),
    "sframe-verify --error C107 build/*.so": Case(LIBRARIES, needs=("gcc",)),
    "sframe-verify --error S019 build/*.so": Case(LIBRARIES, needs=("gcc",)),
    "sframe-verify --werror build/*.so": Case(LIBRARIES, needs=("gcc",)),
    "sframe-verify -r build --missing=error --min-coverage=90": Case(
        "mkdir build; sframe-gen /usr/bin/cat -o build/app --report=none", stand_ins={"=90": "=50"}
    ),
    "sframe-verify --format=github build/release/bin/*": Case(RELEASE),
    "sframe-verify --format=gitlab -o gl-code-quality.json build/release/bin/*": Case(RELEASE),
    "sframe-verify --format=junit -o sframe.xml build/release/bin/*": Case(RELEASE),
    "apt-get update && apt-get install -y --no-install-recommends ca-certificates curl git cmake ninja-build g++": Case(
        not_here=CI_JOB
    ),
    'curl -fsSL "$SFRAME_UTILS" -o /tmp/sframe-utils.deb && apt-get install -y --no-install-recommends /tmp/sframe-utils.deb': Case(
        not_here=CI_JOB
    ),
    "sframe-gen -r --in-place build/release/bin": Case(
        "mkdir -p build/release/bin; cp /bin/cat build/release/bin", shows=[r"^1 file: 1 converted"]
    ),
    "sframe-verify --format=sarif -o sframe.sarif --baseline sframe-baseline.txt build/release/bin/*": Case(
        "mkdir -p build/release/bin; "
        + 'cp "$inputs"/amd64/v3-gas247.so build/release/bin/app; '
        + BASELINE % ("sframe-baseline.txt", "build/release/bin/*")
    ),
    "cmake: find_program(SFRAME_VERIFY sframe-verify REQUIRED)": Case(
        'cp "$pages"/server.c app.c; : > sframe-baseline.txt;'
        'printf "cmake_minimum_required(VERSION 3.25)\\nproject(pipeline C)\\nenable_testing()\\nadd_executable(app app.c)\\n'
        'add_custom_command(TARGET app POST_BUILD COMMAND sframe-gen \\$<TARGET_FILE:app> -o \\$<TARGET_FILE:app>)\\ninclude(block)\\n" > CMakeLists.txt;'
        "mv block block.cmake; sed -i 's/include(block)/include(block.cmake)/' CMakeLists.txt",
        instead="cmake -G Ninja -B b . && cmake --build b && ctest --test-dir b",
        needs=("cmake", "ninja", "gcc"),
    ),
    "meson: verify = find_program('sframe-verify')": Case(
        "cp \"$pages\"/server.c app.c; { echo \"project('pipeline', 'c')\";"
        "echo \"add_project_arguments('-Wa,--gsframe', language: 'c')\"; cat block; } > meson.build",
        instead="meson setup b && meson test -C b",
        needs=("meson", "ninja", "gcc", "binutils-2.40"),
    ),
    "meson: sframe_gen = find_program('sframe-gen')": Case(
        MESON_PROJECT,
        instead='meson setup b && meson test -C b && meson install -C b --destdir "$PWD/root" --quiet && sframe-dump --header root/usr/bin/app',
        shows=[r"^root/usr/bin/app: section \.sframe"],
        needs=("meson", "ninja", "gcc"),
    ),
    "meson: app = executable('app', 'app.c', install : true)": Case(
        MESON_PROJECT,
        instead='meson setup b && meson install -C b --destdir "$PWD/root" --quiet && sframe-verify root/usr/bin/app && root/usr/bin/app',
        needs=("meson", "ninja", "gcc"),
    ),
    # docs/installing.md
    "cmake --install build/release --prefix ~/.local": Case(not_here=INSTALLS),
    "g++ -std=c++20 profiler.cc -o profiler $(pkg-config --cflags --libs sframe-here)": Case(
        not_here=INSTALLS
    ),
    "cmake: find_package(sframe 0.1 REQUIRED COMPONENTS codec here)   # or: walk, c, gnu": Case(
        not_here=INSTALLS
    ),
    "cmake: find_package(sframe REQUIRED)": Case(not_here=INSTALLS),
    "cmake: add_subdirectory(sframe-utils)        # or FetchContent": Case(
        'ln -s "$project" sframe-utils; cp "$project"/test/lit/install/Inputs/here.cc profiler.cc; mv block block.cmake; '
        'printf "cmake_minimum_required(VERSION 3.25)\\nproject(profiler C CXX)\\nadd_executable(profiler profiler.cc)\\n'
        'include(block.cmake)\\n" > CMakeLists.txt; ',
        instead="cmake -G Ninja -B b >log && ninja -C b -t query profiler >query && grep -q lib/here/libsframe-here.a query",
        needs=("cmake", "ninja", "c++", "!asan"),
    ),
    # docs/packaging.md
    "cmake --install build/release --prefix /usr --component programs": Case(not_here=INSTALLS),
    "cmake --install build/release --prefix /usr --component rpm": Case(not_here=INSTALLS),
    "make: %:": Case(not_here="test/lit/install/debhelper.test runs it"),
    "scripts/install-deps": Case(not_here="installs packages; scripts/test runs it"),
    "sudo apt-get install ./sframe-utils_*.deb ./dh-sframe_*.deb": Case(
        not_here="installs packages"
    ),
    "sframe-gen -r --in-place pkgdir --exclude '*.[oa]' --optimize=size": Case(
        "mkdir -p pkgdir/usr/bin; cp /bin/ls pkgdir/usr/bin"
    ),
    "sframe-gen -r --in-place lib/modules --for=linux-module": Case(
        'mkdir -p lib/modules; cp "$inputs"/aarch64/v2-gas244-cc.o lib/modules/one.ko; '
    ),
    "scripts/release": Case(not_here="test/lit/install has a test of each part"),
    # docs/gdb.md
    "gdb -q -batch -x ~/.local/share/sframe/gdb/sframe-gdb.py -ex bt ./server core": Case(
        OUR_TREE + BARE_SERVER + 'sh "$make_core" "$core_how" "$PWD"/core "$PWD"/server; ',
        stand_ins=OUR_UNWINDER,
        shows=[
            r"^#\d+ +0x[0-9a-f]+ in parse \(n=<optimized out>\) at .*server\.c:7$",
            r"^#\d+ +handle \(n=<optimized out>\) at .*server\.c:11$",
            r"^#\d+ +work \(n=<optimized out>\) at .*server\.c:15$",
            r"^#\d+ +0x[0-9a-f]+ in main \(.*\) at .*server\.c:19$",
        ],
        needs=("gdb-python", "gcc", "objcopy", "cores", "amd64", "!asan"),
    ),
    "gdb -q -batch -x ~/.local/share/sframe/gdb/sframe-gdb.py -ex 'info sframe main' ./server": Case(
        OUR_TREE + BARE_SERVER,
        stand_ins=OUR_UNWINDER,
        shows=[
            r"^Address: +0x[0-9a-f]+, 0x[0-9a-f]+ in /.*/server$",
            r"^Section: +the same file: version 3, amd64, little-endian, at 0x[0-9a-f]+$",
            r"^Function: +\d+, 0x[0-9a-f]+-0x[0-9a-f]+$",
            r"^Row: +0x[0-9a-f]+: CFA sp\+8, RA fixed, FP same$",
            r"^Used: +yes$",
        ],
        needs=("gdb-python", "gcc", "objcopy", "amd64", "!asan"),
    ),
    "cmake --install build/release --prefix ~/.local --component runtime": Case(not_here=INSTALLS),
    "cmake --install build/release --prefix ~/.local --component gdb": Case(not_here=INSTALLS),
    # docs/bpf.md
    "sframe-gen -r /usr/bin /usr/lib -o tables/ --emit=bpf-table": Case(
        BIN + "cp -r bin lib", stand_ins={"/usr/bin /usr/lib": "bin lib"}, needs=("bpf-tables",)
    ),
    "build/release/examples/bpf/sframe_stacks 4711 2000 tables > stacks": Case(
        OUR_TREE + "while :; do :; done & echo $! > pid; ",
        stand_ins=PID | {"2000": "20"},
        needs=("bpf", "bpf-example", "ptrace"),
        shows=[r"^stacks: [1-9]\d*; tables: [1-9]\d*, \d+ rows; files without: 0$"],
    ),
    "sframe-gen /usr/bin/python3 -o python3.sframe-bpf --emit=bpf-table": Case(
        needs=("bpf-tables", "/usr/bin/python3"), shows=[]
    ),
    "sframe-gen -r /usr/bin /usr/lib -o tables/ --emit=bpf-table --from=all": Case(
        BIN + "cp -r bin lib", stand_ins={"/usr/bin /usr/lib": "bin lib"}, needs=("bpf-tables",)
    ),
    # Other pages
    "LD_PRELOAD=build/release/examples/heap_profiler.so HEAP_PROFILE=out.folded python3 script.py": Case(
        OUR_TREE + "echo 'print(6 * 7)' > script.py; ",
        shows=[r"^42$", r"^heap_profiler: \d+ allocations, \d+ bytes, \d+ stacks; "],
        needs=("/usr/bin/python3", "!asan"),
        stand_ins={"python3 script": "/usr/bin/python3 script"},
    ),
    "cc examples/codec.c -o codec -Iinterfaces/c/include -Lbuild/release/lib -lsframe-c": Case(
        OUR_TREE, needs=("cc", "!asan")
    ),
    "cc examples/own_stack.c -o own_stack -Iinterfaces/c/include -Lbuild/release/lib -lsframe-c": Case(
        OUR_TREE, needs=("cc", "!asan")
    ),
    "rustc examples/stacks.rs -o stacks -L build/release/lib -l sframe-c": Case(
        not_here="test/lit/unwind/example-rust.test runs it"
    ),
    "python3 -m sframe dump v3-gas247.so": Case(PYTHON + FIXTURE, needs=("python3", "!asan")),
    "python3 -m sframe find v3-gas247.so 0x4fe": Case(PYTHON + FIXTURE, needs=("python3", "!asan")),
    "python3 -m sframe unwind core ./server": Case(
        PYTHON + SERVER_CORE, needs=("python3", "gcc", "cores", "!asan")
    ),
    "cc examples/walk.c -Iinterfaces/c/include -Lbuild/release/lib -lsframe-c": Case(
        OUR_TREE, needs=("cc", "!asan")
    ),
    "cc examples/libunwind_remote.c -Iinterfaces/libunwind/include -Lbuild/release/lib -lsframe-c": Case(
        OUR_TREE, needs=("cc", "!asan", "amd64")
    ),
    "cmake --preset release && cmake --build --preset release --target sframe-gnu-shared": Case(
        instead='grep -q "add_library(sframe-gnu-shared" "$project"/interfaces/libsframe/CMakeLists.txt'
    ),
    "cc program.c -Iinterfaces/libsframe/include/gnu -Lbuild/release/lib-gnu -lsframe": Case(
        OUR_TREE + 'cp "$project"/test/lit/libsframe-gnu/Inputs/list.c program.c; ',
        needs=("cc", "!asan"),
    ),
    "build/release/bin/libsframe-bench build/release/lib-gnu/libsframe.so.3 DIR/libsframe.so.3": Case(
        not_here="measures"
    ),
    "scripts/install-deps --extras": Case(not_here="installs packages"),
    "cmake --preset release && cmake --build --preset release --target bench-programs": Case(
        instead='grep -q "add_custom_target(bench-programs" "$project"/bench/CMakeLists.txt'
    ),
    "bench/run [--peers DIR]": Case(instead='"$project"/bench/run --help', needs=("python3",)),
    "bench/run --from bench/baseline.json --markdown": Case(
        instead='"$project"/bench/run --from "$project"/bench/baseline.json --markdown',
        needs=("python3",),
    ),
    "bench/compare OLD NEW": Case(instead='"$project"/bench/compare --help', needs=("python3",)),
    "bench/compare --baseline": Case(instead='"$project"/bench/compare --help', needs=("python3",)),
}
