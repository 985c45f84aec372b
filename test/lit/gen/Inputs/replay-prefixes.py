"""replay-prefixes.py LOG TARGET OLD NEW [--copy]: what a loss of power after each line of LOG
(log-writes.c) may leave at the name TARGET. OLD may be "-": no file.

Of what was not synced, a disk may have anything: of each file's bytes all, none or those of every
other write; of the changes of names all, or none since the last sync of the folder. Each
combination must show the bytes of OLD or NEW; with --copy, otherwise a file next to it must have
those of NEW. When the program has ended, all must show NEW. Prints how many states were looked at,
and the first that is none of these."""
import itertools
import sys


class File:
    def __init__(self, content=b""):
        self.synced, self.writes = content, []

    def state(self, how):
        content = bytearray(self.synced)
        for number, (offset, data) in enumerate(self.writes):
            if (
                how == "none"
                or (how == "odd" and number % 2 == 0)
                or (how == "even" and number % 2 == 1)
            ):
                continue
            if data is None:
                del content[offset:]
                content.extend(bytes(offset - len(content)))
            else:
                content.extend(bytes(max(0, offset - len(content))))
                content[offset : offset + len(data)] = data
        return bytes(content)

    def sync(self):
        self.synced, self.writes = self.state("all"), []


def states(files, synced_names, names):
    for name_state, how in itertools.product((names, synced_names), ("all", "none", "odd", "even")):
        yield {name: files[inode].state(how) for name, inode in name_state.items()}


def main(log, target, old, new, copy=""):
    new = open(new, "rb").read()
    old = None if old == "-" else open(old, "rb").read()
    files, names, looked_at, started = {}, {}, 0, False
    synced_names = {}
    lines = [line.rstrip("\n").split(" ") for line in open(log)]

    def check(number, ended):
        count = 0
        for state in states(files, synced_names, names):
            count += 1
            shown = state.get(target)
            good = shown == new or (
                not ended
                and (
                    shown == old
                    or (
                        copy
                        and new
                        in [other for name, other in state.items() if name.startswith(target + ".")]
                    )
                )
            )
            if not good:
                print(
                    "line %d (%s): %s"
                    % (
                        number,
                        " ".join(lines[number - 1])[:60],
                        "no file" if shown is None else "a mixture of %d bytes" % len(shown),
                    )
                )
                sys.exit(1)
        return count

    for number, line in enumerate(lines, 1):
        what = line[0]
        if what == "link":
            if line[1] not in files:
                files[line[1]] = File(b"" if started else old)
            names[line[2]] = line[1]
        elif what == "rename":
            names[line[2]] = names.pop(line[1])
        elif what == "unlink":
            names.pop(line[1])
        elif what in ("write", "truncate"):
            files.setdefault(line[1], File()).writes.append(
                (int(line[2]), bytes.fromhex(line[3]) if what == "write" else None)
            )
        elif what == "sync":
            files[line[1]].sync()
        elif what == "sync-folder":
            synced_names = dict(names)
        elif what == "start":
            started, synced_names = True, dict(names)
        if started:
            looked_at += check(number, False)
    looked_at += check(len(lines), True)
    print("old or new: %d states" % looked_at if looked_at > 8 else "nothing was logged")


main(*sys.argv[1:])
