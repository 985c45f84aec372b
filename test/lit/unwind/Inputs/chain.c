/* Compiled without debug information, ten functions between the fault and main. */
#ifdef MAIN
int chain(int (*function)(int), int depth);
int main(int argc, char **argv) {
  (void)argv;
  return chain((int (*)(int))0, 10 * argc) + 1;
}
#else
int chain(int (*function)(int), int depth) {
  return (depth ? chain(function, depth - 1) : function(1)) + 1;
}
#endif
