"""lost_node.py FOLDER NODES: stand-ins in FOLDER for the programs in PATH. The first one that runs
on node2 of two_sshd.py or two_slurmd.py, whose folder is NODES, takes the machine down: it kills
the daemon, its session, and what that has started."""
import os
import shutil
import sys

folder, nodes = map(os.path.abspath, sys.argv[1:])
STAND_IN = """#!%s
import os, signal, sys
folder = %r
def parent(process):
    with open("/proc/%%d/stat" %% process) as file:
        return int(file.read().rpartition(")")[2].split()[1])
def name(process):
    with open("/proc/%%d/comm" %% process) as file:
        return file.read().strip()
def is_on_node2():
    if "SSH_CONNECTION" not in os.environ:
        return os.environ.get("SLURMD_NODENAME") == "node2"
    with open(os.path.join(folder, "node2")) as file:
        return os.environ["SSH_CONNECTION"].endswith(" " + file.readline().split()[1])
if is_on_node2() and not os.path.exists(os.path.join(folder, "lost")):
    open(os.path.join(folder, "lost"), "a").write("node2\\n")
    with open(os.path.join(folder, "node2.pid")) as file:
        server = int(file.read())
    above, process = [], parent(os.getpid())
    while process not in (0, 1, server):
        above.append(process)
        process = parent(process)
    for process in [server, *reversed(above), os.getpid()]:
        os.kill(process, signal.SIGKILL)
os.execv(%r, [%r] + sys.argv[1:])
"""
os.makedirs(folder)
for name in ("sframe-gen", "sframe-verify", "sframe-dump"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(STAND_IN % (sys.executable, nodes, shutil.which(name), name))
    os.chmod(path, 0o755)
