// A function whose last instructions restore registers, one after the other.
volatile int sink;
__attribute__((noipa)) int leaf(int a) {
  return sink += a;
}
__attribute__((noipa)) int saves(int a, int b, int c) {
  int first = leaf(a), second = leaf(b), third = leaf(c);
  return leaf(4) + first * second * third;
}
int main(void) {
  return saves(1, 2, 3) == 0;
}
