/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   What binutils' tests use of DejaGnu's header of this name: one line per check. */

#include <stdarg.h>
#include <stdio.h>

static void print_result(const char* result, const char* format, va_list arguments) {
  printf("%s: ", result);
  vprintf(format, arguments);
  putchar('\n');
}

static inline void pass(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_result("PASS", format, arguments);
  va_end(arguments);
}

static inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_result("FAIL", format, arguments);
  va_end(arguments);
}
