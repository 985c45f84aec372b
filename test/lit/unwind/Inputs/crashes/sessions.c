/* A server whose worker uses a session that was not found. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct session {
  const char *user;
  long requests;
};

static struct session sessions[] = {{"alice", 0}, {"bob", 0}};

static struct session *find_session(const char *user) {
  for (size_t i = 0; i < sizeof(sessions) / sizeof(sessions[0]); ++i)
    if (strcmp(sessions[i].user, user) == 0) return &sessions[i];
  return NULL;
}

__attribute__((noinline)) static void count_request(const char *user) {
  struct session *session = find_session(user);
  session->requests++;
}

__attribute__((noinline)) static void handle(const char *line) {
  char user[32];
  strncpy(user, line + strlen("GET "), sizeof(user) - 1);
  user[sizeof(user) - 1] = 0;
  count_request(user);
}

static pthread_barrier_t started;

static void *worker(void *line) {
  pthread_setname_np(pthread_self(), "worker");
  pthread_barrier_wait(&started); /* no thread is new when one dies */
  if (line) handle(line);
  for (;;) pause();
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&started, NULL, 5);
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, worker, i == 3 ? "GET carol" : NULL);
  pthread_barrier_wait(&started);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}
