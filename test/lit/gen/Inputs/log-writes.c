// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preloaded, this logs what the program does to files, one line each, for replay-prefixes.py: WRITES_LOG is the log, WRITES_FILES the names of files that are there
// before, divided by colons. NO_TMPFILE: files without a name cannot be made.
//
//   link INODE NAME · rename FROM TO · unlink NAME · write INODE OFFSET HEX · truncate INODE SIZE · sync INODE · sync-folder
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static FILE* output;

static unsigned long inode(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

static int is_file(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && fileno(output) != fd;
}

static void link_line(const char* name) {
  struct stat info;
  const char* slash = strrchr(name, '/');
  if (stat(name, &info) == 0 && S_ISREG(info.st_mode)) fprintf(output, "link %lu %s\n", (unsigned long)info.st_ino, slash ? slash + 1 : name);
}

__attribute__((constructor)) static void start(void) {
  output = fopen(getenv("WRITES_LOG"), "ae");
  setvbuf(output, NULL, _IOLBF, 1 << 20);
  char* files = strdup(getenv("WRITES_FILES"));
  for (char* name = strtok(files, ":"); name; name = strtok(NULL, ":")) link_line(name);
  fprintf(output, "start\n");
}

static void write_line(int fd, off_t offset, const void* data, size_t size) {
  fprintf(output, "write %lu %ld ", inode(fd), (long)offset);
  for (size_t i = 0; i < size; ++i) fprintf(output, "%02x", ((const unsigned char*)data)[i]);
  fprintf(output, "\n");
}

ssize_t write(int fd, const void* data, size_t size) {
  const off_t offset = lseek(fd, 0, SEEK_CUR);
  const ssize_t done = NEXT(write)(fd, data, size);
  const int error = errno;
  if (done > 0 && is_file(fd)) write_line(fd, offset, data, done);
  errno = error;
  return done;
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  const ssize_t done = NEXT(pwrite)(fd, data, size, offset);
  const int error = errno;
  if (done > 0 && is_file(fd)) write_line(fd, offset, data, done);
  errno = error;
  return done;
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t offset) { return pwrite(fd, data, size, offset); }

ssize_t copy_file_range(int from, off_t* in, int to, off_t* out, size_t size, unsigned flags) {
  const off_t source = in ? *in : lseek(from, 0, SEEK_CUR), target = out ? *out : lseek(to, 0, SEEK_CUR);
  const ssize_t done = NEXT(copy_file_range)(from, in, to, out, size, flags);
  const int error = errno;
  if (done > 0) {
    void* data = malloc(done);
    if (pread(from, data, done, source) != done) abort();
    write_line(to, target, data, done);
    free(data);
  }
  errno = error;
  return done;
}

int ftruncate(int fd, off_t size) {
  const int result = NEXT(ftruncate)(fd, size);
  if (result == 0) fprintf(output, "truncate %lu %ld\n", inode(fd), (long)size);
  return result;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int fsync(int fd) {
  const int result = NEXT(fsync)(fd);
  if (result == 0) is_file(fd) ? fprintf(output, "sync %lu\n", inode(fd)) : fprintf(output, "sync-folder\n");
  return result;
}

int rename(const char* from, const char* to) {
  const int result = NEXT(rename)(from, to);
  if (result == 0) fprintf(output, "rename %s %s\n", strrchr(from, '/') ? strrchr(from, '/') + 1 : from, strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
  return result;
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  const int result = NEXT(linkat)(from_folder, from, to_folder, to, flags);
  const int error = errno;
  if (result == 0) link_line(to);
  errno = error;
  return result;
}

int unlink(const char* name) {
  const int result = NEXT(unlink)(name);
  if (result == 0) fprintf(output, "unlink %s\n", strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
  return result;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_TMPFILE")) return errno = EOPNOTSUPP, -1;
  const int fd = NEXT(open)(path, flags, mode);
  const int error = errno;
  if (fd >= 0 && flags & O_CREAT) link_line(path);
  if (fd >= 0 && flags & O_TRUNC && is_file(fd)) fprintf(output, "truncate %lu 0\n", inode(fd));
  errno = error;
  return fd;
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return open(path, flags, mode);
}
