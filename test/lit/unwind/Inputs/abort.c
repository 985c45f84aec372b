#include <stdlib.h>

__attribute__((noinline)) int work(int n) {
  if (n) abort();
  return n + 1;
}

int main(int argc, char** argv) {
  return work(argc) + 1;
}
