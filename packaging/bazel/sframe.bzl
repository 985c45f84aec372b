# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SFrame sections for what Bazel builds. In MODULE.bazel, with this file in the project's folder sframe/:

    sframe = use_extension("//sframe:sframe.bzl", "sframe")
    use_repo(sframe, "sframe_tools")

and in a BUILD file:

    load("//sframe:sframe.bzl", "sframe_binary")

    cc_binary(name = "app_without", srcs = ["app.cc"])
    sframe_binary(name = "app", src = ":app_without", profile = "linux")

`app` is a copy of the program with an SFrame section. The section is checked by sframe-verify in a validation action, which
fails the build if the section is wrong. The programs are the installed ones, found by PATH.
"""

_TOOLS = ["sframe-gen", "sframe-verify"]

def _sframe_tools_impl(repository):
    for tool in _TOOLS:
        path = repository.which(tool)
        if not path:
            fail(tool + " is not in PATH: install sframe-utils")
        repository.symlink(path, tool)
    repository.file("BUILD.bazel", "exports_files(%r, visibility = [\"//visibility:public\"])\n" % _TOOLS)

sframe_tools = repository_rule(
    implementation = _sframe_tools_impl,
    doc = "The installed programs.",
    environ = ["PATH"],
    local = True,
)

def _sframe_impl(_module):
    sframe_tools(name = "sframe_tools")

sframe = module_extension(implementation = _sframe_impl)

def _sframe_binary_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    gen = ctx.actions.args()
    gen.add_all(["--quiet", "--report=none"])
    if ctx.attr.profile != "spec":
        gen.add("--for=" + ctx.attr.profile)
    gen.add_all(ctx.attr.options)
    gen.add(ctx.file.src)
    gen.add("-o", out)
    ctx.actions.run(
        executable = ctx.executable._gen,
        arguments = [gen],
        inputs = [ctx.file.src],
        outputs = [out],
        mnemonic = "SFrameGen",
        progress_message = "SFrame for %{label}",
    )

    # Findings go to standard output, which Bazel shows. The action needs a file, too: the list of known
    # findings.
    findings = ctx.actions.declare_file(ctx.label.name + ".findings")
    verify = ctx.actions.args()
    verify.add_all(["--quiet", "--profile=" + ctx.attr.profile])
    verify.add_all(ctx.attr.verify_options)
    verify.add("--write-baseline", findings)
    verify.add(out)
    ctx.actions.run(
        executable = ctx.executable._verify,
        arguments = [verify],
        inputs = [out],
        outputs = [findings],
        mnemonic = "SFrameVerify",
        progress_message = "Verifying the SFrame section of %{label}",
    )

    runfiles = ctx.runfiles(files = [out]).merge(ctx.attr.src[DefaultInfo].default_runfiles)
    return [
        DefaultInfo(executable = out, files = depset([out]), runfiles = runfiles),
        OutputGroupInfo(_validation = depset([findings])),
    ]

sframe_binary = rule(
    implementation = _sframe_binary_impl,
    doc = "A copy of a program, library or archive with an SFrame section.",
    attrs = {
        "src": attr.label(mandatory = True, allow_single_file = True, doc = "The file without the section."),
        "profile": attr.string(
            default = "spec",
            values = ["spec", "linux", "linux-module", "glibc"],
            doc = "The reader that the section is written for, whose requirements are checked.",
        ),
        "options": attr.string_list(doc = "Further options of sframe-gen."),
        "verify_options": attr.string_list(doc = "Further options of sframe-verify."),
        "_gen": attr.label(
            default = "@sframe_tools//:sframe-gen",
            executable = True,
            cfg = "exec",
            allow_single_file = True,
        ),
        "_verify": attr.label(
            default = "@sframe_tools//:sframe-verify",
            executable = True,
            cfg = "exec",
            allow_single_file = True,
        ),
    },
    executable = True,
)
