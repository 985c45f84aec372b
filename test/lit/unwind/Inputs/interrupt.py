# interrupt.py PREFIX: interrupts sampling, in each format and by either signal. The program opens
# an event's descriptor just before it handles the signals; a signal that comes between ends it, and
# is sent again to another one. It takes one sample at least.
import os, signal, subprocess, sys

prefix = sys.argv[1]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(
        number, lambda *_: None
    )  # the parent may ignore them; a handler becomes the default in new programs


def samples(pid):
    folder = "/proc/%d/fd" % pid
    for name in os.listdir(folder):
        try:
            if "eventfd" in os.readlink(os.path.join(folder, name)):
                return True
        except FileNotFoundError:
            pass
    return False


def interrupt(target, number, form, *options):
    out = "%s.%s" % (prefix, form)
    while True:
        walk = subprocess.Popen(
            [
                "sframe-unwind",
                "--pid",
                str(target),
                "--format=" + form,
                "--count",
                "100000000",
                *options,
                "-o",
                out,
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        while not samples(walk.pid):
            assert walk.poll() is None, walk.stderr.read()
        walk.send_signal(number)
        error = walk.communicate(timeout=120)[1]
        if walk.returncode != -number:
            break
    assert walk.returncode in (0, 1), (walk.returncode, error)
    with open(out) as file:
        return file.read()


target = subprocess.Popen(["sleep", "1000"])
try:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for options in ((), ("--interval", "3600000")):
            folded = interrupt(target.pid, number, "folded", *options).splitlines()
            assert len(folded) >= 1 and all(
                int(line.rsplit(" ", 1)[1]) >= 1 for line in folded
            ), folded
            svg = interrupt(target.pid, number, "svg", *options)
            assert svg.startswith("<svg") and svg.endswith("</svg>\n"), svg
        text = interrupt(target.pid, number, "text")
        assert "TID %d:" % target.pid in text, text
    assert target.poll() is None
    with open("/proc/%d/status" % target.pid) as lines:
        assert "TracerPid:\t0\n" in lines.readlines()
    # Ignored signals stay ignored (a job in the background of a script): the samples are all taken.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done = subprocess.run(
        ["sframe-unwind", "--pid", str(target.pid), "--count", "3", "--format=folded"],
        capture_output=True,
        text=True,
    )
    assert sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()) == 3, done
finally:
    target.kill()
    target.wait()
print("all right")
