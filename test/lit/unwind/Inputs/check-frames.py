"""check-frames.py MODULE FUNCTION...: of the stacks on standard input (JSON), the first is
complete, all frames are exact, and the functions follow each other in it, in a module of that
name."""
import json
import sys

module, *functions = sys.argv[1:]
thread = json.load(sys.stdin)["threads"][0]
frames = thread["frames"]
shown = [(f.get("function", "?"), f.get("module", "?").split("/")[-1], f["trust"]) for f in frames]
assert thread["end"]["complete"] and all(f["trust"] == "exact" for f in frames), (
    thread["end"],
    shown,
)
first = next(i for i, frame in enumerate(shown) if frame[:2] == (functions[0], module))
assert [frame[:2] for frame in shown[first : first + len(functions)]] == [
    (f, module) for f in functions
], shown
