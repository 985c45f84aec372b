#include <stdio.h>
#include <sframe-api.h>

int main(int argc, char** argv) {
  static char bytes[1 << 16];
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  int error = 0;
  sframe_decoder_ctx* decoder = sframe_decode(bytes, size, &error);
  if (!decoder) {
    printf("%s\n", sframe_errmsg(error));
    return 1;
  }
  printf("version %d, %u functions\n", sframe_decoder_get_version(decoder), (unsigned)sframe_decoder_get_num_fidx(decoder));
  sframe_decoder_free(&decoder);
  return 0;
}
