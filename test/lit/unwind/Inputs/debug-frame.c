/* debug-frame FILE ADDRESS...: the rules of a file's .debug_frame for addresses, as it would be found in a process where the file is mapped
   at 0x10000000. */
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *arg) {
  (void)space, (void)address, (void)value, (void)write, (void)arg;
  return -UNW_EINVAL;
}

int main(int argc, char **argv) {
  const unw_word_t bias = 0x10000000;
  unw_accessors_t accessors;
  memset(&accessors, 0, sizeof accessors);
  accessors.access_mem = access_mem;
  unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
  for (int i = 2; i < argc; ++i) {
    const unw_word_t ip = bias + strtoul(argv[i], NULL, 16);
    unw_dyn_info_t table;
    unw_proc_info_t info;
    memset(&table, 0, sizeof table);
    if (!UNW_OBJ(dwarf_find_debug_frame)(0, &table, ip, bias, argv[1], bias, bias + 0x1000000)) {
      printf("no table\n");
      continue;
    }
    const int result = UNW_OBJ(dwarf_search_unwind_table)(space, ip, &table, &info, 1, NULL);
    if (result < 0)
      printf("%s\n", unw_strerror(result));
    else
      printf("%lx to %lx%s\n", (long)(info.start_ip - bias), (long)(info.end_ip - bias),
             info.flags & UNW_PI_FLAG_DEBUG_FRAME ? " debug" : "");
  }
  unw_destroy_addr_space(space);
  return 0;
}
