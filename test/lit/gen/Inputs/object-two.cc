// The other object: object-one.cc has the reason.
#include <map>
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

int also_unused(int x) {
  return x * twice(5);
}

int other(int x) {
  std::map<std::string, int> numbers;
  numbers["zero"] = x;
  return numbers.at(add<int>(x, twice(4)) == 9 ? "none" : "zero");
}
