"""Names of the stubs of libraries that this process has loaded, compared with those of objdump."""
import re
import shutil
import subprocess

import sframe

with sframe.own() as process:
    seen = 0
    for module in process.modules():
        if not module.path.startswith("/") or not shutil.which("objdump"):
            continue
        text = subprocess.run(
            [
                "objdump",
                "-d",
                "--section=.plt",
                "--section=.plt.sec",
                "--section=.plt.got",
                module.path,
            ],
            capture_output=True,
            text=True,
        ).stdout
        for address, name in re.findall(r"^([0-9a-f]+) <([^*>]+)@plt>:$", text, re.M):
            frame = process.at(int(address, 16) + module.bias, return_address=False)
            wanted = (
                name.split("@")[0] + "@plt"
            )  # objdump has the versions of symbols, and raw names
            assert frame.name and frame.name.endswith("@plt") and frame.function[1] == 0, (
                module.path,
                address,
                name,
                frame.name,
            )
            assert frame.name == wanted or wanted.startswith("_Z"), (
                module.path,
                address,
                name,
                frame.name,
            )
            seen += 1
            if seen % 40 == 0:
                break  # of each library some
    print("stubs as objdump names them" if seen > 20 else "only %d stubs" % seen)
