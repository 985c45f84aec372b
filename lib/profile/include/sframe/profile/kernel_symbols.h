// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols of the kernel and its modules, as /proc/kallsyms has them:
//
//   ffffffff81000000 T startup_64
//   ffffffffc0205000 t ext4_readdir	[ext4]

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::profile {

class KernelSymbols {
public:
  /// Of the kernel that runs. Fails if the addresses are hidden (kptr_restrict).
  static Result<KernelSymbols> read();
  /// Of such a text. Lines that are none of it are skipped. Linear.
  static KernelSymbols parse(std::string text);

  struct Match {
    std::string_view name;    ///< valid as long as the object
    std::uint64_t offset = 0; ///< of the address from the symbol
  };
  /// The last symbol of code not above the address, unless the next one is far away. Logarithmic.
  std::optional<Match> find(std::uint64_t address) const;

  /// The address of a symbol of code; nothing if there is none. Linear.
  std::optional<std::uint64_t> address_of(std::string_view name) const;

  bool empty() const { return symbols_.empty(); }

private:
  struct Symbol {
    std::uint64_t address = 0;
    std::uint32_t name = 0, size = 0; ///< in text_
  };
  std::string text_;
  std::vector<Symbol> symbols_; ///< by address
};

/// The build ID of the kernel that runs; empty if it cannot be read.
std::vector<std::byte> kernel_build_id();

} // namespace sframe::profile
