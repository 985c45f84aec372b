// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// own_symbols CORE MAP: a user-defined symbol lookup. Code made at run time is in no file. A JIT compiler
// can write its names to a map, by convention /tmp/perf-PID.map: a line `START SIZE NAME` per function, with
// hexadecimal numbers and the name up to the end of the line. All other names come from the ready lookup.
// Try it on targets/jit.c.

#include "print_frames.h"

#include "sframe/process/open_core.h"
#include "sframe/steppers/steppers.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace sframe;

class PerfMap final : public modules::SymbolLookup {
public:
  explicit PerfMap(std::istream& lines) {
    for (std::string line; std::getline(lines, line);) add(line);
  }

  std::optional<modules::FunctionName> find(modules::Module& module, std::uint64_t lookup_pc,
                                            std::uint64_t pc) override {
    return files_.find(module, lookup_pc, pc);
  }

  std::optional<modules::FunctionName> find_outside(std::uint64_t lookup_pc, std::uint64_t pc) override {
    const auto after = functions_.upper_bound(lookup_pc);
    if (after == functions_.begin()) return std::nullopt;
    const auto& [start, function] = *std::prev(after);
    if (lookup_pc - start >= function.size) return std::nullopt;
    return modules::FunctionName{function.name, pc - start};
  }

private:
  struct Function {
    std::uint64_t size = 0;
    std::string name;
  };

  /// Invalid lines are skipped.
  void add(std::string_view line) {
    std::uint64_t start = 0, size = 0;
    const char* const end = line.data() + line.size();
    const auto first = std::from_chars(line.data(), end, start, 16);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return;
    const auto second = std::from_chars(first.ptr + 1, end, size, 16);
    if (second.ec != std::errc() || second.ptr == end || *second.ptr != ' ') return;
    functions_[start] = {size, std::string(second.ptr + 1, end)}; // the last entry for an address is current
  }

  std::map<std::uint64_t, Function> functions_; ///< by start
  modules::ElfSymbols files_;
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: own_symbols CORE MAP\n", stderr);
    return 2;
  }
  const auto core = process::open_core(argv[1]);
  if (!core) {
    std::fprintf(stderr, "%s: %s\n", argv[1], core.error().text().c_str());
    return 2;
  }
  std::ifstream lines(argv[2]);
  if (!lines) {
    std::fprintf(stderr, "%s: cannot be read\n", argv[2]);
    return 2;
  }

  process::CoreProcess& process = *(*core)->process;
  process::CoreSpace& space = process.space();
  unwind::Walker walker(space, steppers::default_steppers(space.abi(), space.main_module()));
  PerfMap symbols(lines);
  return example::print_stacks(walker, process, symbols) ? 0 : 1;
}
