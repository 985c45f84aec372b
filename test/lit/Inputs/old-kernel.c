// To be preloaded: $MISSING names what the kernel does not have: landlock, seccomp, fork (no further process may be made),
// threads (no thread may be).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static int lacks(const char* what) {
  const char* missing = getenv("MISSING");
  return missing && strstr(missing, what);
}

long syscall(long number, ...) {
  long a[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(rest, long);
  va_end(rest);
  if (number >= 444 && number <= 446 && lacks("landlock")) return errno = ENOSYS, -1;
  long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int prctl(int option, ...) {
  unsigned long a[4];
  va_list rest;
  va_start(rest, option);
  for (int i = 0; i < 4; ++i) a[i] = va_arg(rest, unsigned long);
  va_end(rest);
  if (option == PR_SET_SECCOMP && lacks("seccomp")) return errno = EINVAL, -1;
  int (*next)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
  return next(option, a[0], a[1], a[2], a[3]);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  if (lacks("threads")) return EAGAIN;
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, run, argument);
}

pid_t fork(void) {
  if (lacks("fork")) return errno = EAGAIN, -1;
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
  return next();
}
