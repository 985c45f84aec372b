// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of generated code in a map, as node, Java and other runtimes write it for perf: by convention
// /tmp/perf-PID.map, a line `START SIZE NAME` per function, with hexadecimal numbers and the name up to the
// end of the line (Linux, tools/perf/Documentation/jit-interface.txt).

#pragma once

#include "sframe/base/problem.h"
#include "sframe/modules/symbols.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sframe::languages {

class PerfMap {
public:
  /// Reads a regular file. Linear in its size, which is limited by max_size. Lines that are none of a map
  /// are skipped.
  static Result<PerfMap> read(const std::string& path);
  /// The same of its text.
  static PerfMap parse(std::string_view text);

  static constexpr std::uint64_t max_size = std::uint64_t{256} << 20; ///< bytes

  /// The function that contains `lookup_pc`, with the offset of `pc`. Code moves: of functions at the same
  /// address the last one in the map counts. Logarithmic.
  std::optional<modules::FunctionName> find(std::uint64_t lookup_pc, std::uint64_t pc) const;

private:
  struct Function {
    std::uint64_t size = 0; ///< bytes
    std::string name;
  };
  void add(std::string_view line);

  std::map<std::uint64_t, Function> functions_; ///< by start
};

} // namespace sframe::languages
