// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what copies of Rows share.

#pragma once

#include "sframe/jit/list.h"
#include "sframe/jit/rows.h"

#include <vector>

namespace sframe::jit {

struct Rows::Data {
  std::uint32_t code_size = 0;
  const AbiTraits* abi = nullptr;
  std::vector<SavedRegister> saved;
  std::vector<std::uint64_t> words; ///< a RowsBlock and the section

  const RowsBlock* block() const { return reinterpret_cast<const RowsBlock*>(words.data()); }
  std::span<const std::byte> section() const { return block()->section(); }
  std::size_t memory() const {
    return sizeof *this + saved.capacity() * sizeof(SavedRegister) + words.capacity() * sizeof(std::uint64_t);
  }
};

} // namespace sframe::jit
