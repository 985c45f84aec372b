// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a walk looks at besides registers: memory and modules of a process, wherever they are. core_space.h
// has the one for core files; users of the library implement the interface for theirs.

#pragma once

#include "sframe/abi.h"
#include "sframe/bytes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe {
class Budget;
}

namespace sframe::unwind {

class RuleSource;

/// The addresses from `start` on and below `end`.
struct AddressRange {
  std::uint64_t start = 0, end = 0;

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

class AddressSpace {
public:
  virtual ~AddressSpace() = default;

  /// Registers' numbers and roles; words in memory are in its byte order.
  virtual const AbiTraits& abi() const = 0;

  /// Copies memory from `address` on; returns how many bytes could be read (0 to out.size()). By default from
  /// view(): an address space must have one of the two.
  virtual std::size_t read(std::uint64_t address, std::span<std::byte> out);

  /// The bytes from `address` on where the host has them in its own memory, as far as they go in a row; empty
  /// where it does not, which makes readers fall back on read(). Valid as long as the address space, unless
  /// that says less: LiveSpace's ends when the process runs.
  virtual std::span<const std::byte> view(std::uint64_t address) {
    static_cast<void>(address);
    return {};
  }

  /// True where the address is in memory that can be executed, whether or not its bytes can be read.
  virtual bool is_code(std::uint64_t address) = 0;

  /// The bits of a code pointer that are an address: pointer authentication keeps its codes in the others.
  /// Must not change.
  virtual std::uint64_t code_address_mask() { return ~std::uint64_t{0}; }

  /// Tables for the address, or nullptr; they live as long as the address space. modules::ModuleSpace has
  /// them from files.
  virtual RuleSource* rules_at(std::uint64_t address) {
    static_cast<void>(address);
    return nullptr;
  }

  /// What walks may cost in all; nullptr: there is no limit. Must not change, and lives as long as the
  /// address space.
  virtual Budget* budget() { return nullptr; }
  /// Takes `bytes` of stack or code, looked at for a guess, from it; false where there are none left.
  bool may_guess(std::uint64_t bytes);
};

/// Reads numbers, fast where they are near one another: it keeps the last view. Not for concurrent use.
class Memory {
public:
  explicit Memory(AddressSpace& space)
      : space_(&space), order_(space.abi().byte_order), code_mask_(space.code_address_mask()) {}

  AddressSpace& space() const { return *space_; }

  /// The address in a code pointer that may be signed.
  std::uint64_t code_address(std::uint64_t pointer) const { return pointer & code_mask_; }

  /// Reads the 8-byte word at `address` into `value`, in host order; false where it cannot be read. What a
  /// walk does most: no std::optional here, which costs half the time.
  bool load(std::uint64_t address, std::uint64_t& value) {
    const std::uint64_t offset = address - base_;
    if (view_.size() < 8 || offset > view_.size() - 8) return load_elsewhere(address, value);
    value = sframe::load<std::uint64_t>(view_.data() + offset, order_);
    return true;
  }

  /// The same as a value, or nothing.
  std::optional<std::uint64_t> word(std::uint64_t address) {
    std::uint64_t value;
    return load(address, value) ? std::optional(value) : std::nullopt;
  }

  /// The unsigned number of `size` (1 to 8) bytes at `address`.
  std::optional<std::uint64_t> number(std::uint64_t address, std::uint32_t size);

  /// Copies `out.size()` bytes; false where not all can be read.
  bool bytes(std::uint64_t address, std::span<std::byte> out);

private:
  bool load_elsewhere(std::uint64_t address, std::uint64_t& value);

  AddressSpace* space_;
  ByteOrder order_;
  std::uint64_t code_mask_;
  std::uint64_t base_ = 0;
  std::span<const std::byte> view_;
};

} // namespace sframe::unwind
