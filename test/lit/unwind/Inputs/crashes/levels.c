/* A library with a table of pointers that nobody filled in. */
struct level {
  int value;
};

static struct level *levels[4];

__attribute__((noinline)) static void set_level(int number) { levels[number]->value = 3; }

void set_levels(void) {
  for (int i = 0; i < 4; ++i) set_level(i);
}
