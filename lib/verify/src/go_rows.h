// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is different about rows of functions of Go.

#pragma once

#include "sframe/elf/go_functions.h"
#include "sframe/row.h"

#include <cstdint>
#include <optional>

namespace sframe::verify {

class GoRows {
public:
  /// `image` may be nullptr, and must outlive the object.
  explicit GoRows(const elf::Image* image)
      : functions_(image ? elf::GoFunctions::open(*image) : std::nullopt) {}

  std::optional<elf::GoFunction> find(std::uint64_t address) const {
    return functions_ ? functions_->find(address) : std::nullopt;
  }
  /// Of its functions.
  elf::GoFrames frames() const { return functions_ ? functions_->frames() : elf::GoFrames(); }

  /// Where Go has no FP, a row that says nothing of it describes a register that calls do not keep: it is not
  /// compared.
  void forget_fp(FrameRow& row) const {
    if (!frames().save_fp && row.fp.kind == Rule::Kind::same && !row.is_outermost())
      row.fp = Rule::undefined();
  }

private:
  std::optional<elf::GoFunctions> functions_;
};

} // namespace sframe::verify
