# stackwalker-loop.py LOOP CASE: starts a process and examples/stackwalker_loop for it, which prints
# here; has the process go on when LOOP has come to where it should be.
import subprocess
import sys

from stopped import stat, until, wait_until_stopped

loop, case = sys.argv[1:]
command = (
    ["bash", "-c", "read a; /bin/true; read b; exit 0"] if case == "events" else ["sleep", "1000"]
)
process = subprocess.Popen(command, stdin=subprocess.PIPE)
until(lambda: stat(process.pid, process.pid)[0] == command[0])
wait_until_stopped(process.pid)
arguments = ["0.05", "3"] if case == "walks" else ["3600"]
walker = subprocess.Popen([loop, str(process.pid), *arguments], stdout=subprocess.PIPE, text=True)


def copy_until(start):
    for line in walker.stdout:
        sys.stdout.write(line)
        if line.startswith(start):
            return
    sys.exit("the loop ended before: " + start)


if case == "end":
    copy_until("#0")
    process.kill()
elif case == "events":
    copy_until("#0")
    process.stdin.write(b"\n")
    process.stdin.flush()
    copy_until("event: forked")
    copy_until("event: signal")
    process.stdin.close()
sys.stdout.write(walker.stdout.read())
process.kill()
process.wait()
sys.exit(walker.wait())
