# hung-fuse.py FOLDER PLACE COMMAND...: serves the files of FOLDER by FUSE at PLACE, runs COMMAND
# and ends with its code. After SIGUSR1 to $SERVER no request is answered, as by a server that has
# lost its connection. Needs a name space in which to mount. (Linux include/uapi/linux/fuse.h)
import ctypes, errno, os, signal, struct, sys

folder, place, command = sys.argv[1], sys.argv[2], sys.argv[3:]
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = "fd=%d,rootmode=40000,user_id=0,group_id=0" % device
if libc.mount(b"hung", place.encode(), b"fuse.hung", 0, options.encode()) != 0:
    sys.exit("mount: " + os.strerror(ctypes.get_errno()))

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, INTERRUPT, BATCH_FORGET = (
    1,
    2,
    3,
    14,
    15,
    17,
    18,
    25,
    26,
    36,
    42,
)
names = {}  # by node: 1 is the folder
nodes = {}
hung = False


def attributes(node):
    status = os.stat(os.path.join(folder, names.get(node, "")))
    return struct.pack(
        "<6Q10I",
        node,
        status.st_size,
        status.st_size // 512 + 1,
        0,
        0,
        0,
        0,
        0,
        0,
        status.st_mode,
        1,
        0,
        0,
        0,
        4096,
        0,
    )


def answer(code, node, body):
    if code == INIT:
        return struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0)
    if code == LOOKUP:
        name = body.rstrip(b"\0").decode()
        if not os.path.exists(os.path.join(folder, name)):
            return errno.ENOENT
        found = nodes.setdefault(name, len(nodes) + 2)
        names[found] = name
        return struct.pack("<4Q2I", found, 0, 0, 0, 0, 0) + attributes(found)
    if code == GETATTR:
        return struct.pack("<Q2I", 0, 0, 0) + attributes(node)
    if code == OPEN:
        return struct.pack("<Q2I", 0, 0, 0)
    if code == READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        with open(os.path.join(folder, names[node]), "rb") as file:
            file.seek(offset)
            return file.read(size)
    if code == STATFS:
        return struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0)
    return b"" if code in (RELEASE, FLUSH) else errno.ENOSYS


def hang(*_):
    global hung
    hung = True


def ended(*_):
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


signal.alarm(300)  # a program that waits cannot be ended by others
signal.signal(signal.SIGUSR1, hang)
signal.signal(signal.SIGCHLD, ended)
child = os.fork()
if child == 0:
    os.environ["SERVER"] = str(os.getppid())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    os.execvp(command[0], command)
while True:
    request = os.read(device, 1 << 18)
    _, code, unique, node = struct.unpack_from("<IIQQ", request)
    if hung or code in (FORGET, INTERRUPT, BATCH_FORGET):
        continue
    reply = answer(code, node, request[40:])
    error, data = (-reply, b"") if isinstance(reply, int) else (0, reply)
    try:
        os.write(device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
    except FileNotFoundError:
        pass  # the request was interrupted
