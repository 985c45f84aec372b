#!/usr/bin/env python3
"""seeds.py NAME INPUTS FOLDER: what a fuzz target starts with (make-corpus), made of the tests'
inputs (INPUTS: the folder that test/inputs/assemble makes). walk and dynamic have scripts of their
own, cfi a further one. What tools are missing for is left out."""
import base64
import itertools
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from elf_writer import ET_DYN, SHF_ALLOC, SHT_PROGBITS, File, eh_frame

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


def compiled(source, *options, compiler="g++"):
    with tempfile.TemporaryDirectory() as work:
        source_file, out = os.path.join(work, "a.cc"), os.path.join(work, "a.o")
        open(source_file, "w").write(source)
        return (
            open(out, "rb").read()
            if run(compiler, *options, "-o", out, source_file) is not None
            else None
        )


TARGETS = {
    "x86_64": 2,
    "aarch64": 1,
    "aarch64_be": 0,
    "s390x": 3,
}  # with the numbers in the targets


def compiled_for(target, source, *options):
    """By LLVM, for another machine: an object, and a program that lacks its libraries."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "a")
        open(path + ".cc", "w").write(source)
        if (
            run(
                "clang++-22",
                "--target=%s-linux-gnu" % target,
                "-w",
                "-c",
                *options,
                "-o",
                path + ".o",
                path + ".cc",
            )
            is None
        ):
            return
        yield open(path + ".o", "rb").read()
        if (
            run(
                "ld.lld-22",
                "-e",
                "f",
                "--unresolved-symbols=ignore-all",
                "--eh-frame-hdr",
                path + ".o",
                "-o",
                path,
            )
            is not None
        ):
            yield open(path, "rb").read()


def with_damage(contents, wanted, first, count):
    """Files with one bit of a section changed, at `count` places from `first` on."""
    part = section(contents, wanted)
    if contents.count(part) == 1:
        for i in range(count):
            at = first + (len(part) - first) * i // count
            if at < len(part):
                yield "%s-%d" % (wanted[1:], at), contents.replace(
                    part, part[:at] + bytes([part[at] ^ 8]) + part[at + 1 :]
                )


def without_section(contents, wanted):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "a")
        open(path, "wb").write(contents or b"")
        return open(path, "rb").read() if run("objcopy", "-R", wanted, path) is not None else None


def with_last_rules(contents):
    """Files whose FDEs end with another instruction, where padding has room for it: rules of the
    last rows that rows of SFrame contradict or cannot have. AMD64."""
    frames = section(contents, ".eh_frame")
    for number, rule in enumerate(
        (
            b"\x08\7",
            b"\x14\x10\2",
            b"\x14\6\2",
            b"\x14\7\2",
            b"\x0f\1\x50",
            b"\x10\6\1\x50",
            b"\x16\x10\1\x50",
            b"\7\x10",
            b"\x09\x10\3",
            b"\x08\x10",
            b"\x0e\x40",
            b"\x0d\3",
            b"\x86\3",
            b"\x3f",
        )
    ):
        changed, at = bytearray(frames), 0
        while at + 8 <= len(frames):
            length, identifier = struct.unpack_from("<II", frames, at)
            end = at + 4 + length
            if identifier and frames[end - len(rule) : end] == bytes(len(rule)):
                used = len(frames[at:end].rstrip(b"\0"))
                changed[at + used : at + used + len(rule)] = (
                    rule if at + used + len(rule) <= end else b""
                )
                del changed[len(frames) :]
            at = end if length else len(frames)
        if len(changed) == len(frames) and contents.count(frames) == 1:
            yield "rule-%d" % number, contents.replace(frames, bytes(changed))


def section(elf, wanted):
    """A section's bytes, of a 64-bit file."""
    order = ">" if elf[5] == 2 else "<"
    (at,) = struct.unpack_from(order + "Q", elf, 40)
    size, count, names = struct.unpack_from(order + "HHH", elf, 58)
    headers = [struct.unpack_from(order + "IIQQQQ", elf, at + i * size) for i in range(count)]
    strings = headers[names][4]
    for header in headers:
        label = elf[strings + header[0] : elf.index(b"\0", strings + header[0])].decode()
        if label == wanted:
            return elf[header[4] : header[4] + header[5]]
    return b""


def archive(*members):
    body = b"!<arch>\n"
    for label, contents in members:
        body += (
            b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (label + b"/", 0, 0, 0, 0o644, len(contents))
            + contents
            + b"\n" * (len(contents) % 2)
        )
    return body


def without_sections(elf):
    return elf[:40] + bytes(8) + elf[48:58] + bytes(6) + elf[64:]


def with_headers(wanted, count, size):
    """A program that has `count` headers of that section over the same bytes."""
    file = File(ET_DYN)
    where = file.add(bytes(size))
    for _ in range(count):
        file.section(wanted, SHT_PROGBITS, where, SHF_ALLOC, 0x1000)
    return file.content()


THROWS = """
struct A { ~A(); }; void f(); int g(int);
int h(int n) { A a; try { f(); for (int i = 0; i < n; ++i) n += g(i); } catch (int x) { return x; } catch (...) { A b; f(); } return n; }
namespace { template <class T> inline T twice(T t) { return g(t) + t; } }
int main() { return h(twice(3)) + twice(4); }
void f() { throw 1; } int g(int n) { return n; } A::~A() {}
"""

NUMBERS = """
extern "C" int f(int n) { volatile char a[64]; for (int i = 0; i < n; ++i) a[i % 64] = n; switch (n) {
case 1: return a[1]; case 2: return a[2] + n; case 3: return f(n - 1); case 4: return f(5) + a[7]; case 5: return 9; }
return f(a[3]) + a[n % 9]; }
int main(int n, char**) { return f(n); }
"""

INLINED = """
volatile int v;
namespace a { inline int one(int n) { v = n; if (n > 3) v = v * n; return v + n; }
template <class T> inline T two(T t) { v = one(t); if (__builtin_expect(v == 77, 0)) { v = 3; one(v); } return one(t + v); } }
__attribute__((noinline, cold)) int cold(int n) { return a::two(n) + v; }
__attribute__((noinline)) int f(int n) { if (__builtin_expect(n > 70, 0)) return cold(n) + a::one(v); for (int i = 0; i < n; ++i) v += a::two(i); return a::one(n) + v; }
int main() { return f(v) + a::two(v); }
"""

