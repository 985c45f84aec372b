/* Functions for Windows that call those of the System V ABI. */
__attribute__((noinline)) static int system_v(int a) {
  static volatile int kept;
  kept = a;
  return kept * 3;
}

__attribute__((ms_abi, noinline)) static int plain(int a) {
  return system_v(a) + 1;
}

__attribute__((ms_abi, noinline)) static int saves_fp(int a) {
  return system_v(a) + system_v(a + 1);
}

int main(int argc, char **argv) {
  (void)argv;
  return plain(argc) + saves_fp(argc) != 13;
}
