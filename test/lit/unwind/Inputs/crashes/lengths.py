# A null pointer passed to C by ctypes.
import ctypes

libc = ctypes.CDLL(None)


def length(name):
    return libc.strlen(ctypes.c_char_p(name))


def total(names):
    return sum(length(name) for name in names)


print(total([b"alice", None]))