ENDS = """
extern "C" __attribute__((noreturn, noinline)) void end(int n) { for (;;) *(volatile int *)(long)n = n; }
extern "C" __attribute__((noinline)) int one(int n) { if (n > 5) end(n); return n * 3; }
extern "C" __attribute__((noinline)) void two(int n) { one(n); end(n + 1); }
extern "C" __attribute__((noinline)) void three(int n) { volatile char a[40]; a[n] = 1; one(a[3]); end(n + a[n]); }
#ifdef __x86_64__ // without CFI; with .eh_frame and .debug_frame
asm(".type plain, @function; plain: push %rbx; mov %edi, %ebx; call one; add %ebx, %eax; pop %rbx; ret; .size plain, . - plain;"
    ".globl leaf; .type leaf, @function; leaf: sub $24, %rsp; mov %edi, (%rsp); call plain; add $24, %rsp; jmp plain; .size leaf, . - leaf");
#ifdef BOTH
asm(".cfi_sections .eh_frame, .debug_frame");
#endif
extern "C" int leaf(int);
#else
#define leaf one
#endif
int main(int n, char **) { if (n == 1) two(n); if (n == 2) three(n); return leaf(n); }
"""

# CFI that the code contradicts, each in another way; and code that cannot be followed.
ODD = """
#define FUNCTION(name, code) asm(".globl " #name "; .type " #name ", @function; " #name ": .cfi_startproc; " code "; .cfi_endproc; .size " #name ", . - " #name);
FUNCTION(paths, "test %edi, %edi; je 1f; push %rbx; .cfi_adjust_cfa_offset 8; 1: nop; nop; ret")
FUNCTION(aligned, "and $-16, %rsp; nop; ret")
FUNCTION(aligned_paths, "test %edi, %edi; je 1f; and $-16, %rsp; 1: nop; ret")
FUNCTION(unbalanced, "push %rbx; .cfi_adjust_cfa_offset 8; nop; ret")
FUNCTION(returns_bx, "push %rbx; .cfi_adjust_cfa_offset 8; pop %rax; .cfi_adjust_cfa_offset -8; mov %rbx, (%rsp); nop; ret")
FUNCTION(late, "push %rbp; mov %rsp, %rbp; .cfi_def_cfa %rbp, 16; .cfi_offset %rbp, -16; nop; leave; .cfi_def_cfa %rsp, 8; ret")
FUNCTION(later, "sub $24, %rsp; nop; .cfi_adjust_cfa_offset 24; nop; add $24, %rsp; nop; .cfi_adjust_cfa_offset -24; ret")
FUNCTION(early, ".cfi_adjust_cfa_offset 8; nop; push %rbx; nop; pop %rbx; .cfi_adjust_cfa_offset -8; ret")
FUNCTION(missing, "push %rbx; nop; push %r12; nop; pop %r12; pop %rbx; ret")
FUNCTION(carried, "push %rbx; .cfi_adjust_cfa_offset 8; test %edi, %edi; je 1f; pop %rbx; .cfi_adjust_cfa_offset -8; ret; 1: nop; pop %rbx; ret")
FUNCTION(other_stack, "mov %rdi, %rsp; nop; ret")
FUNCTION(exchanged, "xchg %rsp, %rdi; nop; xchg %rsp, %rdi; ret")
FUNCTION(base, "push %rbp; .cfi_adjust_cfa_offset 8; .cfi_offset %rbp, -16; mov %rsp, %rbp; .cfi_def_cfa_register %rbp; mov %rdi, %rbp; nop; leave; .cfi_def_cfa %rsp, 8; ret")
FUNCTION(wrong_place, "push %rbx; .cfi_adjust_cfa_offset 8; push %rbp; .cfi_adjust_cfa_offset 8; .cfi_offset %rbp, -16; xor %ebp, %ebp; nop; pop %rbp; .cfi_adjust_cfa_offset -8; .cfi_restore %rbp; pop %rbx; .cfi_adjust_cfa_offset -8; ret")
FUNCTION(unsaved, "push %rbp; .cfi_adjust_cfa_offset 8; mov %rdi, %rbp; nop; pop %rbp; .cfi_adjust_cfa_offset -8; ret")
FUNCTION(popped, "pop %rbx; nop; push %rbx; ret")
FUNCTION(lost, "pop %rbx; .cfi_adjust_cfa_offset -8; .cfi_register %rip, %rbx; nop; jmp *%rbx")
FUNCTION(unreached, "jmp 1f; .byte 6, 6, 6; 1: ret; nop; push %rbx; ret")
FUNCTION(table, "lea 2f(%rip), %rax; movslq (%rax, %rdi, 4), %rcx; add %rcx, %rax; jmp *%rax; 2: .long 0, 4, 8")
FUNCTION(one, "push %rbx; sub $16, %rsp; call late; jmp shared")
FUNCTION(two, "push %rbx; sub $16, %rsp; call later; jmp shared")
FUNCTION(shared, "nop; add $16, %rsp; pop %rbx; ret")
FUNCTION(three, "push %rbx; jmp differs")
FUNCTION(four, "sub $24, %rsp; jmp differs")
FUNCTION(differs, "nop; nop; ret")
int main() { return 0; }
"""

# Functions without symbols and CFI, as what the code says of them: cold parts that are entered by
# jumps with one row, and with several; ends that a jump contradicts; code after data; a jump table
# of pointers; an entry point that does not return.
STRIPPED = """
#define FRAME "push %rbx; sub $16, %rsp;"
#define END "add $16, %rsp; pop %rbx; ret;"
asm(".globl begin; begin: call one; call two; call three; call four; call five; call six; call tabled; 1: jmp 1b; .p2align 4;"
    "one: " FRAME "test %edi, %edi; je cold; call leaf; " END ".p2align 4; two: " FRAME "test %edi, %edi; jne cold; " END
    ".p2align 4; three: " FRAME "test %edi, %edi; je mixed; " END ".p2align 4; four: push %rbx; test %edi, %edi; je mixed; pop %rbx; ret;"
    ".p2align 4; five: sub $40, %rsp; test %edi, %edi; je inside; add $40, %rsp; ret; .p2align 4; six: " FRAME "nop; inside: " END
    ".p2align 4; leaf: ret; .p2align 4; leaf_two: push %rbx; jmp leaf_three; .p2align 4; leaf_three: pop %rbx; ret;"
    "tabled: cmp $3, %edi; ja 9f; mov %edi, %eax; jmp *table(,%rax,8); 2: mov $1, %eax; ret; 3: push %rbx; call leaf; pop %rbx; 9: ret;"
    ".byte 6, 6, 6, 6, 0x0f, 0x1f, 0x40, 0; .p2align 4; .byte 6, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x0f, 0x1f, 0x80, 0, 0, 0, 0;"
    "alone: push %rbx; call leaf; pop %rbx; ret; .byte 6, 6, 6; .p2align 4, 6; push %rbx; nop; pop %rbx; ret;"
    ".section .text.unlikely, \\"ax\\"; cold: call leaf; " END "mixed: nop; ret; .section .rodata; .p2align 3; table: .quad 2b, 3b, 9b, 9b");
"""

