// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a walk needs in addition to registers: the memory and modules of a process, live or not.
// process/core_space.h implements the interface for core files; users of the library implement their own.

#pragma once

#include "sframe/abi.h"
#include "sframe/bytes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#pragma GCC visibility push(default)

namespace sframe {
class Budget;
}

namespace sframe::unwind {

class RuleSource;

class AddressSpace {
public:
  virtual ~AddressSpace() = default;

  /// Register numbers and roles; words in memory have its byte order.
  virtual const AbiTraits& abi() const = 0;

  /// Copies memory starting at `address`; returns the number of bytes read (0 to out.size()). The default
  /// uses view(): an address space must implement one of the two.
  virtual std::size_t read(std::uint64_t address, std::span<std::byte> out);

  /// A contiguous run of bytes at `address` in the host's own memory. Empty if the host does not have them:
  /// readers then use read(). Valid for the life of the address space, unless the implementation restricts
  /// that: LiveSpace's views end when the process runs.
  virtual std::span<const std::byte> view(std::uint64_t address) {
    static_cast<void>(address);
    return {};
  }

  /// True if the address is in executable memory, whether or not its bytes can be read.
  virtual bool is_code(std::uint64_t address) = 0;

  /// The address bits of a code pointer: the others may hold a pointer authentication code. Must not change.
  virtual std::uint64_t code_address_mask() { return ~std::uint64_t{0}; }

  /// Tables for the address, or nullptr; valid for the life of the address space. modules::ModuleSpace reads
  /// them from files.
  virtual RuleSource* rules_at(std::uint64_t address) {
    static_cast<void>(address);
    return nullptr;
  }

  /// The budget of all walks together; nullptr: no limit. Must not change; valid for the life of the address
  /// space.
  virtual Budget* budget() { return nullptr; }

  /// Counts the changes of code and tables. What is cached by address holds for one generation only; the
  /// steppers' caches have it in their keys. Less than 2^62, never 0.
  std::uint64_t generation() const { return generation_; }

  /// Takes `bytes` of stack or code, read for a heuristic, from the budget; false if it is used up.
  bool may_guess(std::uint64_t bytes);

protected:
  /// Modules, code or tables have changed: a new generation.
  void note_change() { ++generation_; }

private:
  std::uint64_t generation_ = 1;
};

/// Reads integers. It keeps the last view, so reads near one another are fast. Not for concurrent use.
class Memory {
public:
  explicit Memory(AddressSpace& space)
      : space_(&space), order_(space.abi().byte_order), code_mask_(space.code_address_mask()) {}

  AddressSpace& space() const { return *space_; }

  /// The address in a code pointer, without its authentication code, if any.
  std::uint64_t code_address(std::uint64_t pointer) const { return pointer & code_mask_; }

  /// Reads the 8-byte word at `address` into `value`, in host order; false if it cannot be read. The most
  /// frequent operation of a walk: std::optional would double its cost.
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

  /// Copies `out.size()` bytes; false if not all can be read.
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

#pragma GCC visibility pop
