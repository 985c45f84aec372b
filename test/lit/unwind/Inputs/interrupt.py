# interrupt.py PREFIX: interrupts sampling, in each format and by either signal. The program catches the
# signals before it starts, by which one sees that it may be interrupted; it takes one sample at least.
import json, os, signal, subprocess, sys

prefix = sys.argv[1]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda *_: None)  # the parent may ignore them; a handler becomes the default in new programs

def caught(pid):
    with open("/proc/%d/status" % pid) as lines:
        return int(next(line.split()[1] for line in lines if line.startswith("SigCgt:")), 16)

def interrupt(target, number, form, *options):
    out = "%s.%s" % (prefix, form)
    walk = subprocess.Popen(["sframe-unwind", "--pid", str(target), "--format=" + form, "--count", "100000000", *options, "-o", out],
                            stderr=subprocess.PIPE, text=True)
    while not caught(walk.pid) & 1 << number - 1:
        assert walk.poll() is None, walk.stderr.read()
    walk.send_signal(number)
    error = walk.communicate(timeout=120)[1]
    assert walk.returncode in (0, 1), (walk.returncode, error)
    with open(out) as file:
        return file.read()


target = subprocess.Popen(["sleep", "1000"])
try:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for options in ((), ("--interval", "3600000")):
            folded = interrupt(target.pid, number, "folded", *options).splitlines()
            assert len(folded) >= 1 and all(int(line.rsplit(" ", 1)[1]) >= 1 for line in folded), folded
            svg = interrupt(target.pid, number, "svg", *options)
            assert svg.startswith("<svg") and svg.endswith("</svg>\n"), svg
        text = interrupt(target.pid, number, "text")
        assert "TID %d:" % target.pid in text, text
    assert target.poll() is None
    with open("/proc/%d/status" % target.pid) as lines:
        assert "TracerPid:\t0\n" in lines.readlines()
    # Ignored signals stay ignored (a job in the background of a script): the samples are all taken.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done = subprocess.run(["sframe-unwind", "--pid", str(target.pid), "--count", "3", "--format=folded"], capture_output=True, text=True)
    assert sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()) == 3, done
finally:
    target.kill()
    target.wait()
print("all right")
