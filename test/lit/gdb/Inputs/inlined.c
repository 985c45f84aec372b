// Inlined functions, one in the other: gdb shows a frame for each.
__attribute__((noinline, noclone)) void stop_here(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }

static inline __attribute__((always_inline)) int inner(int n) {
  n ^= 5;
  __asm__ volatile("" : "+r"(n) : : "memory");
  stop_here(n);
  __asm__ volatile("" : "+r"(n) : : "memory");
  return n * 3;
}

static inline __attribute__((always_inline)) int middle(int n) {
  __asm__ volatile("" : "+r"(n) : : "memory");
  return inner(n + 1) + n;
}

__attribute__((noinline, noclone)) int outer(int n) {
  char room[1000];
  __asm__ volatile("" : : "r"(room) : "memory");
  return middle(n) + room[n];
}

int main(int argc, char** argv) {
  (void)argv;
  return outer(argc) & 1;
}
