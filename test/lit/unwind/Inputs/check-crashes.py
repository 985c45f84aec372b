"""check-crashes.py FOLDER CORE...: compares the address in the header of each core with gdb's
$_siginfo, if gdb is installed."""
import json, os, re, shutil, subprocess, sys

folder, cores = sys.argv[1], sys.argv[2:]
if not shutil.which("gdb"):
    sys.exit(0)
for name in cores:
    core = os.path.join(folder, name)
    ours = json.loads(
        subprocess.run(
            ["sframe-unwind", core, "--max-frames", "1", "--format=json"],
            capture_output=True,
            text=True,
        ).stdout
    )
    gdb = subprocess.run(
        [
            "gdb",
            "-nx",
            "-batch",
            "-iex",
            "set debuginfod enabled off",
            "-ex",
            "p/x (unsigned long)$_siginfo._sifields._sigfault.si_addr",
            "-ex",
            "p $_siginfo.si_code",
            "-ex",
            "p/x (unsigned long)$pc",
            os.path.join(folder, "crashes"),
            core,
        ],
        capture_output=True,
        text=True,
    ).stdout
    address, code, pc = re.findall(r"^\$\d+ = (.*)$", gdb, re.M)
    crash = ours["crash"]
    assert int(crash["address"], 16) == int(address, 16), (name, crash, address)
    assert crash["code"] == int(code), (name, crash, code)
    assert int(ours["threads"][0]["frames"][0]["pc"], 16) == int(pc, 16), (name, crash, pc)
