// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a walk looks at besides registers: memory and modules of a process, wherever they are. core_space.h
// has the one for core files; users of the library implement the interface for theirs.

#pragma once

#include "sframe/abi.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace sframe::walk {

class Module;

class AddressSpace {
public:
  virtual ~AddressSpace() = default;

  /// Registers' numbers and roles; words in memory are in its byte order.
  virtual const AbiTraits& abi() const = 0;

  /// Copies memory from `address` on; returns how many bytes could be read (0 to out.size()).
  virtual std::size_t read(std::uint64_t address, std::span<std::byte> out) = 0;

  /// The bytes from `address` on where the host has them in its own memory, as far as they go in a row; empty
  /// where it does not, which makes readers fall back on read(). Valid as long as the address space.
  virtual std::span<const std::byte> view(std::uint64_t address) {
    static_cast<void>(address);
    return {};
  }

  /// True where the address is in memory that can be executed, whether or not its bytes can be read.
  virtual bool is_code(std::uint64_t address) = 0;

  /// The module (executable, library, vdso) mapped at the address, or nullptr. Lives as long as the address
  /// space.
  virtual Module* module_at(std::uint64_t address) = 0;
};

/// Reads numbers, fast where they are near one another: it keeps the last view. Not for concurrent use.
class Memory {
public:
  explicit Memory(AddressSpace& space)
      : space_(&space),
        swap_((space.abi().byte_order == ByteOrder::big) != (std::endian::native == std::endian::big)) {}

  AddressSpace& space() const { return *space_; }

  /// The 8-byte word at `address`, in host order, or nothing where it cannot be read.
  std::optional<std::uint64_t> word(std::uint64_t address) {
    const std::uint64_t offset = address - base_;
    if (view_.size() < 8 || offset > view_.size() - 8) return number(address, 8);
    std::uint64_t value;
    std::memcpy(&value, view_.data() + offset, sizeof value);
    return swap_ ? std::byteswap(value) : value;
  }

  /// The unsigned number of `size` (1 to 8) bytes at `address`.
  std::optional<std::uint64_t> number(std::uint64_t address, std::uint32_t size);

  /// Copies `out.size()` bytes; false where not all can be read.
  bool bytes(std::uint64_t address, std::span<std::byte> out);

private:
  AddressSpace* space_;
  bool swap_;
  std::uint64_t base_ = 0;
  std::span<const std::byte> view_;
};

} // namespace sframe::walk
