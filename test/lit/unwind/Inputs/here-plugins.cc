// here-plugins [-n] PLUGIN...: loads the plug-ins one after the other, walks the stack from a callback of
// each and unloads it, without refresh(). Counts walks that differ from libgcc's, by kind of walk: right,
// missing (frames that libgcc finds are left out, the others are right), wrong. -n: each in a namespace of
// its own.

#include "sframe/here/here.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include <dlfcn.h>
#include <ucontext.h>
#include <unwind.h>

namespace {

using namespace sframe;

struct Stack {
  std::uint64_t pcs[64] = {};
  std::size_t count = 0;

  /// Without the first frames, which are those of the places of the calls.
  std::span<const std::uint64_t> outer(std::size_t skip) const {
    return std::span(pcs, count).subspan(std::min(skip, count));
  }
};

struct Counts {
  const char* name;
  long right = 0, missing = 0, wrong = 0;

  void add(std::span<const std::uint64_t> found, std::span<const std::uint64_t> expected) {
    const bool same = std::ranges::equal(found.first(std::min(found.size(), expected.size())),
                                         expected.first(std::min(found.size(), expected.size())));
    ++(!same || found.size() > expected.size() ? wrong : found.size() < expected.size() ? missing : right);
  }
  void print() const { std::printf("%s: right %ld, missing %ld, wrong %ld\n", name, right, missing, wrong); }
};
Counts plain{"callers"}, before{"handler before"}, after{"handler after"}, in_context{"context"};

[[gnu::noinline]] Stack by_libgcc() {
  Stack stack;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* to) {
        Stack& stack = *static_cast<Stack*>(to);
        if (const auto pc = _Unwind_GetIP(context)) stack.pcs[stack.count++] = pc;
        return _URC_NO_REASON;
      },
      &stack);
  return stack;
}

void on_signal(int, siginfo_t*, void* context) {
  Stack ours;
  const Stack theirs = by_libgcc();
  ours.count = here::callers_in_context(*static_cast<const ucontext_t*>(context), ours.pcs).count;
  // libgcc's has this function and the signal frame before the interrupted one.
  const auto interrupted = std::find(theirs.pcs, theirs.pcs + theirs.count, ours.pcs[0]) - theirs.pcs;
  in_context.add(ours.outer(0), theirs.outer(static_cast<std::size_t>(interrupted)));
}

void walk() {
  Stack first, ours, last;
  std::raise(SIGUSR1);
  first.count = here::callers_in_handler(first.pcs).count;
  ours.count = here::callers(ours.pcs).count; // makes tables
  last.count = here::callers_in_handler(last.pcs).count;
  const Stack theirs = by_libgcc();
  // by_libgcc() and this function come first.
  before.add(first.outer(1), theirs.outer(2));
  plain.add(ours.outer(1), theirs.outer(2));
  after.add(last.outer(1), theirs.outer(2));
}

} // namespace

int main(int argc, char** argv) {
  const bool apart = argc > 1 && std::strcmp(argv[1], "-n") == 0;
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
  by_libgcc(); // loads what it needs
  here::refresh();
  const void* place = nullptr;
  long again = 0;
  for (int round = 0; round < 100; ++round)
    for (int i = 1 + apart; i < argc; ++i) {
      void* const plugin = apart ? dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW) : dlopen(argv[i], RTLD_NOW);
      if (!plugin) {
        std::puts(dlerror());
        return 2;
      }
      const auto callback = reinterpret_cast<void (*)(void (*)())>(dlsym(plugin, "callback"));
      again += reinterpret_cast<const void*>(callback) == place;
      place = reinterpret_cast<const void*>(callback);
      callback(walk);
      dlclose(plugin);
    }
  std::printf("at the place of the one before: %s\n", again ? "some" : "none");
  for (const Counts* counts : {&plain, &before, &after, &in_context}) counts->print();
}
