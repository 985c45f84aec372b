int outermost(int n);
int main(int argc, char** argv) {
  return outermost(argc) + 1;
}
