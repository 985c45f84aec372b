/* A write past the end of a block of memory, found when the next one is freed. */
#include <stdlib.h>
#include <string.h>

struct user {
  char *name, *group;
};

static int users;

__attribute__((noinline)) static struct user new_user(const char *name) {
  struct user user = {malloc(strlen(name)), malloc(16)}; /* no room for the zero */
  strcpy(user.name, name);
  ++users;
  return user;
}

__attribute__((noinline)) static void delete_user(struct user user) {
  free(user.group);
  free(user.name);
  --users;
}

int main(int argc, char **argv) {
  delete_user(new_user(argc > 1 ? argv[1] : "Wolfeschlegelsteinhausen"));
  return users;
}
