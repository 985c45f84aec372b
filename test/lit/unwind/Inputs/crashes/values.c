/* Recursion without an end: a list that contains itself. */
#include <stdio.h>

struct value {
  int number;
  struct value *items[2];
};

static long sum_items(const struct value *list);

__attribute__((noinline)) static long sum(const struct value *value) { return value->number + sum_items(value); }

__attribute__((noinline)) static long sum_items(const struct value *list) {
  long total = 0;
  for (int i = 0; i < 2; ++i)
    if (list->items[i]) total += sum(list->items[i]);
  return total;
}

int main(void) {
  struct value list = {1, {NULL, NULL}};
  list.items[1] = &list;
  printf("%ld\n", sum(&list));
}
