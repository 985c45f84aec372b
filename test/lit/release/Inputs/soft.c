#include <string.h>

int main(int argc, char** argv) {
  char text[16];
  strcpy(text, argv[argc - 1]);
  return text[0];
}
