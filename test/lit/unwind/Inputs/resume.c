/* Makes a child that stops in stop_here() go on in main's child(), as if the function had returned 42: unw_set_reg and unw_resume by the ready
   accessors for ptrace. Exits with what the child then exits with. */
#include <libunwind-ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int always = 1;

__attribute__((noinline)) int stop_here(void) {
  raise(SIGSTOP);
  while (always) pause(); /* never returns by itself */
  return 0;
}

__attribute__((noinline)) void child(void) {
  alarm(60); /* it ends in any case */
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  _exit(stop_here());
}

int main(void) {
  int status;
  const pid_t pid = fork();
  if (pid == 0) child();
  waitpid(pid, &status, 0);
  unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
  void *target = _UPT_create(pid);
  unw_cursor_t cursor;
  char name[64] = "";
  int code = unw_init_remote(&cursor, space, target);
  while (code >= 0 && strcmp(name, "child")) {
    code = unw_step(&cursor);
    if (code <= 0) break;
    unw_get_proc_name(&cursor, name, sizeof name, NULL);
  }
  printf("%s\n", name);
#if defined(__x86_64__)
  unw_set_reg(&cursor, UNW_X86_64_RAX, 42);
#elif defined(__aarch64__)
  unw_set_reg(&cursor, UNW_AARCH64_X0, 42);
#elif defined(__s390x__)
  unw_set_reg(&cursor, UNW_S390X_R2, 42);
#endif
  code = unw_resume(&cursor);
  if (code < 0) {
    printf("%s\n", unw_strerror(code));
    ptrace(PTRACE_KILL, pid, 0, 0);
  }
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status)) kill(pid, SIGKILL);
  printf("exited with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -status);
  _UPT_destroy(target);
  unw_destroy_addr_space(space);
  return 0;
}
