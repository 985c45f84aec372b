// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses in the code that instructions refer to: what is called, and addresses that are put into
// registers, mostly those of functions that will be called through pointers.

#pragma once

#include "sframe/abi.h"
#include "sframe/base/address_ranges.h"
#include "sframe/code/instruction.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sframe {
class Budget;
}

namespace sframe::code {

struct Reference {
  std::uint64_t target = 0;
  bool is_call = false; ///< else its address is put into a register
};

/// An instruction from which control reaches a jump through a pointer, without another jump: of the stub of a
/// function in another file.
struct Stub {
  std::uint64_t address = 0;
  std::uint64_t pointer = 0; ///< where it is
};

/// Keeps its memory between searches. Not for several threads at once.
class ReferenceFinder {
public:
  explicit ReferenceFinder(const AbiTraits& abi);

  /// Appends the references of code to addresses in `wanted`, by the referring instruction. `bytes`, at
  /// `address`, is a run of whole instructions; bytes that are none are skipped. Linear; much faster where no
  /// four bytes look like a reference (AMD64). Charges `budget`, if it is not nullptr; stops when that is
  /// used up.
  void find(std::span<const std::byte> bytes, std::uint64_t address, const AddressSet& wanted, Budget* budget,
            std::vector<Reference>& found);

  /// Appends the instructions of the stubs in `bytes`, by address. Where the stubs start is not asked:
  /// linkers lay them out differently, also those of one section. Linear.
  void find_stubs(std::span<const std::byte> bytes, std::uint64_t address, std::vector<Stub>& found);

private:
  bool may_refer(std::span<const std::byte> bytes, std::uint64_t address, const AddressSet& wanted) const;
  std::optional<std::uint64_t> number_of(const Effect& effect) const;
  void note_addresses(const AddressSet& wanted, std::vector<Reference>& found);

  const AbiTraits* abi_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<Effect> effects_;
  std::vector<std::optional<std::uint64_t>> values_; ///< of registers, if they are known
};

} // namespace sframe::code
