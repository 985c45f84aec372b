"""two_sshd.py FOLDER COMMAND...: starts two sshd on loopback as this user, with keys, ports and
configurations of their own in FOLDER; runs the command with FOLDER/config, by which ssh knows them
as node1 and node2; ends them. Prints only what the command prints. Root's sshd wants /run/sshd,
which a container may lack: then it gets one in a mount namespace."""
import os
import pwd
import signal
import socket
import subprocess
import sys

if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
    os.execvp(
        "unshare",
        [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            'mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"',
            "-",
            sys.executable,
            *sys.argv,
        ],
    )
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # what it started must end, too
folder, *command = os.path.abspath(sys.argv[1]), *sys.argv[2:]
os.makedirs(folder, mode=0o700)


def path(name):
    return os.path.join(folder, name)


def write(name, text):
    with open(path(name), "w") as file:
        file.write(text)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


user = pwd.getpwuid(os.geteuid()).pw_name
for name in ("client", "host"):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(name)], check=True)
servers, known, hosts = [], "", ""
code = 1
try:
    for node in ("node1", "node2"):
        port = free_port()
        write(
            node,
            "Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile %s\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            "PermitRootLogin prohibit-password\nMaxStartups 100\n"
            % (port, path("host"), path("client.pub"), path(node + ".pid")),
        )
        server = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", path(node)],
            stdin=subprocess.DEVNULL,
            stderr=open(path(node + ".log"), "w"),
            start_new_session=True,
        )
        servers.append(server)
        # Its log says when it listens; it ends if it cannot.
        while server.poll() is None and "listening" not in open(path(node + ".log")).read():
            pass
        if server.poll() is not None:
            sys.exit("sshd does not start: " + open(path(node + ".log")).read())
        with open(path("host.pub")) as file:
            known += "[127.0.0.1]:%d %s" % (port, file.read())
        hosts += "Host %s\n  HostName 127.0.0.1\n  Port %d\n" % (node, port)
    write("known", known)
    write(
        "config",
        '%sHost *\n  User %s\n  IdentityFile "%s"\n  IdentitiesOnly yes\n  UserKnownHostsFile "%s"\n  BatchMode yes\n  LogLevel ERROR\n'
        % (hosts, user, path("client"), path("known")),
    )
    code = subprocess.run(command).returncode
finally:
    for server in servers:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()
sys.exit(code)
