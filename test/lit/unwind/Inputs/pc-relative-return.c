// main > work > (jump) stub > die.
#include <stdlib.h>
void work(void);
volatile int sink;
void die(void) {
  abort();
}
int main(void) {
  work();
  return sink;
}
