/* A name that is too long for its place overwrites the pointer after it. */
#include <stdio.h>
#include <stdlib.h>

struct route {
  char name[8];
  struct route *next;
};

__attribute__((noinline)) static void set_name(struct route *route, const char *name) { sprintf(route->name, "%s", name); }

__attribute__((noinline)) static int count_routes(const struct route *route) {
  int count = 0;
  for (; route; route = route->next) ++count;
  return count;
}

int main(int argc, char **argv) {
  struct route *route = calloc(1, sizeof(*route));
  set_name(route, argc > 1 ? argv[1] : "Paddington Green");
  printf("%d\n", count_routes(route));
}
