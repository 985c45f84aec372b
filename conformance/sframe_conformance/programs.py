# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs for the kit for compilers (compilers.py): functions whose frames have what makes
call frame information hard to write. A program is a list of functions, a function a list of pieces,
so that what does not matter can be removed (reduced()). Equal seeds give equal programs.

    int f1(int n) {
      int s = n;
      if (s & 4) return leaf(s);                                     early-return
      char v1[(n & 63) + 1]; escape(v1); s += v1[n & 63];            vla
      return f0(s & 15);                                             tail-call
    }

A function calls leaf(), which nothing is known about, and at most once a function before it: a
program takes some thousand steps."""
import dataclasses
import random
from typing import List, Tuple

C, CXX, RUST = "c", "c++", "rust"
LANGUAGES = (C, CXX, RUST)
MACHINES = ("x86_64", "aarch64", "s390x")

# What pieces need, each by the words in them.
HELPERS = (
    (
        "leaf(",
        'NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }',
    ),
    ("escape(", 'NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }'),
    (
        "many(",
        "NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k) "
        "{ return leaf(a + b + c + d + e + f + g + h + i + j + k); }",
    ),
    (
        "struct big",
        "struct big { int a[24]; };\nNOINLINE int take(struct big b) { return leaf(b.a[3]); }",
    ),
    (
        "jump(",
        "#include <setjmp.h>\nNOINLINE void jump(jmp_buf to, int n) { if (leaf(n) & 1) longjmp(to, 1); }",
    ),
    ("clean)", "NOINLINE void clean(int *p) { escape(p); }"),
    ("vector ", "typedef double vector __attribute__((vector_size(32)));"),
    ("die(", "__attribute__((noinline, noreturn, cold)) void die(int n) { for (;;) leaf(n); }"),
    ("apply(", "NOINLINE int apply(int (*f)(int), int n) { return f(n) + 1; }"),
    (
        "sum(",
        "#include <stdarg.h>\nNOINLINE int sum(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n-- > 0) s += leaf(va_arg(l, int)); va_end(l); return s; }",
    ),
    ("Guard ", "struct Guard { int n; Guard(int m) : n(leaf(m)) {} ~Guard() { escape(this); } };"),
    ("fail(", "NOINLINE int fail(int n) { if (leaf(n) & 1) throw n; return n; }"),
)
HELPER_NAMES = ("leaf", "escape", "many", "take", "jump", "clean", "die", "apply", "sum", "fail")
NOINLINE = "#define NOINLINE __attribute__((noinline, weak))"  # weak: what it does is not known to its callers

# Statements over the parameter n and the result s. %d is the piece's number in the function. (name,
# languages, statements)
PIECES = (
    ("vla", (C, CXX), ("char v%d[(n & 63) + 1]; escape(v%d); s += v%d[n & 63];",)),
    (
        "alloca",
        (C, CXX),
        ("char *p%d = (char *)__builtin_alloca((n & 31) + 8); escape(p%d); s += p%d[n & 7];",),
    ),
    (
        "alloca-in-loop",
        (C, CXX),
        ("for (int i = 0; i < (n & 3); i++) escape(__builtin_alloca(16 * i + 8));",),
    ),
    (
        "alloca-in-branch",
        (C, CXX),
        (
            "if (s & 1) { int *p%d = (int *)__builtin_alloca(n * 4 + 40); escape(p%d); s += leaf(p%d[n & 3]); }",
        ),
    ),
    (
        "aligned",
        (C, CXX),
        tuple(
            "int a%%d[20] __attribute__((aligned(%d))); escape(a%%d); s += a%%d[n & 15];" % size
            for size in (32, 64, 256)
        ),
    ),
    (
        "large",
        (C, CXX),
        tuple(
            "char l%%d[%d]; escape(l%%d); s += l%%d[n & 15];" % size
            for size in (200, 504, 2040, 4000, 4200, 8192, 33000, 70000, 1 << 20)
        ),
    ),
    (
        "live",
        (C, CXX),
        (
            "int x%d = leaf(n), y%d = leaf(s), z%d = leaf(n + 1); leaf(s); s += x%d * y%d - z%d;",
            "int x%d = leaf(n), y%d = leaf(s), z%d = leaf(1), u%d = leaf(2), w%d = leaf(3); leaf(n); leaf(s); s += (x%d ^ y%d ^ z%d) * u%d + w%d;",
        ),
    ),
    (
        "many-arguments",
        (C, CXX),
        (
            "s += many(n, s, 3, 4, n + 5, 6, s + 7, 8, 9, n, s);",
            "s += many(1, n, leaf(s), 4, 5, 6, n, 8, leaf(9), s, 11);",
            "s += many(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, n), s, 3, 4, 5, 6, 7, 8, 9, 10, 11);",
        ),
    ),
    ("structure", (C, CXX), ("struct big b%d = {{n, s, n}}; s += take(b%d);",)),
    ("setjmp", (C, CXX), ("jmp_buf j%d; if (!setjmp(j%d)) jump(j%d, n); s += leaf(1);",)),
    ("cleanup", (C, CXX), ("int c%d __attribute__((cleanup(clean))) = s; s += leaf(c%d);",)),
    (
        "vector",
        (C, CXX),
        (
            "vector d%d = {(double)n, 1, 2, 3}; escape(&d%d); s += (int)d%d[n & 3];",
            "vector d%d = {(double)n, 1, 2, 3}; leaf(n); s += (int)(d%d * d%d)[n & 3];",
        ),
    ),
    (
        "double",
        (C, CXX),
        ("double q%d = leaf(n) * 0.5, r%d = leaf(s) * 0.25; leaf(n); s += (int)(q%d * r%d);",),
    ),
    (
        "computed-goto",
        (C,),
        (
            "{ static void *const t[] = {&&A%d, &&B%d, &&C%d}; int i = n & 1; goto *t[i]; A%d: s += leaf(1); goto *t[2]; B%d: s += leaf(2) + leaf(s); C%d: s++; }",
        ),
    ),
    (
        "switch",
        (C, CXX),
        (
            "switch (n & 7) { case 0: s += leaf(1); break; case 1: return leaf(s) + 1; case 2: s *= leaf(3); break; case 3: s -= 9; break; case 4: return s; "
            "case 5: s ^= leaf(5) + leaf(6); break; default: s += leaf(n); }",
        ),
    ),
    (
        "cold",
        (C, CXX),
        (
            "if (__builtin_expect(s == 123456, 0)) die(s);",
            "if (__builtin_expect(s == 123456, 0)) { s = leaf(s) + leaf(n); escape(&s); }",
        ),
    ),
    ("nested", (C,), ("int i%d(int x) { return x + leaf(s); } s += apply(i%d, n);",)),
    ("varargs", (C, CXX), ("s += sum(3, n, s, 4);", "s += sum(9, n, s, 4, 5, 6, 7, 8, 9, n);")),
    (
        "frame-address",
        (C, CXX),
        ("escape(__builtin_frame_address(0));", "escape(__builtin_return_address(0));"),
    ),
    (
        "early-return",
        (C, CXX),
        (
            "if (s & 4) return leaf(s);",
            "if (n == 2) return s;",
            "if (s < 0) return leaf(s) + leaf(n);",
        ),
    ),
    (
        "loop",
        (C, CXX),
        ("for (int i = 0; i < (n & 3) + 1; i++) s += leaf(i) * n;", "while (leaf(s) & 2) s++;"),
    ),
    ("guard", (CXX,), ("Guard g%d(n); s += g%d.n;",)),
    (
        "catch",
        (CXX,),
        (
            "try { s += fail(n); } catch (int e) { s += leaf(e); }",
            "try { Guard g%d(s); s += fail(n); } catch (...) { leaf(n); return s; }",
            "try { char v%d[(n & 63) + 1]; escape(v%d); s += fail(n); } catch (int e) { s -= e; }",
        ),
    ),
)
RUST_HELPERS = (
    ("leaf(", "#[inline(never)] fn leaf(n: i32) -> i32 { std::hint::black_box(n) }"),
    ("escape(", "#[inline(never)] fn escape<T>(p: &mut T) { std::hint::black_box(p); }"),
    (
        "many(",
        "#[inline(never)] fn many(a: i32, b: i32, c: i32, d: i32, e: i32, f: i32, g: i32, h: i32, i: i32, j: i32, k: i32) -> i32 { leaf(a + b + c + d + e + f + g + h + i + j + k) }",
    ),
    ("Aligned(", "#[repr(align(64))] struct Aligned([i32; 20]);"),
    (
        "Guard(",
        "struct Guard(i32);\nimpl Drop for Guard { fn drop(&mut self) { escape(&mut self.0) } }",
    ),
    (
        "fail(",
        "#[inline(never)] fn fail(n: i32) -> i32 { if leaf(n) & 1 != 0 { std::panic::resume_unwind(Box::new(n)) } n }",
    ),
    ("apply(", "#[inline(never)] fn apply(f: &dyn Fn(i32) -> i32, n: i32) -> i32 { f(n) + 1 }"),
    ("die(", "#[cold] #[inline(never)] fn die(n: i32) -> ! { loop { leaf(n); } }"),
)
RUST_PIECES = (
    (
        "array",
        tuple(
            "let mut l%%d = [0u8; %d]; escape(&mut l%%d); s += l%%d[(n & 15) as usize] as i32;"
            % size
            for size in (200, 4200, 70000)
        ),
    ),
    (
        "aligned",
        ("let mut a%d = Aligned([n; 20]); escape(&mut a%d); s += a%d.0[(n & 15) as usize];",),
    ),
    (
        "live",
        (
            "let (x%d, y%d, z%d) = (leaf(n), leaf(s), leaf(n + 1)); leaf(s); s += x%d * y%d - z%d;",
            "let (x%d, y%d, z%d, u%d, w%d) = (leaf(n), leaf(s), leaf(1), leaf(2), leaf(3)); leaf(n); leaf(s); s += (x%d ^ y%d ^ z%d) * u%d + w%d;",
        ),
    ),
    (
        "many-arguments",
        (
            "s += many(n, s, 3, 4, n + 5, 6, s + 7, 8, 9, n, s);",
            "s += many(1, n, leaf(s), 4, 5, 6, n, 8, leaf(9), s, 11);",
        ),
    ),
    ("guard", ("let g%d = Guard(leaf(n)); s += g%d.0;",)),
    (
        "catch",
        (
            "s += std::panic::catch_unwind(move || fail(s)).unwrap_or(1);",
            "let g%d = Guard(s); s += std::panic::catch_unwind(move || fail(n)).unwrap_or_else(|_| leaf(n)); s += g%d.0;",
        ),
    ),
    ("vector", ("let v%d: Vec<i32> = (0..(n & 7)).map(leaf).collect(); s += v%d.len() as i32;",)),
    ("closure", ("let t%d = s; let c%d = move |x| x + leaf(t%d); s += apply(&c%d, n);",)),
    (
        "double",
        (
            "let (q%d, r%d) = (leaf(n) as f64 * 0.5, leaf(s) as f64 * 0.25); leaf(n); s += (q%d * r%d) as i32;",
        ),
    ),
    (
        "match",
        (
            "match n & 7 { 0 => s += leaf(1), 1 => return leaf(s) + 1, 2 => s *= leaf(3), 3 => s -= 9, 4 => return s, 5 => s ^= leaf(5) + leaf(6), _ => s += leaf(n) }",
        ),
    ),
    ("text", ('s += format!("{}", leaf(s)).len() as i32;',)),
    (
        "cold",
        ("if s == 123456 { die(s); }", "if s == 123456 { s = leaf(s) + leaf(n); escape(&mut s); }"),
    ),
    (
        "early-return",
        (
            "if s & 4 != 0 { return leaf(s); }",
            "if n == 2 { return s; }",
            "if s < 0 { return leaf(s) + leaf(n); }",
        ),
    ),
    (
        "loop",
        ("for i in 0..(n & 3) + 1 { s += leaf(i) * n; }", "while leaf(s) & 2 != 0 { s += 1; }"),
    ),
)
RUST_ATTRIBUTES = {
    None: ("",),
    "x86_64": ("", "", "", 'extern "C" ', 'extern "win64" '),
    "aarch64": ("", 'extern "C" '),
    "s390x": ("", 'extern "C" '),
}
# By machine.
REGISTERS = {
    "x86_64": ("rbx", "r12", "r13", "r14", "r15", "xmm6", "xmm7", "rdi", "rsi"),
    "aarch64": (
        "x19",
        "x20",
        "x21",
        "x22",
        "x23",
        "x24",
        "x25",
        "x26",
        "x27",
        "x28",
        "d8",
        "d9",
        "d10",
        "d15",
    ),
    "s390x": ("r6", "r7", "r8", "r9", "r10", "r12", "r13", "f8", "f9", "f15"),
}
# Those that a compiler does not know are warnings.
ATTRIBUTES = {
    None: (
        "noinline",
        "noinline",
        "noinline",
        "noinline",
        "noinline, cold",
        "noinline, hot",
        "noinline, flatten",
        "noinline, optnone",
        "noinline, minsize",
        'noinline, optimize("O0")',
        'noinline, optimize("Os")',
        "noinline, stack_protect",
        "noinline, no_instrument_function",
        "noinline, no_stack_protector",
    ),
    "x86_64": (
        "noinline, force_align_arg_pointer",
        "noinline, ms_abi",
        "noinline, sysv_abi",
        "noinline, preserve_most",
        "noinline, preserve_all",
        "noinline, preserve_none",
        "noinline, regcall",
        "noinline, vectorcall",
        "noinline, nocf_check",
        'noinline, target("avx2")',
        'noinline, target("avx512f")',
        'noinline, target("general-regs-only"), no_caller_saved_registers',
    ),
    "aarch64": (
        "noinline, aarch64_vector_pcs",
        "noinline, preserve_most",
        "noinline, preserve_all",
        "noinline, preserve_none",
        'noinline, target("branch-protection=pac-ret")',
        'noinline, target("branch-protection=pac-ret+leaf")',
    ),
    "s390x": ("noinline, hotpatch(2, 3)", 'noinline, target("backchain")'),
}


@dataclasses.dataclass(frozen=True)
class Function:
    number: int
    attributes: str
    pieces: Tuple[Tuple[str, str], ...]  # (name, statement)
    callee: int  # called last; < 0: none
    is_tail: bool

    def text(self, language):
        if language == RUST:
            return self._rust()
        linkage = 'extern "C" ' if language == CXX else ""
        lines = [
            "%s__attribute__((%s)) int f%d(int n) {" % (linkage, self.attributes, self.number),
            "  int s = n;",
        ]
        lines += ["  " + statement for _, statement in self.pieces]
        if self.callee >= 0:
            lines.append(
                "  return f%d(s & 15);" % self.callee
                if self.is_tail
                else "  s += f%d(s & 15);" % self.callee
            )
        if self.callee < 0 or not self.is_tail:
            lines.append("  return s;")
        return "\n".join(lines + ["}"])

    def _rust(self):
        lines = [
            "#[no_mangle] #[inline(never)] pub %sfn f%d(n: i32) -> i32 {"
            % (self.attributes, self.number),
            "  let mut s = n;",
        ]
        lines += ["  " + statement for _, statement in self.pieces]
        if self.callee >= 0 and not self.is_tail:
            lines.append("  s += f%d(s & 15);" % self.callee)
        return "\n".join(
            [
                *lines,
                "  f%d(s & 15)" % self.callee if self.callee >= 0 and self.is_tail else "  s",
                "}",
            ]
        )


@dataclasses.dataclass(frozen=True)
class Program:
    language: str
    functions: Tuple[Function, ...]

    def text(self):
        functions = "\n".join(function.text(self.language) for function in self.functions)
        helpers: List[str] = []
        for words, definition in reversed(
            RUST_HELPERS if self.language == RUST else HELPERS
        ):  # those of a later one are before it
            if words in functions or any(words in helper for helper in helpers):
                helpers.insert(0, definition)
        if self.language == RUST:
            calls = " ".join("s += f%d(i);" % function.number for function in self.functions)
            return "\n".join(
                [
                    "#![allow(warnings)]",
                    *helpers,
                    functions,
                    "fn main() {",
                    "  let mut s = 0;",
                    "  for i in 0..4 { %s }" % calls,
                    "  std::process::exit((s == 123456) as i32)",
                    "}",
                    "",
                ]
            )
        calls = "\n".join("    s += f%d(i);" % function.number for function in self.functions)
        return (
            "%s\n%s\n%s\nint main(void) {\n  int s = 0;\n  for (int i = 0; i < 4; i++) {\n%s\n  }\n  return s == 123456;\n}\n"
            % (NOINLINE, "\n".join(helpers), functions, calls)
        )

    def without(self, number):
        """Without a function; those that call it call nothing."""
        return dataclasses.replace(
            self,
            functions=tuple(
                dataclasses.replace(f, callee=-1) if f.callee == number else f
                for f in self.functions
                if f.number != number
            ),
        )

    def smaller(self):
        """Programs that have one thing less."""
        if len(self.functions) > 1:
            for function in self.functions:
                yield self.without(function.number)
        for i, function in enumerate(self.functions):
            less = [
                dataclasses.replace(function, pieces=function.pieces[:k] + function.pieces[k + 1 :])
                for k in range(len(function.pieces))
            ]
            if function.callee >= 0:
                less.append(dataclasses.replace(function, callee=-1))
            plain = "" if self.language == RUST else "noinline"
            if function.attributes != plain:
                less.append(dataclasses.replace(function, attributes=plain))
            for other in less:
                yield dataclasses.replace(
                    self, functions=self.functions[:i] + (other,) + self.functions[i + 1 :]
                )


def reduced(program, is_wanted):
    """The program with as little as is_wanted(program) still holds for; each thing is tried until
    none can go."""
    while True:
        for smaller in program.smaller():
            if is_wanted(smaller):
                program = smaller
                break
        else:
            return program


def _asm(machine, choice):
    registers = REGISTERS[machine]
    return '__asm__ volatile("" : "+r"(s) : : %s);' % ", ".join(
        '"%s"' % name for name in sorted(choice.sample(registers, choice.randint(1, 4)))
    )


def make(seed, language, machine, count=8):
    """A program of `count` functions."""
    choice = random.Random("%s %s %s" % (seed, language, machine))
    known = RUST_ATTRIBUTES if language == RUST else ATTRIBUTES
    possible = (
        RUST_PIECES
        if language == RUST
        else [(name, statements) for name, languages, statements in PIECES if language in languages]
    )
    functions = []
    for number in range(count):
        pieces = []
        for k in range(choice.randint(1, 5)):
            if choice.random() < 0.1 and language != RUST:
                pieces.append(("asm", _asm(machine, choice)))
                continue
            name, statements = choice.choice(possible)
            pieces.append((name, choice.choice(statements).replace("%d", str(k))))
        attributes = choice.choice(known[None] if choice.random() < 0.7 else known[machine])
        callee = choice.randrange(number) if number and choice.random() < 0.5 else -1
        functions.append(Function(number, attributes, tuple(pieces), callee, choice.random() < 0.6))
    return Program(language, tuple(functions))
