// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A deterministic section like that of a big program. It has functions of 16 bytes to some KiB, with one to a
// dozen rows each, about six on average, and the prologues and epilogues that compilers generate.

#pragma once

#include "sframe/builder.h"

#include <cstdint>
#include <random>
#include <vector>

namespace sframe::bench {

struct MadeFunction {
  Fde fde;
  std::vector<FrameRow> rows;
};

inline std::vector<MadeFunction> make_functions(std::uint32_t count) {
  auto random = [engine = std::mt19937(42)]() mutable { return static_cast<std::uint32_t>(engine()); };
  const AbiTraits& abi = traits(Abi::amd64);
  std::vector<MadeFunction> functions(count);
  std::uint64_t at = 0x401000;
  for (MadeFunction& function : functions) {
    const std::uint32_t pushes = random() % 6;
    FrameRow row = abi.entry_row();
    function.rows.push_back(row);
    for (std::uint32_t i = 0; i < pushes; ++i) { // push, push, sub
      row.offset += 1 + random() % 3;
      row.cfa.offset +=
          i + 1 == pushes && pushes > 2 ? 8 * (1 + static_cast<std::int32_t>(random() % 60)) : 8;
      if (i == 2) row.fp = Rule::at_cfa(-row.cfa.offset);
      function.rows.push_back(row);
    }
    row.offset += 8 + random() % 400;
    for (std::uint32_t i = 0; i < pushes; ++i) { // pop, pop, ret
      row.offset += 1 + random() % 2;
      row.cfa.offset = 8 * static_cast<std::int32_t>(pushes - i);
      if (i + 3 >= pushes) row.fp = Rule::same();
      function.rows.push_back(row);
    }
    function.fde.start = at;
    function.fde.size = row.offset + 1 + random() % 32;
    at += (function.fde.size + 15) & ~15ull;
  }
  return functions;
}

inline std::vector<std::byte> encode(const std::vector<MadeFunction>& functions, BuildOptions options,
                                     std::uint64_t address) {
  Builder builder(std::move(options));
  for (const MadeFunction& function : functions)
    if (!builder.add(function.fde, function.rows)) return {};
  auto bytes = builder.finish(address);
  return bytes ? std::move(*bytes) : std::vector<std::byte>();
}

} // namespace sframe::bench
