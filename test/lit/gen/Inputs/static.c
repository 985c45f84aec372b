// A program without a C library: functions that call one another, and an exit code.
int scale(int x) {
  __asm__ volatile("" ::: "memory");
  return x * 3;
}

#define FUNCTION(n)                                                                                          \
  int sum##n(int a, int b) {                                                                                 \
    int c = scale(a + n);                                                                                    \
    int d = scale(b);                                                                                        \
    return scale(c) * n + scale(d) + c + d;                                                                  \
  }
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)

void _start(void) {
  int code = sum0(1, 2) + sum1(1, 2) + sum2(3, 4) + sum3(1, 2) + sum4(1, 2) + sum5(1, 2) + sum6(1, 2) +
             sum7(1, 2) + sum8(1, 2);
#ifdef __aarch64__
  register long number __asm__("x8") = 93;
  register long result __asm__("x0") = code;
  __asm__ volatile("svc 0" ::"r"(number), "r"(result));
#else
  __asm__ volatile("syscall" ::"a"(60L), "D"((long)code));
#endif
}
