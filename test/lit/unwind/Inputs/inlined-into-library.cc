/* Crashes in code that the compiler inlines into the standard library: HOW. The library's functions are not
inlined into main, because they are called by threads, or are recursive. */
#include <algorithm>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace core {
struct Engine {
  int* state;
  __attribute__((noinline)) int tick(int n) { return *state + n; }
};
} // namespace core

struct Order {
  int id;
  const int* key;
};

__attribute__((noinline)) static void sort_orders(std::vector<Order>& orders) {
  std::sort(orders.begin(), orders.end(), [](const Order& a, const Order& b) { return *a.key < *b.key; });
}

__attribute__((noinline)) static void save() {
  try {
    throw std::runtime_error("disk is full");
  } catch (...) {
    std::throw_with_nested(std::logic_error("cannot save"));
  }
}

static int pay(int n) {
  const volatile int* nothing = nullptr;
  return nothing[n];
}

int main(int argc, char** argv) {
  const std::string how = argv[1];
  if (how == "namespace") return core::Engine{nullptr}.tick(argc) + 1;
  if (how == "nested") save();
  if (how == "sort") {
    const int key = 3;
    std::vector<Order> orders;
    for (int i = 0; i < 40; ++i) orders.push_back({i, i == 17 ? nullptr : &key});
    sort_orders(orders);
  }
  if (how == "first") std::thread([] { throw std::runtime_error("first"); }).join();
  if (how == "second") std::thread([argc] { throw std::logic_error(std::to_string(argc)); }).join();
  if (how == "async") return std::async(std::launch::async, [argc] { return pay(argc); }).get();
}
