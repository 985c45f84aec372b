// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: an ELF file in memory that describes code which is elsewhere in memory.

#pragma once

#include "sframe/jit/publisher.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sframe::jit {

/// The code's SFrame section, for another address than the code's start; its size does not depend on it.
std::vector<std::byte> sframe_at(std::uint64_t address, const PublishedCode& code);

/// The file's sections: the code's addresses (without its bytes), its .eh_frame and .sframe, a symbol,
/// and source lines.
/// The file's first byte will be at `address`; its size does not depend on it.
std::vector<std::byte> make_elf_object(const PublishedCode& code, std::uint64_t address);

} // namespace sframe::jit
