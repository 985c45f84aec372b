/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   A library for LD_PRELOAD: each time the program opens a file whose name matches AT, or has closed one whose name
   matches CLOSED, it finds that it has used the next of the CPU_MS milliseconds of processor time (a list with
   commas; the last one stays), and has the memory that the file STATM says. SYNC=2: also when it writes a file to
   the disk for the second time. NO_TIMER: there is none. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int watched = -1;
static long times, syncs;

/* Calls no handler that would interrupt system calls: some of them would fail. */
static void pass_time(void) {
  struct sigaction watcher;
  if (sigaction(SIGVTALRM, NULL, &watcher) != 0 || watcher.sa_handler == SIG_DFL || !(watcher.sa_flags & SA_RESTART)) return;
  ++times;
  raise(SIGVTALRM);
}

static int matches(const char *variable, const char *path) {
  const char *pattern = getenv(variable), *name = strrchr(path, '/');
  return pattern && fnmatch(pattern, name ? name + 1 : path, 0) == 0;
}

static long used_ms(void) {
  const char *ms = getenv("CPU_MS");
  for (long i = 1; ms && i < times && strchr(ms, ','); ++i) ms = strchr(ms, ',') + 1;
  return ms ? atol(ms) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (clock != CLOCK_PROCESS_CPUTIME_ID) return real(clock, time);
  const long ms = used_ms();
  time->tv_sec = ms / 1000;
  time->tv_nsec = ms % 1000 * 1000000;
  return 0;
}

int open(const char *path, int flags, ...) {
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  const char *other = getenv("STATM");
  const int is_statm = strcmp(path, "/proc/self/statm") == 0;
  if (is_statm && !(flags & O_CLOEXEC)) return errno = EACCES, -1;
  if (matches("AT", path)) pass_time();
  const int fd = real(other && is_statm ? other : path, flags, mode);
  if (matches("CLOSED", path)) watched = fd;
  return fd;
}

/* Fortified code calls this where the compiler does not know the flags. */
int __open_2(const char *path, int flags) {
  return open(path, flags);
}

int close(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
  const int result = real(fd);
  if (fd == watched && fd >= 0) watched = -1, pass_time();
  return result;
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  const char *sync = getenv("SYNC");
  if (sync && ++syncs == atol(sync)) pass_time();
  return real(fd);
}

/* The handler runs when the time has passed above, and must also be called soon after real work. */
int timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old) {
  (void)timer, (void)old;
  const int is_soon = value->it_interval.tv_sec == 0 && value->it_value.tv_sec == 0 && value->it_value.tv_nsec <= 100000000;
  const int is_rare = value->it_interval.tv_nsec >= 5000000;
  return getenv("NO_TIMER") || flags != 0 || !is_soon || !is_rare ? -1 : 0;
}

int timer_delete(timer_t timer) {
  (void)timer;
  static const char text[] = "no limits of the process\n";
  return write(2, text, sizeof text - 1) > 0 ? 0 : -1;
}
