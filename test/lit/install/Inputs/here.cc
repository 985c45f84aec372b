#include <cinttypes>
#include <cstdio>
#include <sframe/here/here.h>

[[gnu::noinline]] std::size_t called_by_main() {
  std::uint64_t frames[16];
  const auto walk = sframe::here::callers(frames);
  std::printf("%s\n", sframe::unwind::message(walk.end));
  return walk.count;
}

int main() {
  // called_by_main, main, and the C library's and the program's start.
  return called_by_main() >= 4 ? 0 : 1;
}
