// A thread ends inside many frames of different shapes. The unwinder runs the cleanups of those that have some, with the
// registers and words that each frame saved; then backtraces are counted at every depth.
#include <pthread.h>
#include <stdio.h>
#include <unwind.h>

typedef unsigned long Number;
static int depth;
static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *frames) {
  (void)context;
  ++*(int *)frames;
  return _URC_NO_REASON;
}
__attribute__((noinline)) static void touch(volatile char *bytes, long size) {
  int frames = 0;
  _Unwind_Backtrace(count, &frames);
  bytes[0] = bytes[size - 1] = (char)frames;
  printf("%d ", frames);
}
/* Inlined: the value is in a register, as a rule. */
static inline __attribute__((always_inline)) void note(Number *value) { printf("(%lu) ", *value); }

__attribute__((noinline)) static Number last(Number a, Number b, Number c, Number d) {
  if (depth++ > 3) pthread_exit((void *)(a + b + c + d));
  return a - b + c - d;
}

#define FRAME(name, size, next)                                                                                        \
  __attribute__((noinline)) static Number name(Number a, Number b, Number c, Number d) {                               \
    char bytes[size];                                                                                                  \
    touch(bytes, size);                                                                                                \
    Number sum = next(a + 1, b ^ size, c + d, d - a);                                                                  \
    touch(bytes, size);                                                                                                \
    return sum * a + b * c - d;                                                                                        \
  }
#define CLEANED(name, size, next)                                                                                      \
  __attribute__((noinline)) static Number name(Number a, Number b, Number c, Number d) {                               \
    Number kept __attribute__((cleanup(note))) = a * size + b;                                                         \
    char bytes[size + d % 16];                                                                                         \
    touch(bytes, size);                                                                                                \
    Number sum = next(a + c, b - size, c ^ d, d + 3);                                                                  \
    if (sum == 42) return next(b, a, d, c);                                                                            \
    touch(bytes, size);                                                                                                \
    return sum * a + kept * c - d;                                                                                     \
  }
FRAME(f1, 24, last)
CLEANED(f2, 40, f1)
FRAME(f3, 5000, f2)
FRAME(f4, 160, f3)
CLEANED(f5, 4, f4)
FRAME(f6, 70000, f5)
CLEANED(f7, 700, f6)

static void *run(void *argument) {
  Number sum = 0;
  while (sum != 1) sum += f7((Number)argument, sum, 5, 7);
  return NULL;
}

int main(void) {
  pthread_t thread;
  void *result;
  if (pthread_create(&thread, NULL, run, (void *)3) || pthread_join(thread, &result)) return 1;
  printf("\n%lu\n", (Number)result);
  return 0;
}
