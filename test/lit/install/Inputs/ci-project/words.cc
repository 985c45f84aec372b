#include <string>

std::string greeting(const char* name) {
  return std::string("hello, ") + name;
}
