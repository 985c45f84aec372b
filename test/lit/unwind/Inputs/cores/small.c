// Freestanding, so that the program and its core stay small enough to be kept next to this file. Dies in
//
//   _start > enter > recurse (4 times) > faulting > [signal] handler > leaf > [signal] second > die
//
// The second signal interrupts `leaf`, which has its return address in a register: on s390x in a floating-point
// one (DWARF number 17 is f2; gas takes the name %f2 for 18). Built and run by make-cores; for AMD64 only by
// scripts/fuzz, whose seeds it makes.
#if defined __aarch64__
enum { nr_rt_sigaction = 134, nr_getpid = 172, nr_kill = 129 };
__asm__(".globl _start\n"
        "_start: .cfi_startproc\n .cfi_undefined x30\n bl enter\n nop\n .cfi_endproc\n"
        ".type _start, @function\n .size _start, . - _start\n"
        "leaf: .cfi_startproc\n mov x9, x30\n .cfi_register x30, x9\n mov x30, #0\n str xzr, [x30]\n"
        " mov x30, x9\n .cfi_restore x30\n ret\n .cfi_endproc\n .type leaf, @function\n .size leaf, . - leaf\n");
static long system_call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#elif defined __s390x__
enum { nr_rt_sigaction = 174, nr_getpid = 20, nr_kill = 37 };
__asm__(".globl _start\n"
        "_start: .cfi_startproc\n .cfi_undefined %r14\n aghi %r15, -160\n .cfi_adjust_cfa_offset 160\n"
        " brasl %r14, enter\n nopr\n .cfi_endproc\n .type _start, @function\n .size _start, . - _start\n"
        "leaf: .cfi_startproc\n ldgr %f2, %r14\n .cfi_register 14, 17\n lghi %r14, 0\n"
        " mvghi 0(%r14), 0\n lgdr %r14, %f2\n .cfi_restore %r14\n br %r14\n .cfi_endproc\n"
        ".type leaf, @function\n .size leaf, . - leaf\n");
static long system_call(long number, long a, long b, long c, long d) {
  register long r1 __asm__("r1") = number, r2 __asm__("r2") = a, r3 __asm__("r3") = b, r4 __asm__("r4") = c,
                r5 __asm__("r5") = d;
  __asm__ volatile("svc 0" : "+d"(r2) : "d"(r1), "d"(r3), "d"(r4), "d"(r5) : "memory");
  return r2;
}
#elif defined __x86_64__
enum { nr_rt_sigaction = 13, nr_getpid = 39, nr_kill = 62 };
__asm__(".globl _start\n"
        "_start: .cfi_startproc\n .cfi_undefined %rip\n and $-16, %rsp\n call enter\n nop\n .cfi_endproc\n"
        ".type _start, @function\n .size _start, . - _start\n"
        "leaf: .cfi_startproc\n xor %eax, %eax\n mov %eax, (%rax)\n ret\n .cfi_endproc\n"
        ".type leaf, @function\n .size leaf, . - leaf\n"
        "restorer: mov $15, %rax\n syscall\n .type restorer, @function\n .size restorer, . - restorer\n");
void restorer(void);
static long system_call(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return number;
}
#endif

#define KEEP __attribute__((noinline, noclone))
enum { sigabrt = 6, sigsegv = 11, sa_siginfo = 4, sa_nodefer = 0x40000000 };

void leaf(void);
volatile int sink;

KEEP void die(void) {
  system_call(nr_kill, system_call(nr_getpid, 0, 0, 0, 0), sigabrt, 0, 0);
  ++sink;
}

static void on_fault(void (*handler)(int), long flags) {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void* restorer;
    unsigned long mask;
  } action = {handler, (unsigned long)(flags | sa_nodefer), 0, 0};
#if defined __x86_64__
  action.flags |= 0x04000000; // SA_RESTORER
  action.restorer = (void*)restorer;
#endif
  system_call(nr_rt_sigaction, sigsegv, (long)&action, 0, 8);
}

KEEP void second(int signal) {
  sink = signal;
  die();
  ++sink;
}

KEEP void handler(int signal) {
  on_fault(second, 0);
  leaf();
  sink = signal;
}

KEEP int faulting(volatile int* where) {
  const int before = sink;
  *where = 1;
  return before + sink;
}

KEEP void recurse(int n) {
  if (n)
    recurse(n - 1);
  else
    sink = faulting((int*)8);
  ++sink;
}

KEEP void enter(void) {
  on_fault(handler, sa_siginfo);
  recurse(3);
  for (;;) die();
}
