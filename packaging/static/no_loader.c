/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   What static programs have in place of the dynamic loader: dlopen() finds the one library that is linked in,
   Capstone (lib/code/src/capstone.h), and nothing else. The C library's own dlopen() would load shared
   libraries of the machine into a program with another C library. */

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <string.h>

static const char prefix[] = "libcapstone.so.";

void* dlopen(const char* name, int flags) {
  (void)flags;
  return name && strncmp(name, prefix, sizeof prefix - 1) == 0 ? (void*)prefix : NULL;
}

void* dlsym(void* restrict library, const char* restrict name) {
  static const struct {
    const char* name;
    void (*function)(void);
  } functions[] = {{"cs_open", (void (*)(void))cs_open},
                   {"cs_close", (void (*)(void))cs_close},
                   {"cs_option", (void (*)(void))cs_option},
                   {"cs_disasm", (void (*)(void))cs_disasm},
                   {"cs_free", (void (*)(void))cs_free}};
  void* found = NULL;
  for (size_t i = 0; library == prefix && i < sizeof functions / sizeof *functions; ++i)
    if (strcmp(functions[i].name, name) == 0) memcpy(&found, &functions[i].function, sizeof found);
  return found;
}

int dlclose(void* library) {
  (void)library;
  return 0;
}

char* dlerror(void) {
  return "a static program loads no libraries";
}
