// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preloaded, this makes trouble while a program works on a tree. When the first file is mapped: TROUBLE_APPEND, a file, gets another
// byte; TROUBLE_REMOVE is removed; TROUBLE_REPLACE is replaced by the file of that name with ".new". The folder TROUBLE_CLOSED cannot be
// opened.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void make_trouble(void) {
  const char* name = getenv("TROUBLE_APPEND");
  const int fd = name ? open(name, O_WRONLY | O_APPEND) : -1;
  if (fd >= 0) {
    (void)!write(fd, "x", 1);
    close(fd);
  }
  if ((name = getenv("TROUBLE_REMOVE"))) unlink(name);
  if ((name = getenv("TROUBLE_REPLACE"))) {
    char other[4096];
    snprintf(other, sizeof other, "%s.new", name);
    rename(other, name);
  }
}

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  static int done;
  if (fd >= 0 && !done) {
    done = 1;
    make_trouble();
  }
  void* (*next)(void*, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
  return next(at, size, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap(at, size, protection, flags, fd, offset);
}

DIR* opendir(const char* path) {
  const char* closed = getenv("TROUBLE_CLOSED");
  if (closed && !strcmp(path, closed)) return errno = EACCES, NULL;
  DIR* (*next)(const char*) = dlsym(RTLD_NEXT, "opendir");
  return next(path);
}
