// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names made of arbitrary bytes through demangle(), on a thread with a small stack. An input is a name in a
// short notation, so that mutations create nesting: bytes from 0x80 on are pieces of the grammars, the upper
// ones repeat the preceding piece. The cost of a name is checked: text and CPU time; -malloc_limit_mb checks
// memory. The result must be the same each time.

#include "sframe/names/demangle.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <string>
#include <string_view>

namespace demangle_fuzzer {

namespace {

// clang-format off
constexpr std::string_view pieces[] = {
    "_Z1f",   "_ZN",    "_RINvC1a1b", "_R",    "_D1a",  "1pI",  "1a",   "Dp",    "T_",   "T0_",  "S_",   "S0_",  "S1_",  "SZ_",
    "St4pair", "I",     "E",          "J",     "EE",    "Evv",  "K",    "P",     "R",    "O",    "A1_",  "F",    "Mi",   "u1aI",
    "U1a",    "X",      "ng",         "pl",    "Li1E",  "il",   "DT",   "Ul",    "vE_",  "Tp",   "Tt",   "Tn",   "Ty",   "Z",
    "Th0_",   "cv",     "B1a",        "LZ1fI", "sZ",    "fpT",  "sr",   "fl",    "B_",   "B0_",  "B1_",  "B8_",  "Bg_",  "TB",
    "FG_",    "FGzz_",  "Nt",         "NC",    "MC1a",  "XC1a", "Y",    "D",     "L_",   "Kj1_", "u4aaaa", "C1c",  "Qb",   "Qc",
    "4__S1",  "SP",     "dlT_",       "cl",    "tl",    "rqX",  "GTt",  "St",    "@V_1", ".llvm", "_ZGR", "17h0123456789abcdefE"};
// clang-format on
constexpr unsigned repeats[] = {2, 3, 4, 8, 16, 40, 100, 400, 1000, 3000};

std::string name_of(std::string_view input) {
  std::string name;
  std::string_view last = "P";
  for (std::size_t i = 0; i < input.size() && name.size() < 8300; ++i) {
    const auto code = static_cast<unsigned char>(input[i]);
    if (code < 0x80) {
      last = input.substr(i, 1);
      name += last;
    } else if (const unsigned piece = code - 0x80u; piece < std::size(pieces)) {
      name += last = pieces[piece];
    } else {
      const unsigned count = repeats[(piece - std::size(pieces)) % std::size(repeats)];
      for (unsigned n = 1; n < count && name.size() < 8300; ++n) name += last;
    }
  }
  return name;
}

void require(bool condition, const char* what, const std::string& name) {
  if (condition) return;
  std::fprintf(stderr, "demangle_fuzzer.cc: %s: %s\n", what, name.c_str());
  std::abort();
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void* run(void* argument) {
  const std::string& name = *static_cast<const std::string*>(argument);
  const double before = cpu_seconds();
  const std::string text = sframe::names::demangle(name);
  // About a millisecond without sanitizers.
  require(cpu_seconds() - before < 0.25, "too much time", name);
  require(text.size() <= std::max<std::size_t>(65536, name.size()), "too much text", name);
  require(text == sframe::names::demangle(name), "two answers", name);
  return nullptr;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string name = name_of({reinterpret_cast<const char*>(data), size});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t(1) << 20); // 128 KiB without sanitizers
  pthread_t thread;
  if (pthread_create(&thread, &attributes, run, &name) != 0) std::abort();
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return 0;
}

} // namespace demangle_fuzzer
