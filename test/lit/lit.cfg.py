# The programs' tests: lit runs the RUN lines of each *.test file, FileCheck compares.
#
# Substitutions: the programs and the LLVM tools go by their bare names (they are put first on PATH); %inputs is test/inputs, %build the build folder;
# %objdump247, %readelf247, %as247, %ld247 ... are newer binutils, %as240, %objdump240 the system's if they are 2.40.
# Features, for REQUIRES: binutils-2.40, binutils-2.44, binutils-2.47, eu-stack, gdb, cc, c++, aarch64-cc, s390x-cc, qemu-aarch64, qemu-aarch64_be,
# qemu-s390x, patchelf, python3, clang, asan. %newer-strips and %newer-objcopies are those of all newer binutils; perhaps none.
# A test whose tools are missing is reported as unsupported.
import os
import re
import shutil
import subprocess
import lit.formats

config.name = "sframe-utils"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".test", ".s", ".c"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.obj_root

config.environment["PATH"] = os.pathsep.join([config.programs, config.llvm_tools, os.environ.get("PATH", "")])
config.environment["LC_ALL"] = "C"
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%inputs", config.inputs))
config.substitutions.append(("%project", config.project))
config.substitutions.append(("%build", config.build))

def first_line(command):
    try:
        return subprocess.run([command, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    except OSError:
        return ""

peers = os.environ.get("SFRAME_PEERS") or config.peers
def add_binutils(suffix, version, folder, prefix=""):
    """Substitutions %as247 and so on, and the feature binutils-2.47, if the folder's objdump is that version."""
    objdump = os.path.join(folder, "objdump") if folder else shutil.which("objdump")
    if not objdump or not re.search(r"\b%s\b" % re.escape(version), first_line(objdump)):
        return
    config.available_features.add("binutils-" + version)
    for tool in ("as", "ld", "objdump", "readelf", "objcopy", "strip"):
        path = os.path.join(folder, tool) if folder else shutil.which(tool)
        config.substitutions.append(("%%%s%s" % (tool, suffix), path))
        for cross in ("aarch64", "s390x"):
            name = "%s-linux-gnu-%s" % (cross, tool)
            found = os.path.join(folder, name) if folder else shutil.which(name)
            if found and os.path.exists(found):
                config.available_features.add("%s-binutils-%s" % (cross, version))
                config.substitutions.append(("%%%s-%s%s" % (cross, tool, suffix), found))

add_binutils("240", "2.40", "")
if peers:
    add_binutils("244", "2.44", os.path.join(peers, "trixie", "bin"))
    for version in ("2.47", "2.47.50"):
        add_binutils("247", version, os.path.join(peers, "sid", "bin"))
    if "binutils-2.47.50" in config.available_features:
        config.available_features.add("binutils-2.47")

# Of all newer binutils that are there; perhaps none.
for name, tool in (("%newer-strips", "%strip"), ("%newer-objcopies", "%objcopy")):
    found = {key: path for key, path in config.substitutions if key in (tool + "244", tool + "247")}
    config.substitutions.append((name, " ".join(found.values())))

for feature, tool in (("gdb", "gdb"), ("eu-stack", "eu-stack"), ("cc", "gcc"), ("c++", "g++"), ("python3", "python3"),
                      ("qemu-aarch64", "qemu-aarch64"), ("qemu-s390x", "qemu-s390x"), ("qemu-aarch64_be", "qemu-aarch64_be"),
                      ("aarch64-cc", "aarch64-linux-gnu-gcc"), ("s390x-cc", "s390x-linux-gnu-gcc"), ("patchelf", "patchelf"),
                      ("clang", "clang-22")):
    if shutil.which(tool):
        config.available_features.add(feature)
if config.sanitizers:
    config.available_features.add("asan")
