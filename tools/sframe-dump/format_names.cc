// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of ELF formats in GNU and LLVM tools, by machine. Both use BFD's target names for the format, so
// there is one column for these. A machine without its own target is "elf64-little" in GNU and
// "elf64-unknown" in LLVM tools.

#include "object.h"

#include <array>

namespace sframe::dump {

namespace {

struct Entry {
  Abi abi;
  std::string_view format;
  std::string_view llvm_arch;
};
constexpr std::array entries{
    Entry{Abi::amd64, "elf64-x86-64", "x86_64"}, Entry{Abi::aarch64_little, "elf64-littleaarch64", "aarch64"},
    Entry{Abi::aarch64_big, "elf64-bigaarch64", "aarch64_be"}, Entry{Abi::s390x, "elf64-s390", "s390x"}};

} // namespace

FormatNames format_names(const elf::Image& image) {
  const AbiTraits* abi = image.abi();
  for (const Entry& entry : entries)
    if (abi && entry.abi == abi->id) return {entry.format, entry.format, entry.llvm_arch};
  return {image.byte_order() == ByteOrder::little ? "elf64-little" : "elf64-big", "elf64-unknown", "unknown"};
}

} // namespace sframe::dump
