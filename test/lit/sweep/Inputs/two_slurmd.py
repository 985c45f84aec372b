"""two_slurmd.py FOLDER COMMAND...: starts munged, slurmctld and two slurmd (nodes node1 and node2,
all on loopback), with keys, ports and configurations of their own in FOLDER, as root; runs the
command with SLURM_CONF; ends them."""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # what it started must end, too
folder, *command = os.path.abspath(sys.argv[1]), *sys.argv[2:]
os.makedirs(folder, mode=0o700)
sockets = tempfile.mkdtemp(
    prefix="slurm-", dir="/tmp"
)  # the path of a socket has 108 bytes at most


def path(name):
    return os.path.join(folder, name)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


host = socket.gethostname().partition(".")[0]
with open(path("key"), "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
    file.write(os.urandom(1024))
ports = [free_port() for _ in range(3)]
with open(path("slurm.conf"), "w") as file:
    file.write(
        """ClusterName=test
SlurmctldHost=%s(127.0.0.1)
SlurmctldPort=%d
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%s
CredType=cred/munge
StateSaveLocation=%s
SlurmdSpoolDir=%s/%%n
SlurmctldPidFile=%s/slurmctld.pid
SlurmdPidFile=%s/slurmd-%%n.pid
SlurmctldLogFile=%s/slurmctld.log
SlurmdLogFile=%s/slurmd-%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=defer,sched_interval=1
MailProg=/bin/true
SlurmdTimeout=%s
MessageTimeout=%s
KillWait=2
ReturnToService=2
NodeName=node1 NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=100
NodeName=node2 NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=100
PartitionName=all Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
"""
        % (
            host,
            ports[0],
            os.path.join(sockets, "munge"),
            path("state"),
            sockets,
            *[folder] * 4,
            os.environ.get("SLURMD_TIMEOUT", "10"),
            os.environ.get("MESSAGE_TIMEOUT", "10"),
            host,
            ports[1],
            host,
            ports[2],
        )
    )
# Debian's slurmd refuses other owners than its user's.
with open(path("cgroup.conf"), "w") as file:
    file.write("CgroupAutomount=no\n")
os.environ["SLURM_CONF"] = path("slurm.conf")
os.environ["SLURM_TEST_FOLDER"] = folder
for name in (path("state"), os.path.join(sockets, "node1"), os.path.join(sockets, "node2")):
    os.mkdir(name)
servers = []


def start(*arguments):
    servers.append(
        subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=open(path("%d.out" % len(servers)), "w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    )
    return servers[-1]


code = 1
try:
    munged = start(
        "/usr/sbin/munged",
        "--foreground",
        "--force",
        "--key-file",
        path("key"),
        "--socket",
        os.path.join(sockets, "munge"),
        "--pid-file",
        path("munged.pid"),
        "--log-file",
        path("munged.log"),
        "--seed-file",
        path("seed"),
        "--num-threads",
        "2",
    )
    while munged.poll() is None and not os.path.exists(os.path.join(sockets, "munge")):
        time.sleep(0.02)
    start("/usr/sbin/slurmctld", "-D", "-c")
    for node in ("node1", "node2"):
        with open(path(node + ".pid"), "w") as file:
            file.write(str(start("/usr/sbin/slurmd", "-D", "-N", node).pid))
    # Until both nodes can take jobs.
    while subprocess.run(
        ["sinfo", "-h", "-N", "-o", "%t"], capture_output=True, text=True
    ).stdout.split() != ["idle", "idle"]:
        if any(server.poll() is not None for server in servers):
            sys.exit("Slurm does not start; its logs are in " + folder)
        time.sleep(0.1)
    running = subprocess.Popen(command)
    end = time.monotonic() + 600
    while running.poll() is None:
        # Slurm starts a job of a lost node again after two minutes.
        for line in subprocess.run(
            ["squeue", "-h", "-t", "PD", "-o", "%i %r"], capture_output=True, text=True
        ).stdout.splitlines():
            if line.endswith(" BeginTime"):
                subprocess.run(
                    ["scontrol", "update", "JobId=" + line.split()[0], "StartTime=now"],
                    capture_output=True,
                )
        if time.monotonic() > end:
            running.kill()
            sys.exit("the command does not end; Slurm's logs are in " + folder)
        time.sleep(0.2)
    code = running.returncode
finally:
    for server in reversed(servers):
        if server.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()
    shutil.rmtree(sockets, ignore_errors=True)
sys.exit(code)
