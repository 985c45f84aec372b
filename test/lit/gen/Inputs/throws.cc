// Functions of all kinds that share FDEs or do not: leaves, callee-saved registers, cleanups, landing pads,
// large frames, a realigned stack, a cold part. Prints what it computes, by exceptions and by returns.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

volatile int depth = 12;

template <int n> __attribute__((noinline)) long leaf(long a, long b) {
  return a * n + b;
}

template <int n> __attribute__((noinline)) long saves(long a, long b, long c, long d) {
  const long e = leaf<n>(a, b), f = leaf<n + 1>(c, d), g = leaf<n + 2>(a, d);
  return leaf<n>(e, f) + leaf<n>(g, e) + a + b + c + d + f * g;
}

template <int n> __attribute__((noinline)) long large(long a) {
  alignas(64) volatile char bytes[300];
  for (int i = 0; i < 300; ++i) bytes[i] = static_cast<char>(a + i);
  return bytes[n] + saves<n>(a, bytes[1], bytes[2], n);
}

struct Cleanup {
  std::string name;
  long* sum;
  ~Cleanup() { *sum += static_cast<long>(name.size()); }
};

template <int n> __attribute__((noinline)) long nested(int left, long* sum) {
  Cleanup cleanup{std::string(static_cast<std::size_t>(n + 20), 'x'), sum};
  if (left == 0) throw std::runtime_error("thrown");
  if (left < 0) std::abort();
  return nested<(n + 1) % 8>(left - 1, sum) + large<n>(left);
}

// Only passes exceptions on: it has no table.
template <int n> __attribute__((noinline)) long passes(int left, long* sum) {
  return n == 0 ? nested<0>(left, sum) : passes<(n > 0 ? n - 1 : 0)>(left, sum) + leaf<n>(left, n);
}

int main(int argc, char**) {
  long sum = argc;
  for (int i = 0; i < depth; ++i) try {
      sum += passes<16>(i, &sum);
    } catch (const std::exception& error) {
      sum += static_cast<long>(std::string(error.what()).size()) + large<5>(i);
    }
  std::printf("%ld\n", sum);
  std::fflush(stdout);
  if (argc > 2) passes<16>(-1, &sum); // dies far from main()
}
