# vfork.py PROGRAM: walks Inputs/vfork.c, which waits in vfork(), and its child; prints "all right"
# if stacks and messages are as they should be.
import os, signal, subprocess, sys

from stopped import status, tasks, until

program = sys.argv[1]

# PTRACE_SEIZE of one thread, until standard input ends.
SEIZE = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
print(libc.ptrace(0x4206, int(sys.argv[1]), None, None), flush=True)
sys.stdin.read()
"""


def child_of(pid):
    for tid in tasks(pid):
        children = open("/proc/%d/task/%d/children" % (pid, tid)).read().split()
        if children:
            return int(children[0]), tid
    return None


def start(*arguments):
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    until(lambda: child_of(process.pid))
    child, waiting = child_of(process.pid)
    until(lambda: status(child, "State")[0] == "S" and status(waiting, "State")[0] == "D")
    return process, child, waiting


def walk(pid):
    return subprocess.run(["sframe-unwind", "--pid", str(pid)], capture_output=True, text=True)


def end(process, child):
    os.kill(child, signal.SIGKILL)
    process.kill()
    process.wait()


def check_waits(text, waiting, child):
    # The kernel reports which child it is only if it was built so.
    start = "thread %d could not be stopped: it is waiting " % waiting
    assert (
        start + "in vfork() for process %d, " % child in text
        or start + "uninterruptibly in the kernel" in text
    ), text


# The only thread waits: the reason is that, and not that we are tracing it. The child can be
# walked: it stands on its parent's stack.
process, child, waiting = start()
try:
    result = walk(process.pid)
    assert result.returncode == 2 and "already traced" not in result.stderr, result
    check_waits(result.stderr, waiting, child)
    result = walk(child)
    assert (
        result.returncode == 0
        and "  inner_vfork + " in result.stdout
        and "  main + " in result.stdout
    ), result
finally:
    end(process, child)

# The other threads are walked.
process, child, waiting = start("threads")
try:
    result = walk(process.pid)
    assert (
        result.returncode == 1
        and "  inner_wait + " in result.stdout
        and "  main + " in result.stdout
    ), result
    assert waiting != process.pid
    check_waits(result.stderr, waiting, child)

    # Another process traces that thread alone.
    tracer = subprocess.Popen(
        [sys.executable, "-c", SEIZE, str(waiting)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert tracer.stdout.readline() == b"0\n"
    result = walk(process.pid)
    name = open("/proc/%d/comm" % tracer.pid).read().strip()
    tracer.communicate(b"")  # its end lets go
    assert result.returncode == 2, result
    assert (
        "thread %d is already traced by process %d (%s)" % (waiting, tracer.pid, name)
        in result.stderr
    ), result
finally:
    end(process, child)
print("all right")
