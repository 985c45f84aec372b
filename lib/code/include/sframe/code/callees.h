// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the code analysis needs to know about the file: constant data for jump tables, and callees that never
// return, that only landing pads call, or that do nothing but return. Callees are identified by name, from
// lists of functions of C and C++ libraries, of compilers' run-time libraries and of the Linux kernel. A
// callee in another file is identified by the dynamic relocation of the pointer that its PLT stub jumps
// through.

#pragma once

#include "sframe/base/address_ranges.h"
#include "sframe/code/image_environment.h"
#include "sframe/elf/linked_object.h"

#include <vector>

namespace sframe::code {

class Callees : public ImageEnvironment {
public:
  /// `image` and `functions` (disjoint, by address) must outlive the object. `externals`: of a LinkedObject.
  /// Linear in the image's symbols and relocations.
  Callees(const elf::Image& image, std::span<const OwnedRange> functions,
          std::span<const elf::ExternalSymbol> externals = {});

  /// Pointers in PT_GNU_RELRO do not change.
  std::optional<std::uint64_t> callee_at(std::uint64_t address) override;
  bool never_returns(std::uint64_t target) override;
  bool needs_exception(std::uint64_t target) override;
  bool is_return(std::uint64_t target) override;
  std::uint64_t function_start(std::uint64_t address) override;
  /// Limited to the function at that address. None of stubs for functions in other files.
  std::span<const std::byte> code(std::uint64_t address, std::uint64_t size) override;

private:
  void add_go(const elf::Image& image);

  std::span<const OwnedRange> functions_;
  AddressSet constant_pointers_;
  AddressSet stubs_;
  std::vector<std::uint64_t> imported_;          ///< pointers by a symbol's name, sorted
  std::vector<std::uint64_t> never_returning_;   ///< addresses, sorted
  std::vector<std::uint64_t> needing_exception_; ///< the same
  std::vector<std::uint64_t> returns_;           ///< the same
};

} // namespace sframe::code
