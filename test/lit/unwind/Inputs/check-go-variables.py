"""check-go-variables.py JSON PRINTED: compares the variables of main.work with what the program
printed of them."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    frames = json.load(file)["threads"][0]["frames"]
frame = next(frame for frame in frames if frame.get("function") == "main.work")
found = {one["name"]: one["value"] for one in frame["args"] + frame["locals"]}
found.update({"at." + name: value for name, value in re.findall(r"(\w+) = (-?\d+)", found["at"])})
with open(sys.argv[2], encoding="utf-8") as file:
    printed = dict(line.rstrip("\n").split(" = ") for line in file)
found["length of list"] = re.search(r"len = (\d+)", found["list"])[1]
for name, value in printed.items():
    assert found[name] == value, (name, found[name], value)
print(len(printed), "values")
