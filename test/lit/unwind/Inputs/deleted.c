// Calls into a library (built with -DLIBRARY from this file, too) after deleting its file, and dies there.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef LIBRARY
__attribute__((noinline)) int in_library(int n) {
  if (n) abort();
  return n + 1;
}
#else
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  int (*function)(int) = library ? dlsym(library, "in_library") : 0;
  if (!function || unlink(argv[1])) return 77;
  return function(argc) + 1;
}
#endif
