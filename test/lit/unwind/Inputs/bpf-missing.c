// bpf-missing [BTF]: what the kernel with these types lacks.
#include <sframe/bpf/tables.h>
#include <stdio.h>

int main(int argc, char** argv) {
  char text[512], few[8];
  const int count = sframe_bpf_missing(argc > 1 ? argv[1] : NULL, text, sizeof text);
  sframe_bpf_missing(argc > 1 ? argv[1] : NULL, few, sizeof few);
  printf("%d missing: %s|%s\n", count, text, few);
  return 0;
}
