# container.py FOLDER chroot|mounts: a process whose root is not the host's: by chroot(2), or in
# mounts of its own, as in containers. Its program and its libraries are in FOLDER/root only; the
# host has another program at the same path.
import os
import re
import shutil
import subprocess
import sys
import time

folder, how = sys.argv[1:]
root, path = os.path.join(folder, "root"), os.path.join(folder, "app")
source = os.path.join(folder, "server.c")


def build(where, function, *options):
    with open(source, "w") as file:
        file.write(
            "#include <unistd.h>\n__attribute__((noinline)) int %s(void) { return pause() + 1; }\nint main(void) { return %s() + 1; }\n"
            % (function, function)
        )
    os.makedirs(where, exist_ok=True)
    subprocess.run(
        [
            "gcc",
            "-O1",
            "-fno-optimize-sibling-calls",
            "-Wl,--build-id",
            *options,
            source,
            "-o",
            os.path.join(where, "server"),
        ],
        check=True,
    )


inside = root + path
build(inside, "in_container")
build(path, "on_host")
listed = subprocess.run(
    ["ldd", os.path.join(inside, "server")], stdout=subprocess.PIPE, check=True, text=True
).stdout
for library in re.findall(r"(/\S+)", listed):
    os.makedirs(os.path.dirname(root + library), exist_ok=True)
    shutil.copy(os.path.realpath(library), root + library)
program, enter = os.path.join(inside, "server"), ["chroot", root]
if how == "mounts":  # its debug file is in the container, too
    debug = os.path.join(root, "usr/lib/debug" + path)
    os.makedirs(debug, exist_ok=True)
    subprocess.run(
        ["objcopy", "--only-keep-debug", program, os.path.join(debug, "server.debug")], check=True
    )
    subprocess.run(["strip", program], check=True)
    subprocess.run(
        ["objcopy", "--add-gnu-debuglink=" + os.path.join(debug, "server.debug"), program],
        check=True,
    )
    os.makedirs(root + "/old", exist_ok=True)
    change = 'mount --make-rprivate / && mount --bind "$0" "$0" && cd "$0" && pivot_root . old && exec "$1"'
    enter = ["unshare", "-m", "sh", "-c", change, root]

process = subprocess.Popen([*enter, os.path.join(path, "server")])
try:
    deadline = time.monotonic() + 30
    while True:
        name = open("/proc/%d/comm" % process.pid).read().strip()
        state = open("/proc/%d/stat" % process.pid).read().rsplit(")", 1)[1].split()[0]
        if name == "server" and state == "S":
            break
        assert process.poll() is None, "not permitted"
        assert time.monotonic() < deadline, (name, state)
        time.sleep(0.05)
    done = subprocess.run(
        ["sframe-unwind", "--pid", str(process.pid)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
finally:
    process.kill()
    process.wait()
print(done.stdout, done.stderr)
assert done.returncode == 0, done
assert "on_host" not in done.stdout
