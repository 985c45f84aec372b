// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: whether a file refers to a range of its read-only data in a way that no header describes.

#pragma once

#include "sframe/address.h"
#include "sframe/base/problem.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace sframe::shrink {

/// Fails if a relocation, a pointer or code refers to the range. `named`: the addresses in it that have a
/// name. Any number in code, and in the data of a program with fixed addresses, may look like an address, so
/// that only these count there. Linear in relocations, code and data.
Result<void> check_unreferenced(const elf::Image& image, const AddressRange& range,
                                std::span<const std::uint64_t> named);

/// True if a string table of the image has the name.
bool has_name(const elf::Image& image, std::string_view table, std::string_view name);

/// True if the image uses a symbol of that name of another file.
bool imports(const elf::Image& image, std::string_view name);

/// True for a program that no dynamic linker named.
bool is_static_program(const elf::Image& image);

} // namespace sframe::shrink
