// Overflows its stack: tens of thousands of frames.
__attribute__((noinline)) int deeper(volatile int* counter) {
  volatile char bytes[240];
  bytes[0] = 1;
  ++*counter;
  return deeper(counter) + bytes[0];
}

int main(void) {
  volatile int counter = 0;
  return deeper(&counter);
}
