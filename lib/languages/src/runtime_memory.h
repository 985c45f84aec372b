// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: reading the data of a language's runtime. It may be damaged or made to be expensive: each byte is
// charged to the budget, and callers bound their loops.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/address_space.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sframe::languages {

/// The name in the symbol table of the function at an address, without a version; empty if there is none.
std::string_view function_at(modules::ModuleSpace& space, std::uint64_t address);

class RuntimeMemory {
public:
  explicit RuntimeMemory(unwind::AddressSpace& space) : memory_(space), budget_(space.budget()) {}

  /// An 8-byte word; nothing if it cannot be read.
  std::optional<std::uint64_t> word(std::uint64_t address) { return number(address, 8); }

  /// An unsigned number of `size` (1 to 8) bytes.
  std::optional<std::uint64_t> number(std::uint64_t address, std::uint32_t size) {
    return take(size) ? memory_.number(address, size) : std::nullopt;
  }

  /// Copies `out.size()` bytes; false if not all can be read.
  bool bytes(std::uint64_t address, std::span<std::byte> out) {
    return take(out.size()) && memory_.bytes(address, out);
  }

  /// `size` bytes as text, at most `most`: the rest is replaced by "...". Nothing if they cannot be read.
  std::optional<std::string> text(std::uint64_t address, std::uint64_t size, std::size_t most);

  /// The text up to a zero byte; cut in the same way.
  std::optional<std::string> c_string(std::uint64_t address, std::size_t most);

private:
  bool take(std::uint64_t bytes) { return !budget_ || budget_->take(Resource::guesses, bytes); }

  unwind::Memory memory_;
  Budget* budget_;
};

} // namespace sframe::languages
