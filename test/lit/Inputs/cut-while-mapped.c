// To be preloaded: once the file $CUT is mapped, it is truncated to $CUT_TO bytes.
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  void* map = (void*)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = fd < 0 ? -1 : readlink(link, path, sizeof path - 1);
  if (length < 0) return map;
  path[length] = 0;
  if (strcmp(path, getenv("CUT")) == 0) (void)!truncate(path, atol(getenv("CUT_TO")));
  return map;
}

void* mmap64(void* address, size_t size, int protection, int flags, int fd, off_t offset) __attribute__((alias("mmap")));
