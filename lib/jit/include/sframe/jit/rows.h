// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of a piece of generated code, encoded once: for one region, or for all regions that have the same
// code ("all functions of this stub kind").
//
//   // push %rbp; mov %rsp,%rbp; ...; pop %rbp; ret
//   const sframe::FrameRow rows[] = {
//       {0, Rule::value(sp, 8), Rule::fixed()},
//       {1, Rule::value(sp, 16), Rule::fixed(), Rule::at_cfa(-16)},
//       {4, Rule::value(fp, 16), Rule::fixed(), Rule::at_cfa(-16)},
//       {11, Rule::value(sp, 8), Rule::fixed()}};
//   const auto made = sframe::jit::Rows::make({.size = 12}, rows);

#pragma once

#include "sframe/abi.h"
#include "sframe/fde.h"
#include "sframe/jit/error.h"
#include "sframe/row.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#pragma GCC visibility push(default)

namespace sframe::jit {

/// The ABI of this process.
Abi host_abi();

/// A register that the code saves, other than FP and RA. SFrame has no such rule, and needs none to walk;
/// DWARF tables made from the rows have it, for debuggers and exceptions: an exception that passes code that
/// does not tell where it saved a call-saved register destroys that register in the function that catches it.
struct SavedRegister {
  std::uint32_t from = 0,
                to = 0;        ///< offsets in the code: it is saved at the addresses from `from`, before `to`
  std::uint16_t reg = 0;       ///< DWARF number
  std::int32_t cfa_offset = 0; ///< it is at CFA + this

  friend bool operator==(const SavedRegister&, const SavedRegister&) = default;
};

/// Cheap to copy: copies share the encoded rows.
class Rows {
public:
  /// Encodes the rows of a function; they may come in any order. Of `function`, `size` (bytes of the code)
  /// and the marks are used, not `start`. Code of repeated blocks has PcType::mask and the block's size.
  /// Without rows the code is outermost: no walk goes further. Linear in the number of rows.
  static Result<Rows> make(const Fde& function, std::span<const FrameRow> rows,
                           std::span<const SavedRegister> saved = {}, Abi abi = host_abi());

  /// Bytes of code.
  std::uint32_t code_size() const;
  /// An SFrame section of version 3 with one function, for the code's start as its address.
  std::span<const std::byte> section() const;
  std::span<const SavedRegister> saved() const;
  const AbiTraits& abi() const;
  /// Bytes of memory.
  std::size_t memory() const;

private:
  friend class Registry;
  struct Data;
  explicit Rows(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

} // namespace sframe::jit

#pragma GCC visibility pop
