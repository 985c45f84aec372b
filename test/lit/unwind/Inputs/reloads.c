// reloads LIBRARY: loads it, calls its spin() and unloads it, for ever.
#include <dlfcn.h>

int main(int argc, char **argv) {
  for (;;) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : 0;
    if (!library) return 1;
    ((void (*)(void))dlsym(library, "spin"))();
    dlclose(library);
  }
}
