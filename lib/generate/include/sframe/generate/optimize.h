// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder::optimize() for the functions of a file: the code shows which bytes between functions are padding.

#pragma once

#include "sframe/builder.h"
#include "sframe/code/call_end.h"
#include "sframe/elf/image.h"
#include "sframe/generate/report.h"
#include "sframe/optimize.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::generate {

/// Which functions of a file may be in one FDE, as far as the bytes between them decide it: they are padding
/// (nops, traps, zeros). For one thread at a time.
class JoinCheck {
public:
  /// `image`, which has a known ABI, outlives this. `left_out`: where code was left out.
  JoinCheck(const elf::Image& image, std::span<const LeftOut> left_out);

  /// OptimizeOptions::may_join: whether the range between two functions is in their section, and is padding
  /// or empty. Faster if called in the order of addresses; code that was passed is released from memory.
  /// Takes code_steps from the image's budget; what is past it is not padding.
  bool operator()(const AddressRange& between);

  /// OptimizeOptions::expect: loads the bytes at an address, which takes longer than to compare them.
  void expect(std::uint64_t address) const {
    if (const auto bytes = image_.read(address, 1)) __builtin_prefetch(bytes->data());
  }

private:
  bool is_padding(const AddressRange& range);
  void pass(const std::byte* at);

  const elf::Image& image_;
  std::vector<elf::CodeRange> code_;
  const elf::CodeRange* range_ = nullptr; ///< mostly that of the last call
  AddressSet unused_;                     ///< left_out
  code::CallEnds calls_;
  /// By size. Padding of one size mostly has the same bytes, so it is decoded once.
  std::array<std::vector<std::byte>, OptimizeOptions::max_gap + 1> known_;
  const std::byte* passed_ = nullptr;
};

/// As Builder::optimize(), with a JoinCheck of `image`, if given. Not for relocatable objects: their linker
/// moves functions.
void optimize(Builder& builder, OptimizeOptions options, const elf::Image* image,
              std::span<const LeftOut> left_out);

} // namespace sframe::generate
