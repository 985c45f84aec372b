# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run-bazel.py SFRAME.BZL PROGRAM FOLDER [NAME=VALUE...]

Runs packaging/bazel/sframe.bzl without Bazel: Starlark is a subset of Python, and the part of
Bazel's interface that the file uses is here. The tools are looked up in PATH, and the actions of
sframe_binary(name = "app", src = PROGRAM, NAME = [VALUE]) run in FOLDER. It shows that the file is
Starlark, that attributes exist, and what the commands do; not that Bazel accepts all of it."""
import ast
import builtins
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace as Record

path, program, folder, *settings = sys.argv[1:]
source = open(path).read()

# Python that is not Starlark.
ALLOWED = (
    ast.Module,
    ast.Expr,
    ast.Constant,
    ast.Assign,
    ast.Name,
    ast.Store,
    ast.Load,
    ast.List,
    ast.Dict,
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.For,
    ast.If,
    ast.Call,
    ast.Attribute,
    ast.keyword,
    ast.BinOp,
    ast.Add,
    ast.Mod,
    ast.UnaryOp,
    ast.Not,
    ast.Return,
    ast.Subscript,
    ast.Compare,
    ast.NotEq,
)
for node in ast.walk(ast.parse(source)):
    assert isinstance(node, ALLOWED), "not Starlark: line %d: %s" % (
        getattr(node, "lineno", 0),
        ast.dump(node),
    )
for node in ast.parse(source).body:
    assert not isinstance(node, (ast.For, ast.If)), "not at the top level"


class File(str):
    pass


class Args:
    def __init__(self):
        self.words = []

    def add(self, *words):
        assert 1 <= len(words) <= 2
        self.words += words

    def add_all(self, words):
        self.words += words


def attribute(kind):
    def make(
        default=None,
        mandatory=False,
        values=None,
        doc="",
        allow_single_file=False,
        executable=False,
        cfg=None,
    ):
        assert not executable or cfg, "executable needs cfg"
        return Record(kind=kind, default=default, mandatory=mandatory, values=values)

    return make


class Runfiles(list):
    def merge(self, other):
        return Runfiles(self + other)


def stop(message):
    sys.exit("fail: " + message)


def rule(implementation, attrs, doc="", executable=False):
    return Record(implementation=implementation, attrs=attrs, executable=executable)


names = {
    "rule": rule,
    "fail": stop,
    "depset": list,
    "DefaultInfo": "DefaultInfo",
    "OutputGroupInfo": "OutputGroupInfo",
    "repository_rule": lambda implementation, **_: Record(
        implementation=implementation, __call__=None
    ),
    "module_extension": lambda implementation: Record(implementation=implementation),
    "attr": Record(
        label=attribute("label"), string=attribute("string"), string_list=attribute("string_list")
    ),
    "__builtins__": {"len": len},
}


class Provider:
    def __init__(self, name):
        self.name = name

    def __call__(self, **fields):
        return Record(provider=self.name, **fields)


names["DefaultInfo"], names["OutputGroupInfo"] = Provider("DefaultInfo"), Provider(
    "OutputGroupInfo"
)
exec(builtins.compile(source, path, "exec"), names)

# The repository of the tools.
tools = os.path.join(folder, "tools")
os.makedirs(tools)
names["sframe_tools"].implementation(
    Record(
        which=shutil.which,
        symlink=lambda target, name: os.symlink(target, os.path.join(tools, name)),
        file=lambda name, text: open(os.path.join(tools, name), "w").write(text),
    )
)

# The rule.
made = names["sframe_binary"]
chosen = {
    name: attribute.default if attribute.kind != "string_list" else []
    for name, attribute in made.attrs.items()
}
for setting in settings:
    name, value = setting.split("=", 1)
    chosen[name] = [value] if made.attrs[name].kind == "string_list" else value
    assert not made.attrs[name].values or value in made.attrs[name].values, (
        "not allowed: " + setting
    )


class Source(dict):
    pass


def run(executable, arguments, inputs, outputs, mnemonic, progress_message):
    words = [executable] + [str(word) for args in arguments for word in args.words]
    print(mnemonic, *[os.path.basename(word) for word in words])
    sys.stdout.flush()
    code = subprocess.run(words).returncode
    if code:
        sys.exit("%s: exit code %d" % (mnemonic, code))
    assert all(map(os.path.exists, inputs + outputs))


chosen["src"] = Source({names["DefaultInfo"]: Record(default_runfiles=Runfiles())})
context = Record(
    label=Record(name="app"),
    attr=Record(**chosen),
    file=Record(src=File(program)),
    runfiles=lambda files: Runfiles(files),
    executable=Record(
        **{
            name: os.path.join(tools, str(a.default).split(":")[1])
            for name, a in made.attrs.items()
            if name.startswith("_")
        }
    ),
    actions=Record(declare_file=lambda name: File(os.path.join(folder, name)), args=Args, run=run),
)
default, groups = made.implementation(context)
assert (
    default.provider == "DefaultInfo" and made.executable and os.access(default.executable, os.X_OK)
)
assert default.runfiles == [default.executable] and all(map(os.path.exists, groups._validation))