# FDO_PACKAGING_METADATA: what distributions write into programs (systemd's package notes).
PACKAGE = """
asm(".pushsection .note.package, \\"a\\", @note; .p2align 2; .long 4, 2f - 1f, 0xcafe1a7e; .asciz \\"FDO\\"; 1: .asciz "
    "\\"{\\\\\\"type\\\\\\":\\\\\\"deb\\\\\\",\\\\\\"name\\\\\\":\\\\\\"program\\\\\\",\\\\\\"version\\\\\\":\\\\\\"1-2\\\\\\"}\\"; 2: .p2align 2; .popsection");
"""

JUMPS = """
extern "C" { void *memcpy(void *, const void *, unsigned long); void g(int); __attribute__((noreturn)) void end(int); extern int v;
int f(int n, int m, char *p) {
  char room[m + 1]; memcpy(room, p, m);
  switch (n) {
  case 1: g(1); break; case 2: g(m); return 7; case 3: m += 5; break; case 4: end(4); case 5: m *= n; g(m); break;
  case 6: g(6); case 7: m -= 7; break; case 8: return room[8]; case 9: m ^= n; break; case 10: g(room[1]); break;
  case 11: return f(m, n, room); case 12: m = m << 3; break; default: end(m); }
  for (int i = 0; i < m; ++i) if (room[i] > n) g(i + room[i]);
  v += m;
  return m + room[n];
} }
"""

if name == "archive":
    for label, contents in files(".a"):
        put(label, contents)
    put(
        "long-names",
        b"!<arch>\n//"
        + b" " * 46
        + b"14        `\nlong/\nlonger/\n"
        + b"/0"
        + b" " * 46
        + b"2         `\nab"
        + b"/6"
        + b" " * 46
        + b"0         `\n",
    )
    # Each form of an index of symbols, whole, with a place of a member that is wrong, and with too
    # many symbols.
    if built := compiled(THROWS, "-c", "-O2"):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "a")
            open(path + ".o", "wb").write(built)
            for label in ("gnu", "bsd", "darwin"):
                if (
                    run("llvm-ar-22", "rcs", "--format=" + label, path + label, path + ".o")
                    is not None
                ):
                    made = open(path + label, "rb").read()
                    put("index-" + label, made)
                    for at in (68, 72, 76, 80, 84, 88, 92, 96):
                        put("index-%s-%d" % (label, at), made[:at] + b"\1\2\3\4" + made[at + 4 :])
            os.environ["SYM64_THRESHOLD"] = "1"
            if run("llvm-ar-22", "rcs", "--format=gnu", path + "64", path + ".o") is not None:
                put("index-64", open(path + "64", "rb").read())
elif name == "unpack":
    for number, (label, contents) in enumerate(
        list(files(".o"))[::16]
    ):  # compressed, they are much alike
        put(label + ".xz", lzma.compress(contents))
        put(label + ".alone", lzma.compress(contents, format=lzma.FORMAT_ALONE))
        for tool in ("zstd", "lz4", "gzip"):
            packed = run(tool, "-c", stdin=contents)
            if packed:
                put(label + "." + tool, packed)
        if number == 0:
            lines = [
                b"ProblemType: Crash",
                b"ExecutablePath: /usr/bin/program",
                b"CoreDump: base64",
            ]
            packed = run("gzip", "-c", stdin=contents) or contents
            lines += [
                b" " + base64.b64encode(packed[at : at + 500]) for at in range(0, len(packed), 500)
            ]
            put("report", b"\n".join(lines + [b"Package: program 1.2-3\n"]))
        elf = struct.unpack_from("<H", contents, 16) if contents[:4] == b"\x7fELF" else None
        if elf == (1,):
            with tempfile.TemporaryDirectory() as work:
                path = os.path.join(work, "o")
                open(path, "wb").write(contents)
                for how in ("zlib", "zstd"):
                    if (
                        run(
                            "llvm-objcopy-22",
                            "--compress-sections=.sframe=" + how,
                            path,
                            path + how,
                        )
                        is not None
                    ):
                        packed = open(path + how, "rb").read()
                        put(label + ".sections-" + how, packed)
                        if number == 0 and (
                            part := section(packed, ".sframe") or section(packed, ".eh_frame")
                        ):
                            # Another size, which is implausible or wrong; damage; another
                            # algorithm.
                            for change, at, value in (
                                ("huge", 14, 0xFF),
                                ("larger", 9, 1),
                                ("damaged", 30, 0xFF),
                                ("unknown", 0, 9),
                            ):
                                wrong = part[:at] + bytes([value]) + part[at + 1 :]
                                put(
                                    "%s.sections-%s-%s" % (label, how, change),
                                    packed.replace(part, wrong),
                                )
