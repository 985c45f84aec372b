"""coredumpctl.py FOLDER EXPECTED: runs the real coredumpctl, if it is installed with
systemd-journal-remote, which makes the journal."""
import os, shutil, subprocess, sys

folder, expected = sys.argv[1], open(sys.argv[2]).read()
remote = next(
    (
        path
        for path in (
            "/lib/systemd/systemd-journal-remote",
            "/usr/lib/systemd/systemd-journal-remote",
        )
        if os.path.exists(path)
    ),
    shutil.which("systemd-journal-remote"),
)
if not shutil.which("coredumpctl") or not remote:
    print("coredumpctl or systemd-journal-remote is missing")
    sys.exit(0)
boot, pid = "0123456789abcdef" * 2, expected.split(":")[0].split()[1]
stored = os.path.join(folder, "core.program.0.%s.%s.1763924186000000" % (boot, pid))
shutil.copy(os.path.join(folder, "core"), stored)
fields = {
    "__REALTIME_TIMESTAMP": "1763924186000000",
    "__MONOTONIC_TIMESTAMP": "1000000",
    "_BOOT_ID": boot,
    "PRIORITY": "2",
    "MESSAGE_ID": "fc2e22bc6ee647b6b90729ab34a250b1",
    "COREDUMP_PID": pid,
    "COREDUMP_UID": "0",
    "COREDUMP_GID": "0",
    "COREDUMP_SIGNAL": "6",
    "COREDUMP_TIMESTAMP": "1763924186000000",
    "COREDUMP_COMM": "program",
    "COREDUMP_EXE": os.path.join(folder, "program"),
    "COREDUMP_FILENAME": stored,
}
journal = os.path.join(folder, "out.journal")
subprocess.run(
    [remote, "-o", journal, "-"],
    input="".join("%s=%s\n" % field for field in fields.items()) + "\n",
    text=True,
    check=True,
)
control = ["coredumpctl", "--file", journal, "-q"]
debugged = subprocess.run(
    [*control, "debug", "--debugger=" + shutil.which("sframe-unwind")],
    capture_output=True,
    text=True,
)
assert "#0  " in debugged.stdout and expected.split("TID")[1] in debugged.stdout, debugged
assert "  time:        2025-11-23 18:56:26 UTC\n" in debugged.stdout, debugged.stdout
dumped = subprocess.run([*control, "dump"], capture_output=True, check=True).stdout
walked = subprocess.run(["sframe-unwind", "-"], input=dumped, capture_output=True)
assert walked.stdout.decode() == expected, walked
print("as expected")
