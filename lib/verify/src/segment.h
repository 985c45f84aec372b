// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the program header PT_GNU_SFRAME against the section that it is to name (S019).

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Does nothing where the file has no PT_GNU_SFRAME, or no section headers to compare it with.
void check_segment(const Input& input, Sink& sink);

/// True where [address, address + size) lies in one PT_LOAD with all of these flags.
bool in_one_mapping(const elf::Image& image, std::uint64_t address, std::uint64_t size, std::uint32_t flags);

} // namespace sframe::verify
