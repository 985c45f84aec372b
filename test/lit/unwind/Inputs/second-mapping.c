// second-mapping.c LIBRARY END WHAT: loads the library, and maps its file a second time directly before its image: a
// page of text, as libffi does for its trampolines (WHAT: text), or all of it, as data, or one before the other
// (both). Then calls the library's function enter(), which dies (END: die) or waits.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW);
  void (*enter)(int) = library ? (void (*)(int))dlsym(library, "enter") : NULL;
  Dl_info info;
  if (!enter || !dladdr((void*)enter, &info)) abort();
  const long page = sysconf(_SC_PAGESIZE);
  const int file = open(argv[1], O_RDONLY);
  const off_t size = (lseek(file, 0, SEEK_END) + page - 1) / page * page;
  const off_t text = ((char*)enter - (char*)info.dli_fbase) / page * page;
  char* end = info.dli_fbase;
  const int fixed = MAP_PRIVATE | MAP_FIXED_NOREPLACE;
  if (strcmp(argv[3], "data") != 0) {
    end -= page;
    if (mmap(end, page, PROT_READ | PROT_EXEC, fixed, file, text) != end) abort();
  }
  if (strcmp(argv[3], "text") != 0) {
    end -= size;
    if (mmap(end, size, PROT_READ, fixed, file, 0) != end) abort();
  }
  enter(strcmp(argv[2], "die") != 0);
}
