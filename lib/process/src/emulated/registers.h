// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where an emulator's answers have registers, by its target description ("Debugging with GDB",
// appendix G), and their values.

#pragma once

#include "emulated/guest.h"

#include "sframe/base/problem.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/registers.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::process::emulated {

class RegisterLayout {
public:
  static constexpr std::size_t most_registers = 4096, most_files = 32;

  RegisterLayout(const Guest& guest, const AbiTraits& abi, const unwind::UnwindAbi& unwind);

  /// Adds a file of the description: registers get numbers in this order, unless they have one. Appends the
  /// names of the files that it includes. Fails if there are too many, or sizes are wrong.
  Result<void> add(std::string_view xml, std::vector<std::string>& includes);
  /// After all files. Fails if the pc or SP is not described.
  Result<void> finish();

  /// The registers in the answer to `g`. Fails if it is shorter than pc, SP and FP need.
  Result<unwind::Registers> parse(std::string_view digits) const;

  struct Separate {
    std::uint16_t dwarf = 0;
    std::uint32_t number = 0; ///< for `p`
  };
  /// Those that the answer to `g` does not have.
  std::vector<Separate> separate(std::size_t bytes_of_g) const;
  /// A register of 8 bytes; empty if it is not available.
  std::optional<std::uint64_t> value(std::string_view digits) const;

private:
  struct Described {
    std::string name;
    std::uint32_t number = 0, size = 0; ///< size: bytes
  };
  struct Place {
    std::uint16_t dwarf = 0; ///< unwind::Registers::count: the pc
    std::uint32_t number = 0;
    std::size_t offset = 0; ///< bytes, in the answer to `g`
  };

  const Guest& guest_;
  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  std::vector<Described> described_;
  std::uint32_t next_ = 0;
  std::vector<Place> places_;
};

} // namespace sframe::process::emulated
