// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a section of a module of this process.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::here {

/// The bytes of one section, in the module or in a copy.
struct SectionBytes {
  std::span<const std::byte> bytes;
  std::uint64_t address = 0;   ///< in the module
  std::uint64_t data_base = 0; ///< base of DW_EH_PE_datarel
};

} // namespace sframe::here
