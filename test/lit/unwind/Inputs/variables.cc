// What C++ adds: references, bases, members of all kinds, this, templates.
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace shapes {

enum class Kind : unsigned char { none, round = 3 };

struct Base {
  int id = 7;
  virtual ~Base() = default;
  virtual int area(int scale) = 0;
};

struct Tag {};

struct Circle final : Base, Tag {
  static int count;
  Kind kind = Kind::round;
  double radius = 1.5;
  union {
    int whole;
    char parts[4];
  };
  int Circle::*member = &Circle::whole;
  explicit Circle(int value) : whole(value) {}
  __attribute__((noinline)) int area(int scale) override;
};
int Circle::count = 1;

template <class T> struct Pair { T first, second; };

} // namespace shapes

volatile int sink;

__attribute__((noinline)) int fail(const shapes::Pair<long>& pair, int&& moved, std::string_view text,
                                   bool yes, char16_t wide, decltype(nullptr) nothing) {
  auto lambda = [&](int extra) { return extra + static_cast<int>(pair.first); };
  const int& same = moved;
  if (yes) std::abort();
  sink = same + static_cast<int>(text.size()) + wide + (nothing == nullptr);
  return lambda(moved);
}

int shapes::Circle::area(int scale) {
  Pair<long> pair = {scale, -scale};
  __extension__ __int128 large = static_cast<__int128>(scale) << 70;
  const int result = fail(pair, scale * 3, "text", scale > 0, u'w', nullptr);
  sink = static_cast<int>(large >> 70) + static_cast<int>(pair.first);
  return result + whole;
}

int main(int argc, char**) {
  shapes::Circle circle(argc * 0x41424344);
  shapes::Base& base = circle;
  shapes::Kind unknown = static_cast<shapes::Kind>(argc + 8);
  const int result = base.area(argc + 4);
  sink = circle.kind == unknown;
  return result;
}
