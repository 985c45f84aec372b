// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function table of Go's linker (.gopclntab), which stripped programs have, too, since Go's runtime walks
// stacks by it: names, the size of the frame at each instruction, files and lines. Specified by its readers:
// Go's src/runtime/symtab.go and src/debug/gosym/pclntab.go. The table is hostile until checked: each read is
// bounded, and decoding is charged to a budget.

#pragma once

#include "sframe/address.h"
#include "sframe/base/budget.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// A function of a GoFunctions.
struct GoFunction {
  AddressRange extent;   ///< link addresses; up to the next function, padding included
  std::string_view name; ///< as in Go, without the suffix of the calling convention; a view into the table
  /// Nothing called it: the outermost frame of a stack (TOPFRAME), or where programs start.
  bool is_top = false;
  bool is_handler = false;  ///< of signals: the kernel called it, although it is marked as outermost
  bool is_restorer = false; ///< signal handlers return to it, and it to what was interrupted
  bool is_injected = false; ///< the runtime lets it return to an instruction that did not call it
  bool sets_sp = false;     ///< it sets SP to other stacks: its frames may have another size (SPWRITE)
  bool is_assembly = false;
  std::uint64_t data = 0; ///< where the table has the rest: bytes from the start of its part for functions
};

/// How far SP is below its value after the call of a function, between two addresses in it.
struct GoFrameSize {
  AddressRange range;
  std::uint32_t size = 0; ///< bytes
};

/// What Go's frames are like on a machine.
struct GoFrames {
  bool are_known = false;
  bool save_fp = false; ///< a function with a frame saves its caller's FP; otherwise there is no FP in Go
  /// Above the frame of a function that the runtime injects: what it pushes besides the return address, the
  /// interrupted function's LR (preparePanic(), pushCall() in runtime/signal_*.go).
  std::uint8_t injected_size = 0;
  std::uint8_t kept_below_sp = 0; ///< bytes that callees leave alone: FP is saved there
  /// Where the kernel has what a signal interrupted, from SP in a function that is_restorer.
  struct Interrupted {
    std::uint16_t sp = 0, pc = 0, fp = 0; ///< 0: Go uses no such function on this machine
  };
  Interrupted interrupted;
};

class GoFunctions {
public:
  /// The table of an image; nothing if it has none, or one that is not understood (Go before 1.2). The image
  /// must outlive the object. Copies nothing unless the section is compressed. Constant cost for programs at
  /// fixed addresses, for others linear in the relocations.
  static std::optional<GoFunctions> open(const Image& image);

  /// The number of functions.
  std::uint64_t size() const { return count_; }

  /// The function of a number below size(), in the order of addresses; nothing if it is damaged.
  std::optional<GoFunction> at(std::uint64_t number) const;
  /// The function that contains a link address. Logarithmic.
  std::optional<GoFunction> find(std::uint64_t address) const;

  /// False before Go 1.18, whose tables do not mark all functions that cannot be walked through: they have
  /// names only.
  bool has_frames() const { return version_ >= Version::go118; }

  const GoFrames& frames() const { return frames_; }

  /// How far SP is below its value after the call of the function, in bytes, before the instruction at a link
  /// address in it. Nothing if the table does not say, or the budget (cfi_instructions; may be nullptr) is
  /// used up. Linear in the table's entries for the function, here and below.
  std::optional<std::uint32_t> frame_size(const GoFunction& function, std::uint64_t address,
                                          Budget* budget) const;

  /// All of them, by address. False if the budget is used up, after some of them.
  bool frame_sizes(const GoFunction& function, Budget* budget, std::vector<GoFrameSize>& sizes) const;

  struct Line {
    std::string_view file; ///< with its folder, as compiled; a view into the table
    std::uint32_t line = 0;
    bool is_inlined = false; ///< the place is in a function inlined into this one
  };
  /// The source line of the instruction at a link address in the function.
  std::optional<Line> line(const GoFunction& function, std::uint64_t address, Budget* budget) const;

private:
  enum class Version : std::uint8_t { go12, go116, go118, go120 };

  GoFunctions() = default;
  bool read_header();
  bool find_text(const Image& image, std::uint64_t table_address);
  std::span<const std::byte> from(std::uint64_t offset) const;
  std::optional<std::uint64_t> start_of(std::uint64_t index) const;
  std::optional<std::uint32_t> field(const GoFunction& function, unsigned number) const;
  template <class Visit> bool each_value(std::uint32_t table, Budget* budget, const Visit& visit) const;
  std::optional<std::int32_t> value_at(std::uint32_t table, const GoFunction& function, std::uint64_t address,
                                       Budget* budget) const;

  Contents contents_;
  GoFrames frames_;
  ByteOrder order_ = ByteOrder::little;
  Version version_ = Version::go12;
  unsigned quantum_ = 1;    ///< bytes per unit of code offsets
  unsigned entry_size_ = 4; ///< of each number in the list of functions
  std::uint64_t count_ = 0; ///< functions
  std::uint64_t text_ = 0;  ///< what starts of functions are relative to
  std::uint64_t list_ = 0;  ///< where starts and data of functions are listed: bytes in the section
  std::uint64_t data_ = 0, names_ = 0, units_ = 0, files_ = 0, values_ = 0; ///< parts, likewise
};

} // namespace sframe::elf

#pragma GCC visibility pop
