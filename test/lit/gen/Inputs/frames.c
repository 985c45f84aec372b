// Frames of several kinds, walked through by a debugger: empty functions, leaves, saved registers, arguments on the
// stack, tail calls, alloca. With an argument it dies: of a wrong pointer (fault), or of a full stack (overflow).
#include <alloca.h>
#include <string.h>

volatile int sink;

__attribute__((noinline)) void empty(void) {
  __asm__ volatile("");
}

__attribute__((noinline)) int leaf(int a, int b) {
  int c = a * 3;
  int d = b ^ c;
  return c + d;
}

__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  int sum = a + b + c + d + e + f + g + h;
  sum += leaf(a, h);
  return sum * 2;
}

__attribute__((noinline)) int saves(int a, int b, int c) {
  int d = leaf(a, b);
  int e = leaf(b, c);
  int f = many(a, b, c, d, e, a, b, c);
  for (int i = 0; i < 2; ++i) f += leaf(d, e) + i;
  return f + d * e;
}

__attribute__((noinline)) int tail(int a) {
  sink = a;
  empty();
  return leaf(a, sink);
}

__attribute__((noinline)) int grows(int size) {
  char* bytes = alloca(size);
  memset(bytes, 1, size);
  sink = bytes[size / 2];
  return tail(sink) + saves(size, sink, 1);
}

__attribute__((noinline)) int deep(int n) {
  return n == 0 ? grows(40) : deep(n - 1) + leaf(n, n);
}

__attribute__((noinline)) int fault(int* p, int n) {
  if (n == 0) return *p;
  return fault(p, n - 1) + leaf(n, *p);
}

__attribute__((noinline)) int overflow(int n) {
  volatile char bytes[24];
  bytes[n & 7] = n;
  return overflow(n + 1) + leaf(bytes[1], n) + overflow(n + 2);
}

int main(int argc, char** argv) {
  static int one = 1;
  int sum = deep(2);
  sum += saves(1, 2, 3);
  if (argc > 1 && !strcmp(argv[1], "fault")) sum += fault(0, 0);
  if (argc > 1 && !strcmp(argv[1], "overflow")) sum += overflow(1);
  sum += fault(&one, 3);
  sink = sum;
  return 0;
}
