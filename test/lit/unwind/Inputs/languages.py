# fmt: off
import functools  # Threads, generators and calls through C; then SIGABRT. Tests have the numbers of lines.
import os
import threading


class Server:
    def handle(self, n):
        if n == 0:
            return (lambda: self.work(
                3))()
        return self.handle(n - 1)

    def work(self, ö):
        try:
            return [crash(i) for i in
                    range(2)]
        finally:
            pass


def crash(i):
    ready.wait()
    os.abort()


def waits():
    asks(20)


def asks(n):
    return answers(n) if n else (ready.wait(), threading.Event().wait())


def answers(n):
    return asks(n - 1)


def generates():
    ready.wait()
    yield from inner()


def inner():
    threading.Lock().acquire() and never.acquire()
    yield 1


ready = threading.Barrier(3)
never = threading.Lock()
never.acquire()
threading.Thread(target=waits, daemon=True).start()
threading.Thread(target=lambda: list(generates()), daemon=True).start()
functools.reduce(lambda a, b: Server().handle(50), [3, 2])
