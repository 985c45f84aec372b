"""Records `record wait 3` when all of its threads wait: record-waiting.py [stop|wake] RECORDER ARGS...
PID in the arguments is its number; stop: it is stopped by a signal before, wake: it is stopped and goes on,
again and again. What was recorded of it, in folded stacks, must be within the time of the command."""
import os
import signal
import subprocess
import sys
import time

THREADS = 4


def states(pid):
    """Of each thread: how it waits, and where."""
    tasks = os.listdir(f"/proc/{pid}/task")
    found = []
    for task in tasks:
        with open(f"/proc/{pid}/task/{task}/stat") as stat:
            state = stat.read().rpartition(")")[2].split()[0]
        with open(f"/proc/{pid}/task/{task}/syscall") as call:
            found.append((state, call.read().split()[0]))
    return found


def until_all_are(pid, letter):
    """They are in the same system call then: pause()."""
    while True:
        found = states(pid)
        if len(found) == THREADS and len(set(found)) == 1 and found[0][0] == letter:
            return
        time.sleep(0.01)


how = sys.argv[1] if sys.argv[1] in ("stop", "wake") else ""
waiting = subprocess.Popen(["./record", "wait", str(THREADS - 1)], stdout=subprocess.DEVNULL)
try:
    until_all_are(waiting.pid, "S")
    if how == "stop":
        waiting.send_signal(signal.SIGSTOP)
        until_all_are(waiting.pid, "T")
    command = [one.replace("PID", str(waiting.pid)) for one in sys.argv[2 if how else 1 :]]
    begin = time.monotonic()
    recorder = subprocess.Popen(command)
    while recorder.poll() is None:
        if how == "wake":
            waiting.send_signal(signal.SIGSTOP)
            time.sleep(0.05)
            waiting.send_signal(signal.SIGCONT)
        time.sleep(0.05)
    elapsed = 1e6 * (time.monotonic() - begin)
finally:
    waiting.kill()
    waiting.wait()
with open(command[command.index("-o") + 1]) as folded:
    own = [line.rpartition(" ") for line in folded if line.startswith("record;")]
whole = [
    int(count)
    for stack, _, count in own
    if ";run;pause;" in stack or ";wait_for_signal;pause;" in stack
]
print("exit code", recorder.returncode)
print("all in pause():", len(whole) == len(own))
print("all the time:", sum(whole) >= THREADS * 1_000_000)
print("not longer:", sum(whole) <= THREADS * elapsed)