elif name == "demangle":
    names = set()
    for _, contents in files(".o", ".so"):
        names.update(re.findall(rb"_(?:Z|R|D)[A-Za-z0-9_.$]{3,200}", contents))
    built = compiled(THROWS, "-c", "-g")
    names.update(re.findall(rb"_Z[A-Za-z0-9_.]{3,200}", built or b""))
    tests = os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "../test/unit/elf_symbols_test.cc"
    )
    names.update(re.findall(rb'"((?:_Z|_R|_D|\$s|_?_T)[^"\\\n]{2,200})"', open(tests, "rb").read()))
    names.update(
        [
            b"_ZNSt6vectorIiSaIiEE9push_backEOi",
            b"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
            b"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new",
            b"_RINvNtC3std3mem8align_ofjdE",
            b"_D3std5stdio4File6__ctorMFNcAyaxAaZSQBcQzQBb",
            b"_ZN1AIJDpT_EEC2Ev",
            b"_Z1fIJiidEEvDpT_",
            b"_ZZ4mainENKUlT_E_clIiEEDaS_@@VERS_1",
        ]
    )
    # Rust's RFC 2603: constants, closures, implementations, bounds, types of functions, references
    # back, and faults.
    names.update(
        ("_R" + one).encode()
        for one in (
            "NvC6_123foo3bar",
            "NCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
            "NvMC3fooNtB2_3Bar3new",
            "NvXC3fooNtB2_3BarNtB2_5Trait3new",
            "NvYNtC3foo3BarNtB4_5Trait3new",
            "INvC3foo3barDNtC3std4SendEL_E",
            "INvC3foo3barDNtC3foo5Traitp4ItemhEL_E",
            "INvC3foo3barDG_INtC3foo5TraitRL0_hEEL_E",
            "INvC3foo3barFUKCEuE",
            "INvC3foo3barFK5cdeclhEjE",
            "INvC3foo3barFG_RL0_hEuE",
            "INvC3foo3barAhKj5_E",
            "INvC3foo3barShE",
            "INvC3foo3barThjiEE",
            "INvC3foo3barThEE",
            "INvC3foo3barTEE",
            "INvC3foo3barPhOjQlRmE",
            "INvC3foo3barRL_hE",
            "INvC3foo3barKhp_E",
            "INvC3foo3barKhpE",
            "INvC3foo3barKan7b_E",
            "INvC3foo3barKb1_E",
            "INvC3foo3barKc76_E",
            "INvC3foo3barKpE",
            "INvC3foo3barKjffffffffffffffffff_E",
            "INvC3foo3barKjB8_E",
            "INvC3foo3barhB9_E",
            "NvNtC3foou8gdel_5qa6bar",
            "NvNtC3foou3abc3bar",
            "NSC3foo3bar",
            "NcC3foo3bar",
            "NvNvC3foos_3bars0_3baz.llvm.1234",
            "MC0INtC8arrayvec8ArrayVechKj7b_E",
            "NvB_3bar",
            "NvBzz_3bar",
            "INvC3foo3barB1_E",
            "NvC3foo",
            "Nv",
            "INvC3foo3bar",
            "NvC9foo3bar",
            "NvC3foo99999999999999999999bar",
            "INvC3foo3barKu5_E",
            "INvC3foo3barDNtC3std4SendEhE",
            "INvC3foo3barFKEuE",
            "INvC3foo3barZE",
            "NvC3foo3barC3baz",
            "NvC3foo3barC3baz4xxxx",
            "XC",
            "YhC3foo",
            "NvCszzzzzzzzzzzzzzzzzzz_3foo3bar",
        )
    )
    names.update(
        (
            b"_ZN4test1a2bb17h0123456789abcdefE",
            b"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
            b"_ZN35Bar$LT$$u5b$u32$u3b$$u20$4$u5d$$GT$E",
            b"_ZN13test$u20$test4foobE",
            b"_ZN12test$BP$test4foob17h0123456789abcdefE",
            b"_ZN7$u7dx$$3foo17h0123456789abcdefE",
            b"_ZN5a..b.3foo17h0123456789abcdefE",
            b"_ZN9..nothing3foo17h0123456789abcdefE.llvm.77",
            b"_ZN3foo17h0123456789abcdeE",
        )
    )
    put("names", b"\n".join(sorted(names)))
    for i, one in enumerate(sorted(names)):
        put("name-%d" % i, one)
elif name == "lsda":
    for options in (("-O0",), ("-O2",), ("-O2", "-fPIC")):
        built = compiled(THROWS, "-c", *options)
        if built:
            for abi in range(2):
                put(
                    "table%s-%d" % ("".join(options), abi),
                    bytes([abi, 1]) + section(built, ".gcc_except_table"),
                )
