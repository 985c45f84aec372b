# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which language and compiler a file is from, by what linkers leave in it. Distributions remove
.comment and debug information, so that the compiler is often unknown; run-time libraries leave
traces even then."""
import dataclasses
import mmap
import re

from .elf_file import MAX_STRINGS

UNKNOWN = "unknown"
MAX_SEARCHED = 1 << 30  # bytes of a file; it may have any size, as holes

# Of several languages in a file the first one counts. For each: names of shared libraries that it
# is linked with, what symbols begin with, and bytes that its run-time library leaves.
LANGUAGES = (
    ("Rust", None, None, (b"library/std/src/", b"library/core/src/", b"/rustc/")),
    ("Haskell", r"libHS", None, (b"GHCRTS", b"stg_upd_frame")),
    ("OCaml", None, rb"caml_(main|startup|call_gc)|camlStdlib", (b"OCAMLRUNPARAM",)),
    (
        "D",
        r"lib(phobos2|gphobos|druntime-ldc|gdruntime|phobos2-ldc)",
        None,
        (b"_d_run_main", b"core.exception.RangeError"),
    ),
    ("Pascal", None, None, (b"FPC 3.", b"FPC 2.")),
    ("Ada", r"libgna(t|rl)-", None, (b"__gnat_rcheck_CE",)),
    ("Fortran", r"lib(gfortran|flang|Fortran)", None, (b"_gfortran_st_write",)),
    ("C++", r"lib(std)?c\+\+|libc\+\+abi", rb"_Z", (b"__gxx_personality_v0",)),
)
# In a program with Rust: that it has C++, too, as browsers. Symbols of Rust may look like those of
# C++.
CPP_BESIDE_RUST = (b"NSt3__1", b"__gxx_personality_v0")
# Compilers whose versions are in what their run-time libraries leave.
TRACES = (("rustc", rb"/usr/src/rustc-(\d+\.\d+\.\d+)"), ("GHC", rb"ghc-?(\d+\.\d+\.\d+)"))


@dataclasses.dataclass
class Origin:
    language: str
    compiler: str = UNKNOWN
    source: str = None  # where the compiler's name is from


def normalized(name):
    """'GCC 12.2.0' for what a compiler calls itself; None for assemblers and linkers."""
    for pattern, form in (
        (r"rustc version (\d[\w.]*)", "rustc %s"),
        (r"clang version (\d[\d.]*)", "clang %s"),
        (r"^GCC: \((?:[^()]|\([^()]*\))*\) (\d+\.\d+[\d.]*)", "GCC %s"),
        (r"^GNU (?!AS)\S+(?: \S+)? (\d+\.\d+[\d.]*)", "GCC %s"),
        (r"^(?:Go cmd/compile )?go(\d[\w.]*)", "Go %s"),
    ):
        if found := re.search(pattern, name):
            return form % found[1].rstrip(".")
    return (
        None
        if re.match(r"GNU AS|Linker|LLD|mold|NASM|yasm", name, re.I)
        else name[:60].strip() or None
    )


def _language_of_producer(name):
    for pattern, language in (
        (r"rustc", "Rust"),
        (r"^GNU C\+\+", "C++"),
        (r"^GNU Fortran", "Fortran"),
        (r"^GNU Ada", "Ada"),
        (r"^GNU D ", "D"),
        (r"^(Go cmd|go\d)", "Go"),
        (r"Glasgow", "Haskell"),
        (r"^GNU C\d", "C"),
    ):
        if re.search(pattern, name):
            return language
    return None


def _go_version(section):
    """Of .go.buildinfo as Go 1.18 and later write it: the flag, then a string with its length."""
    if section[:14] == b"\xff Go buildinf:" and len(section) > 33 and section[15] & 2:
        return section[33 : 33 + min(section[32], 127)].decode("latin-1")
    return ""


def _comment_compiler(comment):
    """The first one that is not GCC, since start files have GCC's name in every program; else the
    newest GCC."""
    names = [
        name for name in map(normalized, comment.decode("utf-8", "replace").split("\0")) if name
    ]
    others = [name for name in names if not name.startswith("GCC ")]
    version = lambda name: [int(part) for part in re.findall(r"\d+", name)]  # noqa: E731
    return others[0] if others else max(names, key=version, default=None)


def origin_of(file):
    """By the file alone, for an ElfFile."""
    if file.has_section(".go.buildinfo") or file.has_section(".gopclntab"):
        version = normalized(_go_version(file.section_bytes(".go.buildinfo", 4096)))
        return Origin("Go", version or "Go", ".go.buildinfo" if version else "code")
    needed, strings = file.needed(), file.section_bytes(".dynstr", MAX_STRINGS)
    origin = Origin("C")
    with open(file.path, "rb") as opened, mmap.mmap(
        opened.fileno(), min(file.size, MAX_SEARCHED), access=mmap.ACCESS_READ
    ) as data:
        for language, libraries, symbols, traces in LANGUAGES:
            if (
                (libraries and any(re.match(libraries, name) for name in needed))
                or (symbols and re.search(rb"\0(" + symbols + rb")", strings))
                or any(data.find(trace) >= 0 for trace in traces)
            ):
                origin.language = language
                break
        has_rust = origin.language == "Rust"
        if has_rust and (
            any(re.match(r"lib(std)?c\+\+", name) for name in needed)
            or any(data.find(trace) >= 0 for trace in CPP_BESIDE_RUST)
        ):
            origin.language = "C++ and Rust"
        compiler = _comment_compiler(file.section_bytes(".comment", 1 << 16))
        if compiler:
            origin.compiler, origin.source = compiler, ".comment"
        elif has_rust or origin.language == "Haskell":
            name, pattern = TRACES[not has_rust]
            found = re.search(pattern, data)
            origin.compiler, origin.source = (
                name + (" " + found[1].decode() if found else ""),
                "code",
            )
        elif origin.language == "OCaml":
            origin.compiler, origin.source = "ocamlopt", "code"
    return origin


def with_producers(origin, names):
    """The same with what DW_AT_producer has, by the names in the report of sframe-verify
    --compiler-bugs."""
    compilers = sorted({compiler for compiler in map(normalized, names) if compiler})
    if not compilers:
        return origin
    languages = {language for language in map(_language_of_producer, names) if language}
    ranked = [language for language, *_ in LANGUAGES] + ["Go", "C"]
    language = (
        origin.language if origin.language != "C" else min(languages, key=ranked.index, default="C")
    )
    # Start files and parts of the C library are GCC's; what differs from it made the program.
    others = [name for name in compilers if not name.startswith("GCC ")]
    return Origin(language, (others or compilers)[-1], "DW_AT_producer")
