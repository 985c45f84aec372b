"""Waits for states of other processes, so that no test has to wait for a time. As a program:
stopped.py PID waits until all threads of PID stand."""
import os
import sys
import time


def until(condition):
    """Polls. Only a test that fails, and then hangs, sees the end of it."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end, "what was waited for does not come"
        time.sleep(0.002)


def tasks(pid):
    return [int(task) for task in os.listdir("/proc/%d/task" % pid)]


def stat(pid, tid):
    """The name of a thread, and the fields of its stat that follow the name."""
    with open("/proc/%d/task/%d/stat" % (pid, tid)) as file:
        start, end = file.read().rsplit(")", 1)
    return start.split("(", 1)[1], end.split()


def status(pid, key):
    with open("/proc/%d/status" % pid) as lines:
        return next(line.split(":\t")[1].strip() for line in lines if line.startswith(key + ":"))


def sleeps(pid, tid):
    """A thread that waits in its system call: also after it was traced, which wakes it up and has
    it make the call again."""
    return stat(pid, tid)[1][0] == "S"


def spins(pid, tid):
    """A thread of live.c names itself just before it spins. When it has computed for two ticks
    since, it does."""
    key = pid, tid
    name, fields = stat(pid, tid)
    ticks = int(fields[11]) + int(fields[12])
    if name != "spin":
        return False
    return ticks >= spins.named_at.setdefault(key, ticks) + 2


spins.named_at = {}


def wait_until_stopped(pid):
    """Until each thread sleeps, or is one that spins."""
    until(lambda: all(sleeps(pid, tid) or spins(pid, tid) for tid in tasks(pid)))


if __name__ == "__main__":
    wait_until_stopped(int(sys.argv[1]))
