// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a real compiler makes of C: frames, a realigned stack, alloca, a cold part, tail calls.
extern void use(void *);
extern int get(int);
extern void die(void) __attribute__((noreturn, cold));

int tail(int x) { return get(x + 1); }

int frame(int x) {
    char buffer[64];
    use(buffer);
    return get(x) + buffer[x & 63];
}

int big_frame(int x) {
    char buffer[40000];
    use(buffer);
    return buffer[x];
}

int variable(unsigned n) {
    char *p = __builtin_alloca(n);
    use(p);
    return p[0];
}

int aligned(int x) {
    int v[16] __attribute__((aligned(64)));
    use(v);
    return v[x & 15] + get(x);
}

int aligned_variable(unsigned n) {
    int v[16] __attribute__((aligned(64)));
    char *p = __builtin_alloca(n);
    use(v);
    use(p);
    return v[n & 15] + p[0];
}

int saves(int a, int b, int c, int d) {
    if (__builtin_expect(a == 42, 0))
        die();
    int r = 0;
    for (int i = 0; i < a; i++)
        r += get(i) * b + get(c) * d;
    return r;
}
