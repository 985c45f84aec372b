// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To be preloaded: lets one call of a kind fail, or that one and all after it, counted from the program's first static
// constructor. inject.py runs programs with it.
//
//   FAULT_KIND   memory (malloc and its kin return NULL), short (a read or write does half), EINTR, EIO, ENOSPC
//   FAULT_NTH    which call, from 1; 0: none
//   FAULT_STAYS  not empty: and all after it
//   FAULT_COUNT  a file that gets "CALLS\n" when the program ends by itself
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

enum Kind { none, memory, shortened, eintr, eio, enospc };
static enum Kind kind = none;
static bool stays;
static long nth;
static atomic_long calls;

__attribute__((constructor)) static void arm(void) {
  const char* names[] = {"", "memory", "short", "EINTR", "EIO", "ENOSPC"};
  const char* wanted = getenv("FAULT_KIND");
  const char* number = getenv("FAULT_NTH");
  const char* all = getenv("FAULT_STAYS");
  nth = number ? atol(number) : 0;
  stays = all && *all;
  for (int i = 1; wanted && i <= enospc; ++i)
    if (strcmp(wanted, names[i]) == 0) kind = (enum Kind)i;
}

__attribute__((destructor)) static void report(void) {
  const char* path = getenv("FAULT_COUNT");
  const long count = calls;
  kind = none;
  if (!path) return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  char text[32];
  const int size = snprintf(text, sizeof text, "%ld\n", count);
  (void)!syscall(SYS_write, fd, text, size);
  syscall(SYS_close, fd);
}

/// Counts a call; true where it is to fail.
static bool is_hit(void) {
  const long number = atomic_fetch_add(&calls, 1) + 1;
  return nth != 0 && (number == nth || (stays && number > nth));
}

// Memory

static bool no_memory(void) {
  if (kind != memory || !is_hit()) return false;
  errno = ENOMEM;
  return true;
}

void* malloc(size_t size) {
  return no_memory() ? NULL : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return no_memory() ? NULL : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return no_memory() ? NULL : __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  return no_memory() ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  *result = memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

// Files

enum Does { opens, creates, reads, writes, asks, maps, names, closes }; // asks: fstat and fchmod, which no signal interrupts

/// The error with which a call that does this is to fail; 0: it is not.
static int error_of(enum Does does) {
  int error = 0;
  switch (kind) {
  case eintr: error = does == maps || does == names || does == asks ? 0 : EINTR; break;
  case eio: error = does == maps ? ENOMEM : EIO; break;
  case enospc: error = does == writes || does == names || does == creates ? ENOSPC : 0; break;
  default: break;
  }
  return error && is_hit() ? error : 0;
}

static size_t size_of(size_t size) {
  return kind == shortened && size > 1 && is_hit() ? size / 2 : size;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_IF(does)                                                                                             \
  do {                                                                                                            \
    const int error = error_of(does);                                                                             \
    if (error) return errno = error, -1;                                                                          \
  } while (0)

#define OPEN(name)                                                                                                \
  int name(const char* path, int flags, ...) {                                                                    \
    va_list rest;                                                                                                 \
    va_start(rest, flags);                                                                                        \
    const mode_t mode = va_arg(rest, mode_t);                                                                     \
    va_end(rest);                                                                                                 \
    FAIL_IF((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? creates : opens);                             \
    return REAL(name)(path, flags, mode);                                                                         \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                                                                              \
  int name(int folder, const char* path, int flags, ...) {                                                        \
    va_list rest;                                                                                                 \
    va_start(rest, flags);                                                                                        \
    const mode_t mode = va_arg(rest, mode_t);                                                                     \
    va_end(rest);                                                                                                 \
    FAIL_IF((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? creates : opens);                             \
    return REAL(name)(folder, path, flags, mode);                                                                 \
  }
OPENAT(openat)
OPENAT(openat64)

// Reads and writes are system calls, without dlsym: a signal handler that interrupts dlopen may make them.

ssize_t read(int fd, void* to, size_t size) {
  FAIL_IF(reads);
  return syscall(SYS_read, fd, to, size_of(size));
}
ssize_t pread(int fd, void* to, size_t size, off_t at) {
  FAIL_IF(reads);
  return syscall(SYS_pread64, fd, to, size_of(size), at);
}
ssize_t pread64(int fd, void* to, size_t size, off64_t at) {
  FAIL_IF(reads);
  return syscall(SYS_pread64, fd, to, size_of(size), at);
}
ssize_t write(int fd, const void* from, size_t size) {
  if (fd == STDERR_FILENO) return syscall(SYS_write, fd, from, size); // by messages a fault is known
  FAIL_IF(writes);
  return syscall(SYS_write, fd, from, size_of(size));
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  FAIL_IF(writes);
  return syscall(SYS_pwrite64, fd, from, size_of(size), at);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  FAIL_IF(writes);
  return syscall(SYS_pwrite64, fd, from, size_of(size), at);
}
ssize_t copy_file_range(int from, off64_t* source, int to, off64_t* target, size_t size, unsigned flags) {
  FAIL_IF(writes);
  return REAL(copy_file_range)(from, source, to, target, size_of(size), flags);
}
ssize_t sendfile(int to, int from, off_t* source, size_t size) {
  FAIL_IF(writes);
  return REAL(sendfile)(to, from, source, size_of(size));
}
ssize_t sendfile64(int to, int from, off64_t* source, size_t size) {
  FAIL_IF(writes);
  return REAL(sendfile64)(to, from, source, size_of(size));
}
int fsync(int fd) {
  FAIL_IF(writes);
  return REAL(fsync)(fd);
}
int fdatasync(int fd) {
  FAIL_IF(writes);
  return REAL(fdatasync)(fd);
}
int ftruncate(int fd, off_t size) {
  FAIL_IF(writes);
  return REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  FAIL_IF(writes);
  return REAL(ftruncate64)(fd, size);
}
int fallocate(int fd, int mode, off_t at, off_t size) {
  FAIL_IF(writes);
  return REAL(fallocate)(fd, mode, at, size);
}
int fallocate64(int fd, int mode, off64_t at, off64_t size) {
  FAIL_IF(writes);
  return REAL(fallocate64)(fd, mode, at, size);
}
int fchmod(int fd, mode_t mode) {
  FAIL_IF(asks);
  return REAL(fchmod)(fd, mode);
}
int fstat(int fd, struct stat* to) {
  FAIL_IF(asks);
  return REAL(fstat)(fd, to);
}
int fstat64(int fd, struct stat64* to) {
  FAIL_IF(asks);
  return REAL(fstat64)(fd, to);
}
int rename(const char* from, const char* to) {
  FAIL_IF(names);
  return REAL(rename)(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  FAIL_IF(names);
  return REAL(linkat)(from_folder, from, to_folder, to, flags);
}
/// The descriptor is closed even where the call fails, as Linux does it.
int close(int fd) {
  const int error = error_of(closes);
  const int result = (int)syscall(SYS_close, fd);
  return error ? errno = error, -1 : result;
}

#define MMAP(name, offset)                                                                                        \
  void* name(void* at, size_t size, int protection, int flags, int fd, offset from) {                             \
    const int error = error_of(maps);                                                                             \
    if (error) return errno = error, MAP_FAILED;                                                                  \
    return REAL(name)(at, size, protection, flags, fd, from);                                                     \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)
