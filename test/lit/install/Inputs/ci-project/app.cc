#include <cstdio>
#include <string>

std::string greeting(const char* name);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::puts(greeting(argv[i]).c_str());
}
