/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The other object: one.c has the reason.
 */

#include <stdlib.h>

static int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

int link_also_unused(int a) { return a * 3; }

int link_other(int a) {
  int numbers[] = {a, 3, 2};
  qsort(numbers, 3, sizeof *numbers, by_value);
  return numbers[1];
}
