// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// own_names: prints its own stack with functions, modules and source lines. A profiler does the same with the
// addresses that it has collected: names are looked up afterwards, never in a signal handler.

#include "sframe/here/here.h"
#include "sframe/modules/address_names.h"
#include "sframe/process/own_process.h"

#include <cstdint>
#include <cstdio>
#include <span>

namespace {

using sframe::modules::AddressKind;

int print_stack() {
  std::uint64_t frames[64];
  const auto walk = sframe::here::callers(frames);
  const auto own = sframe::process::OwnProcess::create();
  if (!own) {
    std::fprintf(stderr, "%s\n", own.error().text().c_str());
    return 1;
  }
  sframe::modules::AddressNames names((*own)->space());
  for (const std::uint64_t address : std::span(frames).first(walk.count)) {
    const auto name = names.find(address, AddressKind::return_address);
    std::puts(sframe::modules::address_text(name, address).c_str());
  }
  return 0;
}

} // namespace

// Not in the namespace, so that it has a name in .dynsym, too.
[[gnu::noinline]] int called_by_main() {
  const int code = print_stack();
  std::puts("walked"); // so that the call is no jump, and this frame is there
  return code;
}

int main() {
  const int code = called_by_main();
  std::puts("done");
  return code;
}
