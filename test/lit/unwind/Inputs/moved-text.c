// moved-text.c WHAT END: moves parts of its own image to other memory, as programs do to have their text in large
// pages. WHAT: none, page (one page of text), text, all (all segments), memfd (the text, to a deleted file), library
// (all segments of libouter.so). END: die, or wait: prints "ready" and waits. LIBRARY_PART: 1 for libouter.so, which
// has outer(), 2 for the program with it.
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void inner(const char *how);
void outer(const char *how);

#if LIBRARY_PART != 1
static const char *what;

static void move(unsigned long start, unsigned long end, int protection) {
  size_t size = end - start;
  int fd = strcmp(what, "memfd") ? -1 : memfd_create("text", 0);
  if (fd >= 0 && ftruncate(fd, size)) abort();
  char *copy = mmap(0, size, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
  if (copy == MAP_FAILED) abort();
  memcpy(copy, (void *)start, size);
  if (mprotect(copy, size, protection)) abort();
  if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == MAP_FAILED) abort();
}

static int each(struct dl_phdr_info *info, size_t size, void *data) {
  int is_library = !strcmp(what, "library");
  if (is_library && !strstr(info->dlpi_name, "libouter.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    int executable = segment->p_flags & PF_X;
    if (strcmp(what, "all") && !is_library && !executable) continue;
    unsigned long page = sysconf(_SC_PAGESIZE);
    unsigned long start = (info->dlpi_addr + segment->p_vaddr) & -page;
    unsigned long end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz + page - 1) & -page;
    if (!strcmp(what, "page")) {
      start = (unsigned long)&move & -page;
      end = start + page;
    }
    move(start, end, executable ? PROT_READ | PROT_EXEC : segment->p_flags & PF_W ? PROT_READ | PROT_WRITE : PROT_READ);
  }
  return 1; /* no further object */
}

__attribute__((noinline)) void inner(const char *how) {
  if (!strcmp(how, "die")) abort();
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
#endif
#if LIBRARY_PART != 2
__attribute__((noinline)) void outer(const char *how) {
  inner(how);
  asm volatile("");
}
#endif
#if LIBRARY_PART != 1
int main(int argc, char **argv) {
  what = argv[1];
  if (strcmp(what, "none")) dl_iterate_phdr(each, 0);
  outer(argv[2]);
  asm volatile("");
}
#endif
