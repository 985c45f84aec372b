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
#include <span>
#include <string>
#include <string_view>

namespace sframe::languages {

class PerfMap {
public:
  /// Reads a regular file. Linear in its size, which is limited by max_size. Lines that are none of a map
  /// are skipped.
  static Result<PerfMap> read(const std::string& path);
  /// Keeps what find() needs for these addresses only, which are sorted: takes no more memory for a large
  /// map.
  static Result<PerfMap> read(const std::string& path, std::span<const std::uint64_t> wanted);
  /// The same of its text.
  static PerfMap parse(std::string_view text);
  static PerfMap parse(std::string_view text, std::span<const std::uint64_t> wanted);

  static constexpr std::uint64_t max_size = std::uint64_t{256} << 20; ///< bytes

  /// The function that contains `lookup_pc`, with the offset of `pc`. Code moves: of functions at the same
  /// address the last one in the map counts. Logarithmic.
  std::optional<modules::FunctionName> find(std::uint64_t lookup_pc, std::uint64_t pc) const;

private:
  struct Function {
    std::uint64_t size = 0; ///< bytes
    std::string name;
  };
  using Wanted = std::optional<std::span<const std::uint64_t>>;
  static Result<PerfMap> read_for(const std::string& path, Wanted wanted);
  static PerfMap parse_for(std::string_view text, Wanted wanted);
  void add(std::string_view line, Wanted wanted);
  bool make_room(std::uint64_t start, std::span<const std::uint64_t> wanted);

  std::map<std::uint64_t, Function> functions_; ///< by start
};

} // namespace sframe::languages