elif name == "code":
    # The ABI (by its number in the format, less 1), the start, how many 512ths of the rest are
    # rows, and a byte more; rows, then code.
    for label, contents in files(".so", "-pie", "-static", ".o"):
        if contents[:6] == b"\x7fELF\x02\x01" and (text := section(contents, ".text")):
            for abi in range(4):
                put("%s-%d" % (label, abi), bytes([abi, 16, 0, 0]) + text)
                put(
                    "%s-%d-rows" % (label, abi),
                    bytes([abi, 16, 128, 0]) + bytes(range(1, 1 + min(250, len(text) // 3))) + text,
                )
    # Opcodes. s390x: a page for each first byte that has a second part, in the second or the sixth
    # byte.
    for first in range(256):
        size = 2 if first < 0x40 else 4 if first < 0xC0 else 6
        page = b"".join(
            bytes([first, second, operands, 0x10, 8, second][:size])
            for operands in (0xF0, 0xBF, 0x11)
            for second in range(256)
        )
        put("s390x-%02x" % first, bytes([3, 16, 0, 0]) + page)
    # AArch64: all of the highest 11 bits, with some registers.
    for operands in (0x1FFFFF, 0x0003FF, 0x0023FD, 0x1F03BF, 0x000000, 0x15AAAA):
        for abi, order in ((0, ">"), (1, "<")):
            put(
                "aarch64-%x-%d" % (operands, abi),
                bytes([abi, 16, 0, 0])
                + b"".join(struct.pack(order + "I", high << 21 | operands) for high in range(2048)),
            )
    # AMD64: each opcode of each map with a prefix, an operand and an immediate, then no-operations.
    maps = [b"", b"\x0f", b"\x0f\x38", b"\x0f\x3a"]
    maps += [b"\xc5" + bytes([p]) for p in (0xF8, 0xFD)] + [
        b"\xc4" + bytes([m, p]) for m in (0xE2, 0xE3) for p in (0x78, 0x79, 0x7A, 0xFB)
    ]
    maps += [b"\x62" + bytes([m, 0x7C | p, 8]) for m in (0xF1, 0xF2, 0xF3) for p in (0, 1)]
    for i, first in enumerate(maps):
        for prefix in (b"", b"\x66", b"\xf2", b"\xf3", b"\x48", b"\xf2\x48") if i < 4 else (b"",):
            for operand in (b"\xe4", b"\x44\x24\x10", b"\x83\x10\x00\x00\x00"):
                page = b"".join(
                    prefix + first + bytes([opcode]) + operand + b"\x90" * 8
                    for opcode in range(256)
                )
                put("amd64-%d-%s-%d" % (i, prefix.hex(), len(operand)), bytes([2, 16, 0, 0]) + page)
    # Jump tables, calls that do not return, an adjusted stack.
    for target, abi in TARGETS.items():
        for options in (("-O2", "-fPIC"), ("-O1", "-fno-omit-frame-pointer")):
            for built in itertools.islice(
                compiled_for(target, JUMPS, "-ffunction-sections", *options), 1
            ):  # the object
                text = section(built, ".text.f")
                put("jumps-%s%s" % (target, "".join(options)), bytes([abi, 16, 0, 0]) + text)
                put(
                    "jumps-%s%s-rows" % (target, "".join(options)),
                    bytes([abi, 16, 100, 0]) + bytes(range(64)) + text,
                )
elif name == "cfi":
    # The ABI, how many 256ths of the rest are .eh_frame_hdr, that, .eh_frame (or, with 0x80,
    # .debug_frame).
    for label, contents in files(".so", "-pie", "-static", ".o"):
        if contents[:6] != b"\x7fELF\x02\x01" or not (frames := section(contents, ".eh_frame")):
            continue
        header = section(contents, ".eh_frame_hdr")
        sizes = [
            (share, share * len(frames) // (256 - share) + more)
            for share in range(1, 256)
            for more in (0, 1)
        ]
        share, size = next(
            (share, size)
            for share, size in sizes
            if size >= len(header) and (size + len(frames)) * share // 256 == size
        )
        for abi in range(4):
            put("%s-%d" % (label, abi), bytes([abi, share]) + header.ljust(size, b"\0") + frames)
    built = compiled(
        "int f(int n) { char a[n]; return __builtin_strlen(a) + n; }",
        "-c",
        "-g",
        "-fno-asynchronous-unwind-tables",
        "-fno-exceptions",
    )
    for abi in range(4 if built else 0):
        put("debug-frame-%d" % abi, bytes([0x80 | abi, 0]) + section(built, ".debug_frame"))
elif name == "source":
    for options in (("-O2", "-g"), ("-O1", "-gdwarf-4"), ("-O2", "-g", "-gz")):
        built = compiled(THROWS, *options)
        if built:
            put("program" + "".join(options), built)
    # Hardly any code but with inlined calls, parts of functions and lists of ranges.
    for options in (
        ("-gdwarf-5",),
        ("-gdwarf-4",),
        ("-gdwarf-3",),
        ("-gdwarf-5", "-gdwarf64"),
        ("-gdwarf-5", "-gsplit-dwarf"),
        ("-gdwarf-5", "-gz"),
    ):
        built = compiled(INLINED, "-O2", "-nostdlib", "-static", "-Wl,-e,main", *options)
        if built:
            put("inlined" + "".join(options), built)
            if options not in (("-gdwarf-5",), ("-gdwarf-5", "-gz")):
                continue
            with tempfile.TemporaryDirectory() as work:
                path = os.path.join(work, "p")
                open(path, "wb").write(built)
                if run("strip", "-g", "-o", path + "s", path) is None:
                    continue
                open(path + "x", "wb").write(lzma.compress(open(path + "s", "rb").read()))
                if (
                    run("objcopy", "-S", "--add-section", ".gnu_debugdata=" + path + "x", path)
                    is not None
                ):
                    put("debugdata" + "".join(options), open(path, "rb").read())
                    put(
                        "debugdata-damaged" + "".join(options),
                        open(path, "rb").read().replace(b"\xfd7zXZ", b"\xfd7zXY"),
                    )
    # LLVM's: addresses, locations and ranges by index; types in units of their own.
    for label, options in (
        ("clang-5", ("-gdwarf-5",)),
        ("clang-types", ("-gdwarf-4", "-fdebug-types-section")),
        ("clang-2", ("-gdwarf-2",)),
    ):
        if built := compiled(INLINED, "-O2", "-c", *options, compiler="clang++-22"):
            put(label, built)
            with tempfile.TemporaryDirectory() as work:
                path = os.path.join(work, "p")
                open(path + ".o", "wb").write(built)
                if run("ld.lld-22", "-e", "main", path + ".o", "-o", path) is not None:
                    put(label + "-linked", open(path, "rb").read())
    for label, contents in files("cc.o", "flex.so", "-static"):
        put(label, contents)
elif name == "debugfile":
    for label, contents in files(".so"):
        put(label, struct.pack("<I", len(contents)) + contents + contents)
    pair = lambda label, program, debug: put(
        label, struct.pack("<I", len(program)) + program + debug
    )
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "p")
        built = compiled(
            INLINED + PACKAGE,
            "-O2",
            "-g",
            "-nostdlib",
            "-static",
            "-Wl,-e,main",
            "-Wl,--build-id",
            "-Wa,--gsframe",
        )
        read = lambda suffix: open(path + suffix, "rb").read()
        if built:
            open(path, "wb").write(built)
            open(path + ".alt", "wb").write(b"alternate\0" + bytes(range(20)))
            open(path + ".alt-path", "wb").write(b"/x/.dwz/alternate\0" + bytes(range(20)))
            open(path + ".xz", "wb").write(lzma.compress(built))
            if (
                run("objcopy", "--only-keep-debug", path, path + ".debug") is not None
                and run(
                    "objcopy",
                    "--strip-debug",
                    "--add-gnu-debuglink=" + path + ".debug",
                    path,
                    path + "linked",
                )
                is not None
                and run("strip", path, "-o", path + "stripped") is not None
                and run(
                    "objcopy",
                    "--add-section",
                    ".gnu_debugaltlink=" + path + ".alt",
                    path,
                    path + "alternate",
                )
                is not None
            ):
                pair("linked", read("linked"), read(".debug"))
                pair("stripped", read("stripped"), read(".debug"))
                pair("alternate", read("alternate"), read(".debug"))
                if (
                    run(
                        "objcopy",
                        "--add-section",
                        ".gnu_debugaltlink=" + path + ".alt-path",
                        path,
                        path + "alternate",
                    )
                    is not None
                ):
                    pair("alternate-path", read("alternate"), read(".debug"))
                if (
                    run(
                        "objcopy",
                        "-S",
                        "--add-section",
                        ".gnu_debugdata=" + path + ".xz",
                        path,
                        path + "small",
                    )
                    is not None
                ):
                    pair("debugdata", read("small"), b"")
                    pair("debugdata-damaged", read("small").replace(b"\xfd7zXZ", b"\xfd7zXY"), b"")
                # Without a build ID the file is found by its name and checksum; or by both another
                # one.
                without_id = ("objcopy", "-R", ".note.gnu.build-id")
                if run(*without_id, path + "linked", path + "named") is not None:
                    pair("named", read("named"), read(".debug"))
                    pair("named-other", read("named"), read(".debug") + b"\0")
                    pair("named-itself", read("named"), read("named"))
                    pair(
                        "named-machine",
                        read("named"),
                        read(".debug")[:18] + b"\xb7" + read(".debug")[19:],
                    )
                    pair("named-cut", read("named"), read(".debug")[:90])
                identifier = section(read("linked"), ".note.gnu.build-id")
                pair(
                    "another-id",
                    read("linked"),
                    read(".debug").replace(identifier, identifier[:-1] + b"\0"),
                )
            # Two programs that share an alternate file.
            types = "".join(
                "struct Type%d { int first, second; long far; struct Inner { short low; char text[%d]; } inner; } of_type%d;"
                % (i, i + 1, i)
                for i in range(20)
            )
            for number, more in enumerate(
                (types, types + "int more(int n) { return a::two(n + 1); }")
            ):
                built = compiled(
                    INLINED + more,
                    "-O2",
                    "-gdwarf-5",
                    "-nostdlib",
                    "-static",
                    "-Wl,-e,main",
                    "-Wl,--build-id",
                )
                open(path + str(number), "wb").write(built or b"")
            if (
                run(
                    "sh",
                    "-c",
                    "cd $0 && dwz -m alternate --dwarf-5 p0 p1 && test -s alternate",
                    work,
                )
                is not None
            ):
                pair("dwz", read("0"), open(os.path.join(work, "alternate"), "rb").read())
                pair("dwz-without", read("0"), b"")
            # Debug information in a file beside the program, or in a package of them.
            built = compiled(
                INLINED,
                "-O2",
                "-g",
                "-gsplit-dwarf",
                "-nostdlib",
                "-static",
                "-Wl,-e,main",
                "-dumpbase",
                "split",
                "-dumpdir",
                work + "/",
            )
            if built and os.path.exists(os.path.join(work, "split.dwo")):
                open(path, "wb").write(built)
                pair("split", built, open(os.path.join(work, "split.dwo"), "rb").read())
                if run("llvm-dwp-22", "-e", path, "-o", path + ".dwp") is not None:
                    pair("package", built, read(".dwp"))
            if (
                run("objcopy", "-R", ".sframe", path, path + "without") is not None
                and run(
                    "objcopy", "-j", ".sframe", "-j", ".note.gnu.build-id", path, path + ".sidecar"
                )
                is not None
            ):
                pair("sidecar", read("without"), read(".sidecar"))
                pair("generated", read("without"), b"")
elif name == "callbacks":
    # A search table of three pairs, CFI after it (what gcc writes for a small function), a stack
    # whose return addresses are in the third function. One with a personality and landing pads, and
    # one with lengths of 64 bits.
    def entry(identifier, body, is_64):
        body = struct.pack("<I", identifier) + body + bytes(-(4 + len(body)) % 8)
        return (
            b"\xff" * 4 + struct.pack("<Q", len(body)) if is_64 else struct.pack("<I", len(body))
        ) + body

    for label, is_64, letters, data in (
        ("plain", False, b"zR", b"\x1b"),
        ("long", True, b"zR", b"\x1b"),
        ("throws", False, b"zPLR", b"\x80" + struct.pack("<Q", 0x10010) + b"\x0c\x1b"),
    ):
        start, head = 24, 16 if is_64 else 8
        cie = entry(
            0,
            b"\1" + letters + b"\0\1\x78\x10" + bytes([len(data)]) + data + b"\x0c\7\x08\x90\1",
            is_64,
        )
        cfi, pairs = cie, []
        for function, length in ((0, 64), (64, 64), (128, 2048)):
            at = start + len(cfi)
            pairs += [function, at]
            landing = b"\x08" + struct.pack("<Q", 0x10040) if b"L" in letters else b"\0"
            cfi += entry(
                at + head - 4 - start,
                struct.pack("<iI", function - at - head, length)
                + landing
                + b"\x41\x0e\x10\x86\2\x43\x0d\6",
                is_64,
            )
        memory = (struct.pack("<6i", *pairs) + cfi).ljust(0x100, b"\0") + struct.pack(
            "<96Q", *(0x10000 + (0x100 + 8 * i + 16, 200, 90, 30)[i % 4] for i in range(96))
        )
        for what in (0, 1, 2, 8, 16, 31, 32):
            registers = b"".join(struct.pack("<H", 0x100 + 16 * i) for i in range(17))
            put("memory-%s-%d" % (label, what), bytes([what, 3]) + registers + memory)
elif name in ("codec", "gnu", "bpf"):
    # Raw sections: what is ELF is refused at once.
    for label, contents in files(".sframe"):
        put(label, contents)
    seen = set()
    for label, contents in files(".o", ".so", "-pie", "-static"):
        if (found := section(contents, ".sframe")) and found not in seen:
            seen.add(found)
            put(label, found)
    if name == "bpf":
        # The memory of a process with a list of generated code: two functions with the same row,
        # CFA = SP + 8, and a third one.
        row = struct.pack("<HBBB", 1, 0, 0, 0) + b"\0\3\x08"
        one = (
            struct.pack("<HBBBbbBIIIII", 0xDEE2, 3, 0, 3, 0, -8, 0, 1, 1, len(row), 0, 16)
            + struct.pack("<qII", 0, 64, 0)
            + row
        )
        memory = (
            struct.pack("<II3Q", 1, 32, 0x10020, 0, 0)
            + struct.pack("<2Q", 0, 0x10030)
            + struct.pack("<5Q", 2, 0x10100, 2, 0x10140, 1)
        )
        memory = memory.ljust(0x100, b"\0") + struct.pack(
            "<12Q",
            *(n for start in (0x7F001000, 0x7F001040, 0x7EFFFFE0) for n in (start, 0x10200, 0, 64)),
        )
        put("process", memory.ljust(0x200, b"\0") + struct.pack("<Q", len(one)) + one)
elif name == "generate":
    # The options, the address, an ELF file.
    choices = (0, 1, 66, 8, 20, 37)
    for i, (label, contents) in enumerate(files(".so", "-pie", "-static", ".o")):
        for options in (
            (choices[i % 6], choices[(i + 2) % 6]) if section(contents, ".eh_frame") else ()
        ):
            put("%s-%d" % (label, options), bytes([options, i]) + contents)
    # Calls that do not return, and then padding; functions that overlap.
    for label, option in (("ends", "-falign-functions=32"), ("both", "-DBOTH")):
        if built := compiled(ENDS, "-O2", "-nostdlib", "-static", "-Wl,-e,main", option):
            for i, options in enumerate((64, 65, 66, 64 | 24, 0)):
                for goal in range(4):
                    put(
                        "%s-%d-%d" % (label, options, goal),
                        bytes([options, i % 4 + 4 * goal]) + built,
                    )
            # Code without CFI; CFI that is wrong, which the code shows.
            if label == "ends":
                built_odd = compiled(ODD, "-nostdlib", "-static", "-Wl,-e,main")
                for kind, contents in (
                    ("odd", built_odd),
                    ("odd-bare", without_section(built_odd, ".eh_frame")),
                ):
                    for repair in range(3) if contents else ():
                        put("%s-%d" % (kind, repair), bytes([128, repair << 6]) + contents)
                # Without names, too.
                static = (
                    "-no-pie",
                    "-fno-pie",
                    "-nostdlib",
                    "-static",
                    "-s",
                    "-fno-asynchronous-unwind-tables",
                )
                for kind, source, start in (
                    ("cold", STRIPPED, "begin"),
                    ("odd-stripped", ODD, "one"),
                ):
                    if stripped := compiled(source, *static, "-Wl,-e," + start):
                        put(kind, bytes([128, 0]) + stripped)
            frames = section(built, ".eh_frame")
            for repair in range(3):
                put("%s-code-%d" % (label, repair), bytes([128, repair << 6]) + built)
            for at in range(len(frames) - 1):
                if frames[at] == 0x0E and frames[at + 1] in (16, 24, 32, 48):
                    wrong = built.replace(
                        frames, frames[: at + 1] + bytes([frames[at + 1] + 8]) + frames[at + 2 :]
                    )
                    put("%s-wrong-%d" % (label, at), bytes([128, (1 + at % 2) << 6]) + wrong)
    for label, contents in files("-static", "cc.so"):
        put(label + "-code", bytes([128, 0]) + contents)
    for label, contents in files("v3-gas247-cc.o", "v3-gas247-flex.o", "v3-gas247-cc-sections.o"):
        put(label + "-code", bytes([128, 0]) + contents)
    # Without CFI; with it and landing pads; with signed return addresses; with a back chain.
    bare = ("-fno-exceptions", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
    kinds = [("bare", target, JUMPS, ("-O2", "-fPIC", *bare)) for target in TARGETS]
    for target in ("x86_64", "aarch64", "s390x"):
        kinds += [
            ("bare-throws", target, THROWS, ("-O1", *bare[1:])),
            ("throws", target, THROWS, ("-O2", "-Df=other")),
        ]
    kinds += [
        ("signed", "aarch64", JUMPS, ("-O1", "-mbranch-protection=pac-ret+leaf", *bare)),
        ("b-key", "aarch64", THROWS, ("-O1", "-mbranch-protection=pac-ret+b-key", *bare[1:])),
        ("chain", "s390x", JUMPS, ("-O1", "-mbackchain", *bare)),
    ]
    for label, target, source, options in kinds:
        for linked, built in enumerate(compiled_for(target, source, *options)):
            for repair in (0, 2) if label == "throws" else (0,):
                put(
                    "%s-%s-%d-%d" % (label, target, linked, repair),
                    bytes([128, repair << 6]) + built,
                )
    # The kernel's table, in each layout, and with damage.
    source = os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "../test/lit/gen/Inputs/orc.s"
    )
    for layout in ("420", "63", "64", "ax"):
        if built := compiled(
            open(source).read(), "-x", "assembler", "-c", "-Wa,--defsym,layout_%s=1" % layout
        ):
            put("orc-" + layout, bytes([128, 0]) + built)
            for part in (".orc_unwind", ".orc_unwind_ip", ".orc_header"):
                for label, damaged in with_damage(built, part, 0, 16):
                    put("orc-%s-%s" % (layout, label), bytes([128, 0]) + damaged)
    for label, contents in files(".so", "-static"):
        frames = section(contents, ".eh_frame") if label.startswith("amd64_v3") else b""
        if len(frames) < 64 or contents.count(frames) != 1:
            continue
        for at in range(8, len(frames) - 24, 4):  # each function that has a length: twice as long
            start, length = struct.unpack_from("<iI", frames, at)
            if 0 < length < 256 and struct.unpack_from("<I", frames, at - 4)[0] == at - 4:
                longer = frames[: at + 4] + struct.pack("<I", 2 * length) + frames[at + 8 :]
                put("%s-overlap-%d" % (label, at), bytes([0, 4]) + contents.replace(frames, longer))
elif name == "here":
    # .sframe (0) or .eh_frame (1), the registers that are known, the section.
    for label, contents in files(".sframe"):
        put(label, bytes([0, 255]) + contents)
    for label, contents in files(".so", "-pie", "-static", ".o"):
        if contents[:6] == b"\x7fELF\x02\x01":
            for kind, wanted in enumerate((".sframe", ".eh_frame")):
                if found := section(contents, wanted):
                    put("%s-%d" % (label, kind), bytes([kind, 255]) + found)
    # Each kind of rule, of AMD64: same, undefined, another register, at and of an offset,
    # expressions; no CFA. The last with a search table, which is at the end and 4096 bytes before
    # the section.
    at = 0x400000
    for label, rules in (
        ("same", b"\x0e\x10\x08\6\x08\3"),
        ("undefined", b"\7\6\7\3\x0e\x10"),
        ("register", b"\x09\6\3\x0e\x10"),
        ("offset", b"\x0e\x20\x86\2\x83\3\x8c\4\x44\x14\6\2\x14\3\3"),
        ("values", b"\x16\6\2\x77\x08\x16\3\2\x77\x10"),
        ("places", b"\x10\6\2\x77\x08\x44\x0f\2\x77\x10"),
        ("no-cfa", b"\x44\x0c\xff\1\x08\x44\x7f"),
        ("outermost", b"\7\x10"),
    ):
        frames = eh_frame(at, at + 0x1000, 0x400, rules)
        put("rules-" + label, bytes([1, 255]) + frames)
        search = struct.pack(
            "<4BiIii", 1, 0x1B, 3, 0x3B, 0x1000 - 4, 1, 0x2000, 0x1000 + 4 + frames[0]
        )
        put("search-" + label, bytes([len(search) | 1, 255]) + frames + search)
    # Two signal frames, and the code to which handlers return, of AMD64 (mov $15, %rax; syscall).
    # Places are 1 << 63 and the offset from the start: pc, SP, and from 32 on two ucontexts, whose
    # SP and pc are 160 and 168 bytes further.
    place = lambda offset: 1 << 63 | offset
    restorer = b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05".ljust(16, b"\0")
    for label, pc, first, second, last in (
        ("signals", 16, place(16 + 7), place(320), 999),
        ("no-pc", 16, place(16), place(320), 0),
        ("loop", 16, place(16), place(32), 999),
        ("elsewhere", 8, 0, 0, 0),
        ("cut", 16, place(16), place(1016), 0),
    ):
        stack = [0] * 124
        stack[20], stack[21], stack[36 + 20], stack[36 + 21] = second, first, 900, last
        put(
            "stack-" + label,
            bytes([2, 255])
            + struct.pack("<QQ", place(pc), place(32))
            + restorer
            + struct.pack("<124Q", *stack),
        )
elif name == "readers":
    put(
        "baseline",
        b"# sframe-verify baseline\nlibfoo.so\tC102\t2\tfoo::bar(int)\nlibfoo.so\tS001\t1\tmain\n",
    )
    put(
        "map",
        b"1000 80 LazyCompile:~f /a.js:1\n1080 40 Lcom/A;::g\n1000 20 moved\nno line\n2000 0 empty\n"
        b"ffffffffffffff00 200 last\n",
    )
    put(
        "maps",
        b"400000-401000 r-xp 00000000 08:01 1234   /usr/bin/a b\n7ffd0000-7ffe0000 rw-p 00000000 00:00 0   [stack]\n"
        b"7f000000-7f001000 ---p 00001000 fd:00 7 \nName:\tprogram\nTgid:\t12\n",
    )
    put("text", "name \u00e9\u202e\u009b\x1b[31m".encode())
elif name == "object":
    for label, contents in files(".o"):
        put(label, contents)
elif name == "sidecar":
    # Size of the build ID and flags, machine, e_flags, address, the build ID, the section.
    kinds = ((0x14, 62), (0x54, 183), (0x80, 22), (0x81, 183), (0x94, 22))
    for i, (label, contents) in enumerate(files(".sframe")):
        for how, machine in kinds if i < 5 else (kinds[i % 5],):
            put(
                "%s-%x" % (label, how),
                struct.pack("<BHIQ", how, machine, 0, 4096 + how)
                + bytes(range(how & 63))
                + contents,
            )
else:
    for label, contents in files(".sframe", ".o", ".so", "-pie", "-static", ".core", ".a"):
        put(label, contents)
    # The same bytes in so many sections that the limit for an input of this size is reached; no
    # section headers; an object's section as a core's; another machine.
    put("many-sections", with_headers(".sframe", 160, 1 << 16))
    put("many-tables", with_headers(".eh_frame", 160, 1 << 16))
    for label, contents in files("v3-gas247-static"):
        put(label + "-no-headers", without_sections(contents))
        if contents[5] == 1:
            put(label + "-core", contents[:16] + b"\4" + contents[17:])
            put(label + "-machine", contents[:18] + b"\xb7\0" + contents[20:])
            mixed = (
                (b"raw.o", section(contents, ".sframe")),
                (b"text.txt", b"a text"),
                (b"cut.o", contents[:80]),
                (b"good.o", contents),
            )
            put(label + ".a", archive(*mixed))
            put(label + "-none.a", archive(*mixed[1:3]))
    if name in ("verify", "dump"):
        # Relocations of functions' starts: of another type, of nothing, beside them, missing.
        for label, contents in files("v3-gas247-cc-sections.o"):
            table = section(contents, ".rela.sframe")
            order = ">" if contents[5] == 2 else "<"
            entries = list(struct.iter_unpack(order + "QQq", table))
            for change, wrong in (
                ("type", lambda at, info, more: (at, info ^ 3, more)),
                ("symbol", lambda at, info, more: (at, info & 0xFFFFFFFF, more)),
                ("beside", lambda at, info, more: (at + 1, info, more)),
                ("far", lambda at, info, more: (1 << 40, info, more)),
            ):
                changed = b"".join(
                    struct.pack(order + "QQq", *(wrong(*entry) if i % 2 else entry))
                    for i, entry in enumerate(entries)
                )
                put("%s-%s" % (label, change), contents.replace(table, changed))
    if name == "verify":
        # Programs with SFrame of GNU as, names and source lines; one whose SFrame lies.
        for label, source, options in (
            ("g", NUMBERS, ("-O2", "-g")),
            ("static", NUMBERS, ("-O1", "-nostdlib", "-static", "-Wl,-e,f")),
            ("object", THROWS, ("-c", "-O2")),
            ("both", ENDS, ("-O2", "-DBOTH", "-nostdlib", "-static", "-Wl,-e,main")),
            ("both-object", ENDS, ("-c", "-O1", "-DBOTH")),
            ("odd", ODD, ("-nostdlib", "-static", "-Wl,-e,main")),
            ("odd-g", ODD, ("-g", "-nostdlib", "-static", "-Wl,-e,main")),
            ("odd-object", ODD, ("-c", "-g")),
        ):
            built = compiled(source, "-Wa,--gsframe", *options)
            if built:
                put("program-" + label, built)
                if frames := section(built, ".sframe"):
                    put(
                        "damaged-" + label,
                        built.replace(frames, frames[:-12] + bytes(b ^ 8 for b in frames[-12:])),
                    )
                if label == "static":
                    for place, wrong in (
                        *with_damage(built, ".sframe", 28, 8),
                        *with_damage(built, ".eh_frame", 4, 8),
                    ):
                        put("program-%s-%s" % (label, place), wrong)
                if label == "both-object":
                    for place, wrong in with_damage(built, ".sframe", 28, 24):
                        put("program-%s-%s" % (label, place), wrong)
                if label == "odd":
                    for place, wrong in (
                        *with_damage(built, ".sframe", 28, 6),
                        *with_last_rules(built),
                    ):
                        put("program-%s-%s" % (label, place), wrong)
        for label, contents in files("v3-gas247-static"):
            for place, wrong in (
                *with_damage(contents, ".sframe", 28, 3),
                *with_damage(contents, ".eh_frame", 4, 3),
            ):
                put("%s-%s" % (label, place), wrong)
    if name == "dump":
        # Reports of sframe-gen on a section, before it; and what is no report, or about another
        # section.
        for label, contents in files("v2-gas244.sframe", "v3-gas247.sframe", "gas240.sframe"):
            order = ">" if contents[:2] == b"\xde\xe2" else "<"
            functions, rows = struct.unpack_from(order + "II", contents, 8)
            sizes = '{"sizes": {"sframe": %d}, "fdes": %d, "rows": %d' % (
                len(contents),
                functions,
                rows,
            )
            ranges = (
                ', "origins": [%s], "repair": "apply", "repairs": [{"start": "0x80", "size": 8}]'
                % ", ".join(
                    '{"start": "0x%x", "size": 24, "origin": "%s"}'
                    % (at, "stub" if at & 128 else "code")
                    for at in range(0, 4096, 64)
                )
            )
            put("origins-" + label, (sizes + ranges + "}").encode() + b"\0" + contents)
            for number, wrong in enumerate(
                (
                    sizes + "}",
                    sizes[:-1] + ranges + "}",
                    sizes + ', "members": {}}',
                    sizes + ', "error": {}}',
                    sizes + ', "origins": [{}]}',
                    "{",
                    "{}",
                    "{" + "[" * 20,
                    sizes + ', "origins": [{"start": "1", "size": 2, "origin": "x"}]}',
                    sizes + ', "build_id": "ab", "origins": []}',
                    sizes
                    + ', "origins": [{"start": "0x1", "size": 2, "origin": "code", "section": ".text"}]}',
                )
            ):
                put("origins-%d-%s" % (number, label), wrong.encode() + b"\0" + contents)
