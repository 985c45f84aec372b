# live-pager.py PROGRAM OPTIONS...: walks PROGRAM (live.c, many threads) with its output to a pipe
# that nobody reads. The process must not be traced while sframe-unwind waits for the reader.
import os, subprocess, sys

from stopped import status, until

program, *options = sys.argv[1:]
target = subprocess.Popen([program, "threads"], stdout=subprocess.PIPE)
try:
    assert target.stdout.readline() == b"ready\n"
    reader, writer = os.pipe()
    os.write(writer, b"x" * 65536)  # full: the first write waits
    walker = subprocess.Popen(["sframe-unwind", "--pid", str(target.pid), *options], stdout=writer)
    os.close(writer)

    def waits():
        with open("/proc/%d/syscall" % walker.pid) as call:
            fields = call.read().split()
        return (
            fields[0] in ("1", "4", "64") and fields[1] == "0x1"
        )  # write() of AMD64, s390x, AArch64

    until(waits)
    for task in os.listdir("/proc/%d/task" % target.pid):
        assert status(int(task), "TracerPid") == "0", task
    os.close(reader)
    walker.wait()
finally:
    target.kill()
print("all right")
