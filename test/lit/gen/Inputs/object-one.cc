// One of two objects of a program that share COMDAT functions (an inline one, a template's), with realigned
// and dynamic stacks, landing pads, cold parts, and functions that nothing calls.
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

inline int twice(int x) {
  char dynamic[x];
  volatile char* p = dynamic;
  p[0] = static_cast<char>(x);
  return p[0] * 2;
}

template <class T> __attribute__((noinline)) T add(T a, T b) {
  std::vector<T> both{a};
  both.push_back(b);
  return both[0] + both[1];
}

int unused(int a) {
  return static_cast<int>(add<long>(a, 3)) + twice(9);
}

int other(int);

int main(int argc, char**) {
  std::map<std::string, int> numbers;
  numbers["one"] = twice(argc);
  try {
    if (add<int>(1, 2) != 3) throw std::runtime_error("one");
    numbers["two"] = other(argc);
  } catch (const std::out_of_range&) {
    return numbers["one"] == 2 ? 0 : 1;
  }
  return 2;
}
