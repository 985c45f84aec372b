/* Parameters and local variables of all kinds; dies in a callee of all functions that have them. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum color { red, green = 5, blue };
enum flags { readable = 1, writable = 2, special = 8 };

struct point {
  int x, y;
};
struct bits {
  unsigned a : 3;
  signed b : 5;
  enum color c : 4;
  _Bool d : 1;
  unsigned long e : 40;
};
union number {
  int i;
  float f;
};
struct node {
  struct node* next;
  const char* name;
  struct point at;
  union number number;
  char text[16];
  int values[4];
};

volatile int sink;
static int counter = 17;

__attribute__((noinline)) void die(const char* why) {
  sink = (int)strlen(why);
  abort();
}

__attribute__((noinline)) int integers(signed char sc, unsigned char uc, short s, unsigned short us, int i, unsigned u,
                                       long l, unsigned long ul) {
  long long sum = sc + uc + s + us + i;
  bool yes = i != 0, no = i == 12345;
  die("integers");
  sink = yes + no;
  return (int)(sum + (long long)u + l + (long long)ul);
}

__attribute__((noinline)) int floats(double d, float f, int depth) {
  double twice = d * 2;
  float half = f / 2;
  double _Complex z = d + 2.5 * I;
  long double wide = 1.25L;
  volatile double keep = d;
  int result = integers(-3, 200, -1000, 60000, depth * 7, 4000000000u, -5000000000l, 0xffffffff00000000ul);
  sink = (int)(twice + half + keep + creal(z) + (double)wide);
  return result + depth;
}

__attribute__((noinline)) int structures(struct node* list, struct point by_value, enum color color, enum flags flags,
                                         int (*function)(double, float, int)) {
  struct node local = *list;
  struct bits bits = {5, -7, blue, 1, 0x123456789a};
  static int calls = 3;
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int zeros[40] = {1};
  const char* text = "a \"quoted\"\ttext\n";
  const char* bad = (const char*)16;
  const char* nothing = NULL;
  char short_text[8] = "short";
  wchar_t wide = L'w';
  local.at.x += by_value.x;
  {
    int inner = by_value.y * 3;
    int result = function(by_value.x * 0.5, 1.5f, inner);
    sink = local.at.x + (int)bits.a + grid[1][1] + zeros[3] + text[0] + (bad != nothing) + short_text[0] + (int)wide;
    calls += counter;
    return result + inner + color + flags + local.number.i;
  }
}

static inline int inlined(int value, struct node* list) {
  int doubled = value * 2;
  int result = structures(list, (struct point){doubled, value}, blue, readable | special, floats);
  return result + doubled;
}

int main(int argc, char** argv) {
  struct node second = {NULL, "second", {3, 4}, {.f = 1.0f}, "text of two", {9, 8, 7, 6}};
  struct node first = {&second, "first", {1, 2}, {.i = 42}, "0123456789abcdef", {1, 2, 3, 4}};
  int n = argc * 11;
  int size = argc + 4;
  int variable[size];
  for (int i = 0; i < size; ++i) variable[i] = i * n;
  int result = inlined(n, &first);
  sink = variable[1];
  return result + n + (argv != NULL) + size;
}
