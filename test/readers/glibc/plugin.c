/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What scenarios.cc loads with dlopen(): calls back, from a function, from a constructor, and from the
 * resolver of an IFUNC that is bound at its first call.
 */

#include <dlfcn.h>
#include <stdlib.h>

extern void scenarios_show(void);
volatile int plugin_sink;

void plugin_run(void (*callback)(void)) {
  callback();
  plugin_sink = 1;
}

__attribute__((constructor)) static void construct(void) {
  if (getenv("PLUGIN_SHOW")) scenarios_show();
  plugin_sink = 1;
}

static int implementation(void) { return 3; }
static int (*resolve(void))(void) {
  if (getenv("PLUGIN_IFUNC")) scenarios_show();
  return implementation;
}
int plugin_indirect(void) __attribute__((ifunc("resolve")));
int plugin_lazy(void) { return plugin_indirect() + 1; }
