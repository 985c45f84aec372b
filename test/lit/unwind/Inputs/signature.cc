// signature.cc HOW DEPTH: dies below functions whose names have all that signatures leave out.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef PADDING
// Another build: the functions are elsewhere, and have other offsets.
__attribute__((used, noinline)) int padding(int x) {
  return x * 3 + 1;
}
#endif

namespace {
enum class How { abort, check, fault, exception };

void die(How how) {
#ifdef PADDING
  static volatile int counted = padding(7);
  (void)counted;
#endif
  static volatile int* volatile nowhere = nullptr;
  assert(how != How::check);
  if (how == How::abort) std::abort();
  if (how == How::exception) throw std::string("nobody catches this");
  *nowhere = 1;
}

template <class T, class U> struct Worker {
  __attribute__((noinline)) int work(const std::vector<T>& items, U depth) const {
    if (depth == 0) die(static_cast<How>(items.front()));
    const int result = depth ? work(items, depth - 1) : 0;
    asm volatile("");
    return result + 1;
  }
};
} // namespace

template <class T> __attribute__((noinline)) std::vector<T> start(T how, long depth) {
  const Worker<T, long> worker;
  const auto run = [&](long extra) __attribute__((noinline)) {
    return worker.work({how}, depth + extra);
  };
  return {static_cast<T>(run(0))};
}

int main(int, char** argv) {
  const char* const names[] = {"abort", "check", "fault", "exception"};
  int how = 0;
  while (std::strcmp(names[how], argv[1]) != 0) ++how;
  return start<int>(how, std::atol(argv[2])).front() & 1;
}
