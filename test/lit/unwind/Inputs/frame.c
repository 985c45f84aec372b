// A function whose frame has BYTES bytes and whose code is as long for every choice below 112.
#include <stdlib.h>

__attribute__((noinline, optimize("omit-frame-pointer"))) int work(int n) {
  volatile char bytes[BYTES];
  bytes[n] = 1;
  if (n) abort();
  return bytes[0];
}
int main(int argc, char** argv) {
  return work(argc) + 1;
}
