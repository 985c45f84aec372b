/* Calls the library of levels.c. */
void set_levels(void);

__attribute__((noinline)) static void start(int count) {
  for (int i = 0; i < count; ++i) set_levels();
}

int main(int argc, char **argv) {
  start(argc);
  return argv[0] == 0;
}
