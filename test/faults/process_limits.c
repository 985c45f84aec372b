/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   A library for LD_PRELOAD: when the program opens a file called AT, it finds that it has used CPU_MS
   milliseconds of processor time, and has the memory that the file STATM says. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  const char *ms = getenv("CPU_MS");
  int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID) return real(clock, time);
  /* The time of the thread stands still: the machine is fast. */
  const long value = clock == CLOCK_PROCESS_CPUTIME_ID && ms ? atol(ms) : 0;
  time->tv_sec = value / 1000;
  time->tv_nsec = value % 1000 * 1000000;
  return 0;
}

int open(const char *path, int flags, ...) {
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  const char *at = getenv("AT"), *other = getenv("STATM"), *name = strrchr(path, '/');
  struct sigaction watcher;
  if (at && strcmp(name ? name + 1 : path, at) == 0 && sigaction(SIGVTALRM, NULL, &watcher) == 0 && watcher.sa_handler != SIG_DFL)
    raise(SIGVTALRM);
  return real(other && strcmp(path, "/proc/self/statm") == 0 ? other : path, flags, mode);
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old) {
  (void)timer, (void)flags, (void)value, (void)old;
  return 0;
}

int timer_delete(timer_t timer) {
  (void)timer;
  static const char text[] = "no limits of the process\n";
  return write(2, text, sizeof text - 1) > 0 ? 0 : -1;
}
