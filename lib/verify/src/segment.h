// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: program headers. PT_GNU_SFRAME against the section that it is to name (S019, S024), PT_LOAD against
// the functions (S025).

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Does nothing where the file has no PT_GNU_SFRAME, or no section headers to compare it with.
void check_segment(const Input& input, Sink& sink);

/// One finding for all functions of a linked file that no PT_LOAD holds. Nothing for relocatable objects, and without
/// an image.
void check_loaded(const Input& input, Sink& sink);

/// True where [address, address + size) lies in one PT_LOAD with all of these flags.
bool in_one_mapping(const elf::Image& image, std::uint64_t address, std::uint64_t size, std::uint32_t flags);

} // namespace sframe::verify
