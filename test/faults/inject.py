#!/usr/bin/env python3
"""Runs the programs while one allocation or system call after the other fails (shim.c), and checks
what comes of it.

  inject.py --shim SHIM.so --inputs TEST/INPUTS --cores CORES [--minidump FILE] --work FOLDER [--kinds
  memory,EIO] [--cases REGEX] [--budget RUNS | --all]

--minidump: of CORES/aarch64.core.zst; without it, a case is left out.

What must hold of each run, compared with the same run without a fault:
  - it does not end by a signal, and its exit code is 0, 1 or 2;
  - standard output is the same or ends early;
  - the output file is what it would be, or what it was before, and nothing else is in its folder;
    JSON, SARIF and pages may instead be complete documents that name what could not be read;
  - memory: exit code 2 and "out of memory", or nothing is different;
  - short, EINTR: nothing is different;
  - EIO, ENOSPC: nothing is different, or a message reports it.
--budget: so many runs for each case and kind, spread over all calls (the first ones all); --all: every
call."""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

KINDS = [
    "memory",
    "memory+",
    "short",
    "short+",
    "EINTR",
    "EIO",
    "EIO+",
    "ENOSPC",
    "ENOSPC+",
]  # +: this call and all after it


class Case:
    """A command; %i is test/inputs, %c the folder of cores, %m a minidump, %o the output file.
    `old` is what is there before it: nothing, or a copy of an input."""

    def __init__(self, name, command, old=None):
        self.name, self.command, self.old = name, command, old


CASES = [
    Case("dump-text", "sframe-dump %i/amd64/v2-gas244.so"),
    Case("dump-json", "sframe-dump --format=json %i/amd64/v2-gas244.a -o %o"),
    Case("dump-stats", "sframe-dump --stats %i/amd64/v1-gas240.o"),
    Case("dump-damaged", "sframe-dump --format=gnu %i/amd64/v2-gas244.sframe"),
    Case("gen-elf", "sframe-gen -j1 %i/amd64/v1-gas240.so -o %o", old="amd64/v1-gas240.so"),
    Case("gen-object", "sframe-gen -j1 %i/amd64/v1-gas240-cc.o -o %o"),
    Case("gen-archive", "sframe-gen -j1 %i/amd64/v2-gas244.a -o %o", old="amd64/v2-gas244.sframe"),
    Case("gen-section", "sframe-gen -j2 --emit=section --report=json %i/amd64/v2-gas244.so -o %o"),
    Case("gen-tree", "sframe-gen -j1 --in-place %o", old="amd64/v1-gas240.so"),
    Case(
        "gen-code",
        "sframe-gen -j1 --from=cfi,code --optimize=size --repair %i/amd64/v2-gas244.so -o %o",
    ),
    Case("verify-text", "sframe-verify -j1 %i/amd64/v2-gas244.so"),
    Case("verify-sarif", "sframe-verify -j1 --format=sarif %i/amd64/v1-gas240.so -o %o"),
    Case(
        "verify-json",
        "sframe-verify -j2 --format=json %i/amd64/v2-gas244.o %i/amd64/v1-gas240-cc.o",
    ),
    Case("unwind-text", "sframe-unwind %c/aarch64.core.zst %c/aarch64.elf"),
    Case(
        "unwind-page",
        "sframe-unwind --format=html --registers %c/aarch64_pac.core.zst %c/aarch64_pac.elf -o %o",
    ),
    Case("unwind-tree", "sframe-unwind -q -j1 -r %c --group"),
    Case("unwind-minidump", "sframe-unwind --args --locals --source %m %c/aarch64.elf"),
    Case("unwind-json", "sframe-unwind --format=json %c/s390x.core.zst %c/s390x.elf -o %o"),
]


class Run:
    def __init__(self, options, case, folder, environment):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        out = os.path.join(folder, "out")
        if case.old:
            shutil.copyfile(os.path.join(options.inputs, case.old), out)
        words = [
            w.replace("%i", options.inputs)
            .replace("%c", options.cores)
            .replace("%m", options.minidump)
            .replace("%o", "out")
            for w in case.command.split()
        ]
        # The runs have the same command line, in folders of their own: SARIF contains it.
        words.insert(1, "--no-sandbox")  # the shim writes down how many calls there were
        environment = dict(os.environ, LC_ALL="C", LD_PRELOAD=options.shim, **environment)
        self.command = words
        self.hung = False
        try:
            done = subprocess.run(
                words,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
            )
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            self.hung, self.code, self.out, self.err = True, None, b"", b""
        self.file = open(out, "rb").read() if os.path.exists(out) else None
        self.left = sorted(set(os.listdir(folder)) - {"out"})


