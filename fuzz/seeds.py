#!/usr/bin/env python3
"""seeds.py NAME INPUTS FOLDER: what a fuzz target starts with, made of the tests' inputs (INPUTS: test/inputs). walk and dynamic have scripts
of their own. What tools are missing for is left out."""
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

name, inputs, folder = sys.argv[1:]
BIGGEST = 1 << 16


def put(label, contents):
    with open(os.path.join(folder, label), "wb") as out:
        out.write(contents)


def files(*endings):
    for place, _, names in sorted(os.walk(inputs)):
        for one in sorted(names):
            path = os.path.join(place, one)
            if one.endswith(endings) and os.path.getsize(path) < BIGGEST:
                yield os.path.relpath(path, inputs).replace("/", "_"), open(path, "rb").read()


def run(*command, stdin=b""):
    """Standard output, or nothing where the tool is missing or fails."""
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else None


def compiled(source, *options):
    with tempfile.TemporaryDirectory() as work:
        source_file, out = os.path.join(work, "a.cc"), os.path.join(work, "a.o")
        open(source_file, "w").write(source)
        return open(out, "rb").read() if run("g++", *options, "-o", out, source_file) is not None else None


def section(elf, wanted):
    """A section's bytes, of a 64-bit little-endian file."""
    at, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, at + i * size) for i in range(count)]
    strings = headers[names][4]
    for header in headers:
        label = elf[strings + header[0]:elf.index(b"\0", strings + header[0])].decode()
        if label == wanted:
            return elf[header[4]:header[4] + header[5]]
    return b""


THROWS = """
struct A { ~A(); }; void f(); int g(int);
int h(int n) { A a; try { f(); for (int i = 0; i < n; ++i) n += g(i); } catch (int x) { return x; } catch (...) { A b; f(); } return n; }
namespace { template <class T> inline T twice(T t) { return g(t) + t; } }
int main() { return h(twice(3)) + twice(4); }
void f() { throw 1; } int g(int n) { return n; } A::~A() {}
"""

if name == "archive":
    for label, contents in files(".a"):
        put(label, contents)
    put("long-names", b"!<arch>\n//" + b" " * 46 + b"14        `\nlong/\nlonger/\n" +
        b"/0" + b" " * 46 + b"2         `\nab" + b"/6" + b" " * 46 + b"0         `\n")
elif name == "unpack":
    for label, contents in files(".o", ".core"):
        put(label + ".xz", lzma.compress(contents))
        put(label + ".alone", lzma.compress(contents, format=lzma.FORMAT_ALONE))
        for tool in ("zstd", "lz4", "gzip"):
            packed = run(tool, "-c", stdin=contents)
            if packed:
                put(label + "." + tool, packed)
        elf = struct.unpack_from("<H", contents, 16) if contents[:4] == b"\x7fELF" else None
        if elf == (1,):
            with tempfile.TemporaryDirectory() as work:
                path = os.path.join(work, "o")
                open(path, "wb").write(contents)
                for how in ("zlib", "zstd"):
                    if run("llvm-objcopy-22", "--compress-sections=*=" + how, path, path + how) is not None:
                        put(label + ".sections-" + how, open(path + how, "rb").read())
elif name == "demangle":
    names = set()
    for _, contents in files(".o", ".so"):
        names.update(re.findall(rb"_(?:Z|R|D)[A-Za-z0-9_.$]{3,200}", contents))
    built = compiled(THROWS, "-c", "-g")
    names.update(re.findall(rb"_Z[A-Za-z0-9_.]{3,200}", built or b""))
    names.update([b"_ZNSt6vectorIiSaIiEE9push_backEOi", b"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", b"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new",
                  b"_RINvNtC3std3mem8align_ofjdE", b"_D3std5stdio4File6__ctorMFNcAyaxAaZSQBcQzQBb", b"_ZN1AIJDpT_EEC2Ev", b"_Z1fIJiidEEvDpT_", b"_ZZ4mainENKUlT_E_clIiEEDaS_@@VERS_1"])
    put("names", b"\n".join(sorted(names)))
    for i, one in enumerate(sorted(names)):
        put("name-%d" % i, one)
elif name == "lsda":
    for options in (("-O0",), ("-O2",), ("-O2", "-fPIC")):
        built = compiled(THROWS, "-c", *options)
        if built:
            for abi in range(2):
                put("table%s-%d" % ("".join(options), abi), bytes([abi, 1]) + section(built, ".gcc_except_table"))
elif name == "source":
    for options in (("-O2", "-g"), ("-O1", "-gdwarf-4"), ("-O2", "-g", "-gz")):
        built = compiled(THROWS, *options)
        if built:
            put("program" + "".join(options), built)
    for label, contents in files(".o", ".so"):
        put(label, contents)
elif name == "debugfile":
    for label, contents in files(".so"):
        put(label, struct.pack("<I", len(contents)) + contents + contents)
    with tempfile.TemporaryDirectory() as work:
        built, path = compiled(THROWS, "-g"), os.path.join(work, "p")
        if built:
            open(path, "wb").write(built)
            if run("objcopy", "--only-keep-debug", path, path + ".debug") is not None and \
                    run("objcopy", "--strip-debug", "--add-gnu-debuglink=" + path + ".debug", path) is not None:
                program, debug = open(path, "rb").read(), open(path + ".debug", "rb").read()
                put("linked", struct.pack("<I", len(program)) + program + debug)
elif name == "callbacks":
    # A search table of three pairs, CFI behind it (what gcc writes for a small function), a stack.
    cfi = bytes.fromhex("1400000000000000017a5200017810011b0c070890010000" "1400000000000000" "00" * 24)
    for what in (0, 1, 8, 16, 31):
        registers = b"".join(struct.pack("<H", 0x100 + 16 * i) for i in range(17))
        put("memory-%d" % what, bytes([what, 3]) + registers + struct.pack("<6i", 0, 24, 64, 48, 128, 72) + cfi + bytes(range(256)))
elif name == "readers":
    put("baseline", b"# sframe-verify baseline\nlibfoo.so\tC102\t2\tfoo::bar(int)\nlibfoo.so\tS001\t1\tmain\n")
    put("text", "name \u00e9\u202e\u009b\x1b[31m".encode())
else:
    for label, contents in files(".sframe", ".o", ".so", ".core", ".a"):
        put(label, contents)
