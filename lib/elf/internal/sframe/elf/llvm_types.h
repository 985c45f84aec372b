// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between LLVM's ELF types and ours. The file's structures are LLVM's packed types
// (alignment 1, byte order built in), so that a table can be read in place after a bounds check.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/base/text.h"
#include "sframe/elf/image.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Object/ELFTypes.h>
#include <llvm/Support/Error.h>

#include <optional>
#include <span>

namespace sframe::elf {

/// Converts LLVM's error to a Problem and consumes it.
Problem to_problem(llvm::Error error, std::string_view section);

inline llvm::StringRef to_llvm(std::span<const std::byte> bytes) {
  return as_text(bytes);
}

/// Calls `f` with an object of the ELF64 type family of the byte order: f(ELF64LE()) or f(ELF64BE()).
template <class F> auto with_types(ByteOrder order, F&& f) {
  return order == ByteOrder::little ? f(llvm::object::ELF64LE()) : f(llvm::object::ELF64BE());
}

/// `count` structures T at `offset`, in place; nothing if they do not fit. T has alignment 1.
template <class T>
std::optional<std::span<const T>> table_at(std::span<const std::byte> bytes, std::uint64_t offset,
                                           std::uint64_t count) {
  static_assert(alignof(T) == 1);
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) return std::nullopt;
  return std::span(reinterpret_cast<const T*>(bytes.data() + offset), count);
}

/// As many whole structures T as the bytes hold.
template <class T> std::span<const T> whole_table(std::span<const std::byte> bytes) {
  return *table_at<T>(bytes, 0, bytes.size() / sizeof(T));
}

/// The string at `offset`, up to a zero byte, the end of the table or `max` characters; empty if `offset` is
/// outside.
inline std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset, std::size_t max) {
  if (offset >= table.size()) return {};
  auto rest = table.subspan(offset).first(std::min<std::size_t>(table.size() - offset, max));
  const std::string_view text = as_text(rest);
  return text.substr(0, text.find('\0'));
}

/// Section names beyond this length are truncated, which bounds the cost of hostile tables.
inline constexpr std::size_t max_section_name = 4096;

} // namespace sframe::elf
