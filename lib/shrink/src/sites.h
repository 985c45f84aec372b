// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the sites of a function: the instructions at which something may look at its frame without having
// chosen the moment. What is no site is only seen by samples and by single steps. A function's code is read
// twice, by lib/code's decoder and by one that knows the bytes alone; the proof uses the second.
//
//   push %rbp          site: writes to the stack, which may end here
//   mov %rsp,%rbp      free
//   mov %edi,-4(%rbp)  site: accesses memory
//   call g             site
//   leave              site: the return address of the call
//   ret                free

#pragma once

#include "sframe/address.h"
#include "sframe/elf/image.h"
#include "sframe/shrink/compare.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sframe::shrink {

/// What an instruction is for the question whether it is a site.
struct SiteInstruction {
  enum class Kind : std::uint8_t {
    site,
    setup,   ///< moves SP down, or sets FP, and accesses no memory
    removal, ///< moves SP up, and reads no memory but the words that it removes
    jump,    ///< to a constant address
    push,    ///< stores a register below SP, and moves SP down to it: faults only if the stack is full
    plain    ///< cannot fault: computes in registers, or branches to a constant address; not those above
  };
  std::uint64_t address = 0;
  std::uint64_t target = 0; ///< of a jump, branch or call to a constant address; 0: none
  std::uint8_t length = 0;  ///< bytes
  Kind kind = Kind::site;
  bool falls_through = true;
  bool returns = false; ///< a call, system call or trap: the address after it is a site
};

/// The ranges of a function that are no sites, by address; empty ranges are not among them. Nothing if a
/// target in the function is not the start of one of the instructions, which are all of the function.
///
/// Level::sync: setups, removals and jumps are free if control comes only from the instruction before, which
/// is no call; a jump, if it follows a removal. Where a removal follows a setup, debuggers may stop between
/// the two, so that it is a site. Level::faults: all but sites are free, apart from the first address and
/// those that calls return to.
std::optional<std::vector<AddressRange>> free_ranges(std::span<const SiteInstruction> instructions,
                                                     const AddressRange& function, Level level);

/// A second decoder: an instruction by its bytes alone; `length` is 0 if it is not known. Constant cost.
using ByteReader = SiteInstruction(std::span<const std::byte> bytes, std::uint64_t address);
ByteReader read_amd64, read_aarch64, read_s390x;
/// That of an ABI; nullptr if there is none.
ByteReader* find_byte_reader(const AbiTraits& abi);

/// The free ranges of a file's functions.
class Sites {
public:
  enum class Witness : std::uint8_t {
    both, ///< both decoders; what they disagree about is not free
    bytes ///< the one that knows bytes alone
  };
  /// `image` outlives this. `level` is not lossless, by which nothing is free.
  Sites(const elf::Image& image, Witness witness, Level level);
  ~Sites();
  Sites(Sites&&) noexcept;
  Sites& operator=(Sites&&) noexcept;

  /// True if there are decoders for the image's machine; without them nothing is free.
  static bool are_known(const elf::Image& image);

  /// Empty, too, where the code is not in the file, is not understood, or the budget (code_steps) is used up.
  /// Valid until the next call. Linear in the function.
  std::span<const AddressRange> operator()(const AddressRange& function);

private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

} // namespace sframe::shrink
