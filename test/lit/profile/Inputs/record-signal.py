"""Records a program until it has used some processor time, then sends the recorder a signal."""
import os
import signal
import subprocess
import sys
import time


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return children.read().split()


def has_worked(pid, name):
    """False for other children, which may end at any moment."""
    try:
        with open(f"/proc/{pid}/comm") as comm, open(f"/proc/{pid}/stat") as stat:
            return (
                comm.read().strip() == name and int(stat.read().rpartition(")")[2].split()[11]) > 30
            )
    except OSError:
        return False


recorder = subprocess.Popen(
    ["sframe-profile", "-F", "499", "-o", "signal.folded", "--"] + sys.argv[2:],
    stdout=subprocess.DEVNULL,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
)
wanted = os.path.basename(sys.argv[2])
programs = []
while not programs:
    programs = [pid for pid in child_of(recorder.pid) if has_worked(pid, wanted)]
    time.sleep(0.01)
recorder.send_signal(getattr(signal, "SIG" + sys.argv[1]))
code = recorder.wait()
with open("signal.folded") as folded:
    samples = sum(int(line.split()[-1]) for line in folded if ";spin " in line)
ended = not os.path.exists(f"/proc/{programs[0]}")
print(
    "some samples" if samples > 0 and code in (0, 1) else f"{samples} samples, exit code {code}",
    "the program has ended" if ended else "it runs",
    sep=", ",
)
