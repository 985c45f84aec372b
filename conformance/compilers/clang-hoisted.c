// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    Two tail calls: an add of both epilogues is moved before the branch, its row is not.
// machine  x86_64
// key      late-cfa-too-high-add-sp-up
// seen     clang 14.0.6 to 24
//
//   0x1174     add $-0x78, %cl                    cfa=sp+32 ra=[cfa-8] fp=same
//   0x1177     movzbl %bl, %edi                   cfa=sp+32 ra=[cfa-8] fp=same
//   0x117a     mov %eax, %esi                     cfa=sp+32 ra=[cfa-8] fp=same
//   0x117c     add $0x8, %rsp                     cfa=sp+32 ra=[cfa-8] fp=same
//   0x1180     cmp $0x32, %cl                     cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+24 ra=[cfa-8] fp=same
//   0x1183     jnbe 0x118d                        cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+24 ra=[cfa-8] fp=same
//   0x1185     pop %rbx                           cfa=sp+24 ra=[cfa-8] fp=same
//   0x1186     pop %r14                           cfa=sp+16 ra=[cfa-8] fp=same
//   0x1188     jmp 0x1140                         cfa=sp+8 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline, weak))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int one(unsigned char n, int m) { __asm__ volatile("" : "+r"(m) : : "memory"); return m; }
NOINLINE int two(unsigned char n, int m) { __asm__ volatile("" : "+r"(m) : : "memory"); return m + n; }
NOINLINE int f1(char *p, int n) { int x = leaf(n); char c = *p - 120; if ((unsigned char)c <= 50) return one(n, x); return two(n, x); }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) { char c = i * 60; s += f1(&c, i); } return s == 123456; }