def is_document(case, contents):
    """Whether it is all of a JSON document or of a page, where that is what the case writes; a tree
    is one of what could be read."""
    if "--group" in case.command:
        return True
    if "=html" in case.command:
        return (
            bool(contents)
            and contents.startswith(b"<!DOCTYPE html>")
            and contents.endswith(b"</html>\n")
        )
    if not re.search("json|sarif", case.command) or not contents:
        return False
    try:
        return json.loads(contents) is not None
    except ValueError:
        return False


def wrong(case, kind, run, good, old):
    """What is wrong with a run, or nothing."""
    if run.hung:
        return "does not end"
    if run.code not in (0, 1, 2):
        return "ends by signal %d" % -run.code if run.code < 0 else "exit code %d" % run.code
    if run.left:
        return "leaves " + " ".join(run.left)
    if run.file not in (good.file, old) and not is_document(case, run.file):
        return "tears the output file"
    same = (run.code, run.out, run.file) == (good.code, good.out, good.file)
    if same:
        return None
    if kind in ("short", "EINTR"):
        return "gives another result (exit code %d)" % run.code
    # The last line of sframe-verify's text says that the run failed, whatever came before.
    results = re.sub(rb"(?m)^FAILED: .*\n\Z", b"", run.out)
    if run.code == 2 and not good.out.startswith(results) and not is_document(case, run.out):
        return "tears standard output"
    if kind == "memory":
        if run.code != 2 or b"memory" not in run.err.lower():
            return 'exit code %d without "out of memory"' % run.code
    elif run.code == 0 and run.err == good.err:
        return "gives another result without a message"
    elif (
        run.code != 0
        and run.code != good.code
        and not re.search(rb"^sframe-\w+: (error|warning): .", run.err, re.M)
    ):
        return "exit code %d without a message" % run.code
    return None


def picks(count, budget):
    if budget is None or count <= budget:
        return list(range(1, count + 1))
    first = budget // 4
    rest = budget - first
    return list(range(1, first + 1)) + [
        first + 1 + i * (count - first - 1) // (rest - 1) for i in range(rest)
    ]


def try_one(options, case, kind, nth, good, old, folder):
    environment = {
        "FAULT_KIND": kind.rstrip("+"),
        "FAULT_NTH": str(nth),
        "FAULT_STAYS": "1" if kind.endswith("+") else "",
    }
    run = Run(options, case, folder, environment)
    what = wrong(case, kind.rstrip("+"), run, good, old)
    if not what:
        return None
    setting = " ".join("%s=%s" % pair for pair in environment.items() if pair[1])
    message = run.err.decode(errors="replace").strip().split("\n")[-1]
    return "%s, %s, call %d: %s%s\n  %s LD_PRELOAD=%s %s" % (
        case.name,
        kind,
        nth,
        what,
        ": " + message if message else "",
        setting,
        options.shim,
        " ".join(run.command),
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("shim", "inputs", "cores", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--minidump", default="")
    parser.add_argument("--cases", default="")
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    budget = None if options.all else options.budget
    faults = runs = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case in [
            c
            for c in CASES
            if re.search(options.cases, c.name) and (options.minidump or "%m" not in c.command)
        ]:
            old = open(os.path.join(options.inputs, case.old), "rb").read() if case.old else None
            for kind in options.kinds.split(","):
                count_file = os.path.join(options.work, case.name + ".count")
                good = Run(
                    options,
                    case,
                    os.path.join(options.work, case.name),
                    {"FAULT_KIND": kind.rstrip("+"), "FAULT_COUNT": count_file},
                )
                count = int(open(count_file).read())
                if good.code == 2 and "%c" in case.command:
                    print(
                        "%s left out: %s" % (case.name, good.err.decode(errors="replace").strip())
                    )
                    continue  # a build without the library that unpacks cores
                if good.code not in (0, 1) or good.left:
                    sys.exit(
                        "%s fails without a fault: %s"
                        % (" ".join(good.command), good.err.decode(errors="replace"))
                    )
                chosen = picks(count, budget)
                folders = [
                    os.path.join(options.work, "%s-%s-%d" % (case.name, kind, n)) for n in chosen
                ]
                jobs = [
                    pool.submit(try_one, options, case, kind, n, good, old, f)
                    for n, f in zip(chosen, folders)
                ]
                for folder, job in zip(folders, jobs):
                    if job.result():
                        faults += 1
                        print(job.result(), flush=True)
                    else:
                        shutil.rmtree(folder, ignore_errors=True)
                runs += len(chosen)
                if options.all:
                    print(
                        "%s, %s: %d calls" % (case.name, kind, count), file=sys.stderr, flush=True
                    )
    print("%d runs, %d faults" % (runs, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
