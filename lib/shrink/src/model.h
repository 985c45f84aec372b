// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: all that .eh_frame says, as data: CIEs, and functions with their states. Made by lib/cfi's reader.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/cfi/section.h"
#include "states.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe {
class Budget;
}

namespace sframe::shrink {

/// Bytes of a pointer of the CFI; 0 if its encoding is not one that can be written again at another place.
unsigned width_of(std::uint8_t encoding);

/// A pointer as it is stored, but for its place: of a pc-relative one the value, of others the number.
struct StoredPointer {
  std::uint8_t encoding = cfi::pe_omit;
  std::uint64_t value = 0; ///< 0: none, stored as 0

  bool pc_relative() const { return (encoding & 0x70) == cfi::pe_pcrel; }
  friend bool operator==(const StoredPointer&, const StoredPointer&) = default;
};

struct ModelCie {
  std::uint8_t version = 1;
  std::span<const std::byte> augmentation; ///< the string
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint32_t return_register = 0;
  std::uint8_t fde_encoding = cfi::pe_absptr;
  std::uint8_t lsda_encoding = cfi::pe_omit;
  std::optional<StoredPointer> personality;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  std::span<const std::byte> instructions; ///< without the nops at the end
  bool understood = true;
  std::uint32_t state = 0; ///< after its instructions

  /// True if they say the same, wherever they are.
  bool equals(const ModelCie& other) const;
};

struct Step {
  std::uint64_t offset = 0; ///< of the first address, in the function
  std::uint32_t state = 0;
};

struct Function {
  std::uint64_t start = 0, size = 0;
  std::uint64_t offset = 0; ///< of its FDE in the section
  std::uint32_t cie = 0;
  bool understood = true;
  std::uint64_t lsda = 0; ///< as StoredPointer::value
  std::uint32_t first_step = 0, num_steps = 0;
  std::span<const std::byte> instructions; ///< without the nops at the end

  std::uint64_t end() const { return start + size; }
};

struct Model {
  const AbiTraits* abi = nullptr;
  std::vector<ModelCie> cies;      ///< different ones, in the order of the section
  std::vector<Function> functions; ///< by start; they do not overlap
  std::vector<Step> steps;
  StateTable states;

  std::span<const Step> steps_of(const Function& function) const {
    return std::span(steps).subspan(function.first_step, function.num_steps);
  }
};

/// Fails as Plan::make() does.
Result<Model> read_model(const cfi::CfiSection& section, Budget* budget);

} // namespace sframe::shrink
