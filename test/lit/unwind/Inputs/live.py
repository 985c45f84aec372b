# live.py CASE PROGRAM: starts Inputs/live.c as the case requires, walks it, and prints "all right"
# if stacks, messages and the state in which the process is left are as they should be.
import json, os, signal, subprocess, sys, time

from stopped import stat, status, tasks, until, wait_until_stopped

case, program = sys.argv[1:]


def start(mode):
    process = subprocess.Popen([program, mode], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    if mode == "threads":
        wait_until_stopped(process.pid)
    return process


def walk(pid, *options, prefix=()):
    return subprocess.run(
        [*prefix, "sframe-unwind", "--pid", str(pid), *options], capture_output=True, text=True
    )


def check_untraced(pid, states="RSD"):
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            assert status(int(task), "TracerPid") == "0", task
        except (FileNotFoundError, ProcessLookupError):
            pass  # a thread that has ended meanwhile
    assert status(pid, "State")[0] in states, status(pid, "State")


def check_threads(result):
    assert result.returncode == 0, (result.returncode, result.stderr)
    threads = {thread["name"]: thread for thread in json.loads(result.stdout)["threads"]}
    for kind in ("spin", "read", "futex", "nanosleep", "handler"):
        names = [frame.get("function", "?") for frame in threads[kind]["frames"]]
        inner = names.index("inner_" + kind)
        # The C library's own start_thread has a name where its debug symbols are installed.
        assert names[inner + 1] == "outer_" + kind and names[inner + 2] in (
            "start_thread",
            "?",
        ), names
        assert "libc.so" in threads[kind]["frames"][inner + 2]["module"], threads[kind]["frames"]
        assert threads[kind]["end"]["complete"], threads[kind]["end"]
        assert all(frame["trust"] == "exact" for frame in threads[kind]["frames"])
        # The handler's frame is called by the trampoline, that by the code which it interrupted, in
        # raise().
        if kind == "handler":
            assert (
                names.index("handler")
                < [f["signal_frame"] for f in threads[kind]["frames"]].index(True)
                < inner
            )


def refused(pid, message, **more):
    result = walk(pid, **more)
    assert result.returncode == 2 and message in result.stderr, (result.returncode, result.stderr)


process = start("churn" if case in ("churn", "killed") else "threads")
try:
    pid = process.pid
    if case == "threads":
        check_threads(walk(pid, "--format=json"))
        check_untraced(pid)
        one = walk(pid, "--thread", str(pid))
        assert one.stdout.count("TID ") == 1 and "main + " in one.stdout, one.stdout
    elif case == "folded":
        result = walk(pid, "--format=folded", "--count", "20", "--interval", "2")
        assert result.returncode == 0, result.stderr
        lines = result.stdout.splitlines()
        assert (
            lines == sorted(lines) and sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 20 * 6
        ), lines
        assert any(
            line.startswith("spin;") and line.endswith(";outer_spin;inner_spin 20")
            for line in lines
        ), lines
        import xml.dom.minidom

        svg = walk(pid, "--format=svg", "--count", "3", "--interval", "2")
        titles = [
            t.firstChild.data
            for t in xml.dom.minidom.parseString(svg.stdout).getElementsByTagName("title")
        ]
        assert "inner_spin (3 of 18, 16.7%)" in titles, titles
        # The stacks as text, with the samples of running threads: one thread runs, the others wait.
        wait_until_stopped(pid)
        svg = xml.dom.minidom.parseString(walk(pid, "--format=svg").stdout)
        (stacks,) = (
            script.firstChild.data
            for script in svg.getElementsByTagName("script")
            if script.getAttribute("id") == "stacks"
        )
        folded = [line.rsplit(" ", 1) for line in stacks.strip().splitlines()]
        assert sorted(line.split(";")[0] for line, running in folded if running == "1") == [
            "spin"
        ], folded
        assert len(folded) == 6 and all(line.endswith(" 1") for line, _ in folded), folded
    elif case == "churn":
        result = walk(pid, "--format=folded", "--count", "1000", "--interval", "1")
        assert (
            sum(int(line.rsplit(" ", 1)[1]) for line in result.stdout.splitlines()) >= 1000
        ), result.stderr
        assert ";main;" in result.stdout, result.stdout
        check_untraced(pid)
        assert process.poll() is None
    elif case == "killed":
        walker = subprocess.Popen(
            [
                "sframe-unwind",
                "--pid",
                str(pid),
                "--format=folded",
                "--count",
                "100000",
                "--interval",
                "1",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until(lambda: status(pid, "TracerPid") != "0")  # one sample, at least
        until(lambda: status(pid, "TracerPid") == "0")
        process.kill()
        out, errors = walker.communicate()
        assert walker.returncode in (0, 1) and ";main;" in out, (walker.returncode, errors)
    elif case == "walker-killed":
        for turn in range(30):
            walker = subprocess.Popen(
                [
                    "sframe-unwind",
                    "--pid",
                    str(pid),
                    "--format=folded",
                    "--count",
                    "100000",
                    "--interval",
                    "1",
                ],
                stdout=subprocess.DEVNULL,
            )
            if turn % 2:
                until(lambda: status(pid, "TracerPid") != "0")
            else:
                time.sleep(0.002 * turn)  # any moment will do
            walker.kill()
            walker.wait()
            check_untraced(pid)
    elif case == "stopped":
        process.send_signal(signal.SIGSTOP)
        until(lambda: all(stat(pid, tid)[1][0] == "T" for tid in tasks(pid)))
        for _ in range(20):
            check_threads(walk(pid, "--format=json"))
        until(lambda: all(stat(pid, tid)[1][0] == "T" for tid in tasks(pid)))
        check_untraced(pid, "T")
        process.send_signal(signal.SIGCONT)
        wait_until_stopped(pid)
        check_untraced(pid)
    elif case == "deleted":
        os.rename(program, program + ".moved")
        with open(program, "w") as other:  # another file in its place
            other.write("something else\n")
        check_threads(walk(pid, "--format=json"))
        os.remove(program + ".moved")
        check_threads(walk(pid, "--format=json"))
    elif case == "errors":
        refused(0x7FFFFFFF, "no such process")
        thread = next(int(t) for t in os.listdir("/proc/%d/task" % pid) if int(t) != pid)
        refused(thread, "this is a thread ID; its process is %d" % pid)
        assert "no thread 1" in walk(pid, "--thread", "1").stderr
        zombie = subprocess.Popen(["true"])
        until(lambda: status(zombie.pid, "State")[0] == "Z")
        refused(zombie.pid, "zombie: exited, but not yet reaped")
        check_untraced(pid)
    elif case == "traced":
        gdb = subprocess.Popen(
            ["gdb", "-nx", "-q", "-p", str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(lambda: status(pid, "TracerPid") != "0")
        refused(pid, "already traced by process %d (gdb)" % gdb.pid)
        gdb.communicate(b"detach\nquit\n")
        check_threads(walk(pid, "--format=json"))
    elif case == "other-user":
        refused(
            pid,
            "no permission to trace the process: it belongs to user 0",
            prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
        )
        check_untraced(pid)
    else:
        sys.exit("no such case")
finally:
    process.kill()
    process.wait()
print("all right")
