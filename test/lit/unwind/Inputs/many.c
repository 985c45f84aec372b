// many.c abort|fault: two ways to die.
#include <stdlib.h>

void stops(void) { abort(); }
static volatile int* volatile nowhere;
void breaks(void) { *nowhere = 1; }
int works(int fault) {
  if (fault)
    breaks();
  else
    stops();
  return fault + 1;
}
int main(int argc, char** argv) { return works(argc > 1 && argv[1][0] == 'f') + 1; }
