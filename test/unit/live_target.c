// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process used by the tests of live processes. It performs the actions of the letters on its standard
// input, and answers each with the letter when it is done. A second thread, the worker, only answers: on
// descriptors 3 (in) and 4 (out). In C and without sanitizers, whose runtimes interfere with threads and
// process exit.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char* self;
static void* library;
static sem_t thread_may_end;
static pthread_t thread;
volatile unsigned long known_word = 0x1122334455667788; // the tests read it

static void nothing(int signal) {
  (void)signal;
}

__attribute__((noinline)) void answer(int in, int out, void (*act)(char)) {
  char letter;
  while (read(in, &letter, 1) == 1) {
    if (act) act(letter);
    if (write(out, &letter, 1) != 1) break;
  }
}

static void* worker(void* argument) {
  answer(3, 4, NULL);
  return argument;
}

static void* wait_for_end(void* argument) {
  sem_wait(&thread_may_end);
  return argument;
}

static void* return_at_once(void* argument) {
  return argument;
}

// Threads come and go, a library is loaded and unloaded, until the process is killed.
static void* churn(void* argument) {
  for (;;) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, return_at_once, NULL);
    void* loaded = dlopen("libresolv.so.2", RTLD_NOW);
    if (loaded) dlclose(loaded);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
  return argument;
}

// Runs this program anew; its worker answers again when it does.
static void* run_anew(void* argument) {
  execl(self, self, NULL);
  return argument;
}

// Cannot be interrupted until its child, which has its memory meanwhile, has read a letter.
static void borrow(void) {
  char letter;
  const pid_t child = vfork();
  if (child == 0) _exit(read(0, &letter, 1) != 1);
  waitpid(child, NULL, 0);
}

static void* borrow_too(void* argument) {
  borrow();
  return argument;
}

// Threads that cannot be interrupted, until a letter is written for each.
static void start_borrowers(void) {
  pthread_t threads[6];
  for (int i = 0; i < 6; ++i) pthread_create(&threads[i], NULL, borrow_too, NULL);
}

static void write_address(void) {
  const volatile unsigned long* address = &known_word;
  if (write(1, &address, sizeof address) != sizeof address) _exit(1);
}

static void make_child(pid_t (*make)(void)) {
  const pid_t child = make();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

static void act(char letter) {
  switch (letter) {
  case 't': pthread_create(&thread, NULL, wait_for_end, NULL); break;
  case 'e': sem_post(&thread_may_end), pthread_join(thread, NULL); break;
  case 'f': make_child(fork); break;
  case 'v': make_child(vfork); break;
  case 's': raise(SIGUSR1); break;
  case 'l': library = dlopen("libresolv.so.2", RTLD_NOW); break;
  case 'u': dlclose(library); break;
  case 'c': pthread_create(&thread, NULL, churn, NULL); break;
  case 'x': run_anew(NULL); break;
  case 'X': pthread_create(&thread, NULL, run_anew, NULL), pthread_join(thread, NULL); break;
  case 'p': pthread_exit(NULL);
  case 'a': write_address(); break;
  case 'b': borrow(); break;
  case 'B': start_borrowers(); break;
  case 'q': _exit(7);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  self = argv[0];
  signal(SIGUSR1, nothing);
  sem_init(&thread_may_end, 0, 0);
  pthread_t second;
  pthread_create(&second, NULL, worker, NULL);
  pthread_setname_np(second, "worker");
  answer(0, 1, act);
  return 0;
}
