// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: checks program headers: PT_GNU_SFRAME against the section that it must cover (S019, S024), PT_LOAD
// against the functions (S025).

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Does nothing if the file has no PT_GNU_SFRAME, or no section headers to compare it with.
void check_segment(const Input& input, Sink& sink);

/// One finding for all functions of a linked file that are outside every PT_LOAD. Does nothing for
/// relocatable objects, or without an image.
void check_loaded(const Input& input, Sink& sink);

/// True if [address, address + size) is in one PT_LOAD with all of these flags.
bool in_one_mapping(const elf::Image& image, std::uint64_t address, std::uint64_t size, std::uint32_t flags);

} // namespace sframe::verify
