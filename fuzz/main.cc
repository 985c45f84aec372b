// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program for all targets, so that it is linked only once. The name that it is called by selects the
// target. NAME-fuzzer are links to it, so that processes that libFuzzer starts (-merge=1, -jobs) use the same
// target.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// Each NAME_fuzzer.cc is compiled with LLVMFuzzerTestOneInput as fuzz_NAME.
#define SFRAME_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
SFRAME_TARGETS
#undef SFRAME_TARGET

namespace {

struct Target {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

#define SFRAME_TARGET(name) {#name, fuzz_##name},
constexpr Target targets[] = {SFRAME_TARGETS};
#undef SFRAME_TARGET

const Target* chosen = nullptr;

} // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  std::string_view name = (*arguments)[0];
  name = name.substr(name.rfind('/') + 1);
  name = name.substr(0, name.find("-fuzzer"));
  for (const Target& target : targets)
    if (target.name == name) chosen = &target;
  if (chosen) return 0;
  std::fprintf(stderr, "call this as NAME-fuzzer, by a link; NAME:");
  for (const Target& target : targets) std::fprintf(stderr, " %s", target.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return chosen->run(data, size);
}
