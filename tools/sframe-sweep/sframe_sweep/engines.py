# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shards on many machines, by engines that exist: GNU parallel and Slurm. All machines see the
inputs, the folder of the database and the programs under the same names (a network file system). A
shard that was interrupted is started again, on any machine, and goes on where it ended."""
import os
import shlex
import shutil
import subprocess
import sys

from . import summary


class Failed(Exception):
    """The engine is missing, or a shard did not end."""


def shard_command(options, paths):
    """The command of one shard, without --shard and --db. All names are absolute."""
    command = [os.path.abspath(sys.argv[0]), "run", "-q", "-j%d" % (options.jobs or 1)]
    for name in ("debug_packages", "debug_dir"):
        for value in getattr(options, name):
            command += ["--" + name.replace("_", "-"), os.path.abspath(value)]
    for name in ("mirror", "scratch", "programs"):
        if getattr(options, name):
            command += ["--" + name, os.path.abspath(getattr(options, name))]
    if options.installed:
        command += ["--installed=" + options.installed, "--root", os.path.abspath(options.root)]
    command += [
        "--timeout=%d" % options.timeout,
        "--max-memory=%d" % options.max_memory,
        "--max-unpacked=%d" % options.max_unpacked,
    ]
    command += ["--retry"] * options.retry + ["--coverage"] * options.coverage
    command += ["--gen-option=" + value for value in options.gen_option]
    return command + ["--", *map(os.path.abspath, paths)]


def _shard_script(folder, options, paths):
    """A script that runs one shard, whose number is its argument. Exit code 1, something is wrong
    in a file, is no failure of the shard: it must not be started again for that. It waits for the
    lock of a run that lost its machine's connection but goes on."""
    path = os.path.join(folder, "shard")
    command = shard_command(options, paths)
    at = command.index("--")
    text = (
        "#!/bin/sh\n# Runs shard $1 of %d; made by sframe-sweep spread.\n%s --shard=$1/%d --db=%s/$1.db %s\n[ $? -le 1 ]\n"
        % (
            options.shards,
            shlex.join(command[:at]),
            options.shards,
            shlex.quote(folder),
            shlex.join(command[at:]),
        )
    )
    with open(path + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        os.fchmod(file.fileno(), 0o755)
    os.replace(path + ".new", path)
    return path


def _parallel(script, folder, options):
    """A lost machine: ssh fails, and the shard is started on another one (--retries)."""
    command = [
        "parallel",
        "--will-cite",
        "--plain",
        "--retries",
        "5",
        "--joblog",
        os.path.join(folder, "joblog"),
        "--no-run-if-empty",
    ]
    if sys.stderr.isatty() and not options.quiet:
        command.append("--bar")
    if options.slots:
        command += ["--jobs", str(options.slots)]
    for login in options.sshlogin.split(",") if options.sshlogin else ():
        command += ["--sshlogin", login]
    return [
        *command,
        *options.engine_option,
        shlex.quote(script),
        ":::",
        *map(str, range(1, options.shards + 1)),
    ]


def _slurm(script, folder, options):
    """A lost node: Slurm starts the shard again (--requeue). --wait ends with the highest exit code
    of all shards."""
    array = "1-%d" % options.shards + ("%%%d" % options.slots if options.slots else "")
    return [
        "sbatch",
        "--wait",
        "--parsable",
        "--requeue",
        "--job-name=sframe-sweep",
        "--array=" + array,
        "--cpus-per-task=%d" % (options.jobs or 1),
        "--chdir=" + folder,
        "--open-mode=append",
        "--output=" + os.path.join(folder, "%a.log"),
        *options.engine_option,
        "--wrap",
        "exec %s $SLURM_ARRAY_TASK_ID" % shlex.quote(script),
    ]


def spread(options, paths, merge):
    """Runs all shards, and calls merge with their databases. Returns the exit code of merge."""
    engine = "parallel" if options.engine == "parallel" else "sbatch"
    if not shutil.which(engine):
        raise Failed("%s: not found in PATH" % engine)
    folder = os.path.abspath(options.db) + ".shards"
    os.makedirs(folder, exist_ok=True)
    script = _shard_script(folder, options, paths)
    code = subprocess.run(
        (_parallel if options.engine == "parallel" else _slurm)(script, folder, options),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if options.verbose else subprocess.DEVNULL,
    ).returncode
    databases = [
        path
        for path in (
            os.path.join(folder, "%d.db" % number) for number in range(1, options.shards + 1)
        )
        if os.path.exists(path)
    ]
    merge(databases)  # what there is, too, if a shard failed
    if code:
        raise Failed(
            "%s ended with exit code %d; run the same command again to go on (logs: %s)"
            % (engine, code, folder)
        )
    return 1 if summary.is_something_wrong(options.db) else 0
