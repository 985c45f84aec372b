// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preloaded, this sends a signal to the program in a function of the C library that it calls: END_CALL=fsync|linkat|rename|pwrite-over, END_SIGNAL=number.
// NO_TMPFILE: files without a name cannot be made. SYNCED: the file to which "fsync file" and "fsync folder" are written, and "rename".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char* what) {
  const char* log = getenv("SYNCED");
  FILE* file = log ? fopen(log, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\n", what);
  fclose(file);
}

static void called(const char* name) {
  const char* call = getenv("END_CALL");
  if (call && !strcmp(call, name)) raise(atoi(getenv("END_SIGNAL")));
}

int fsync(int fd) {
  struct stat info;
  note(fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) ? "fsync folder" : "fsync file");
  called("fsync");
  int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
  return next(fd);
}

int rename(const char* from, const char* to) {
  note("rename");
  called("rename");
  int (*next)(const char*, const char*) = dlsym(RTLD_NEXT, "rename");
  return next(from, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  note("linkat");
  int (*next)(int, const char*, int, const char*, int) = dlsym(RTLD_NEXT, "linkat");
  const int result = next(from_folder, from, to_folder, to, flags);
  const int error = errno;
  if (result == 0) called("linkat");
  errno = error;
  return result;
}

// Used where a file with several names is written over; also by a timer's handler, which may interrupt dlopen, for files of /proc.
ssize_t pread(int fd, void* buffer, size_t size, off_t offset) {
  struct stat info;
  if (fstat(fd, &info) == 0 && info.st_size > 0) called("pread");
  return syscall(SYS_pread64, fd, buffer, size, offset);
}
ssize_t pread64(int fd, void* buffer, size_t size, off_t offset) { return pread(fd, buffer, size, offset); }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_TMPFILE")) return errno = EOPNOTSUPP, -1;
  int (*next)(const char*, int, ...) = dlsym(RTLD_NEXT, "open");
  return next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return open(path, flags, mode);
}
