// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ORC, the unwind table of the Linux kernel on AMD64 (Documentation/arch/x86/orc-unwinder.rst): objtool
// writes it into vmlinux and into each module, by its own analysis of the code.
//
//   .orc_unwind_ip   a 32-bit number an entry: the distance from it to the first address of the entry
//   .orc_unwind      six bytes an entry: sp_offset, bp_offset (16 bits each, signed), then 16 bits with the
//   layout
//
//     layout          bits 0-3   4-7      8-10             else            .orc_header
//     Linux 4.20      sp_reg     bp_reg   type (2 bits)    10 end          none
//     Linux 6.3       sp_reg     bp_reg   type (2 bits)    10 signal, 11 end
//     Linux 6.4       sp_reg     bp_reg   type (3 bits)    11 signal       fe 5d 32 bf ...
//     with AX         as 6.4, with other numbers of registers             13 7c 36 ad ...
//
// For example `08 00 00 00 05 02` of Linux 6.4: sp_offset 8, sp_reg SP, bp_reg undefined (unchanged), type
// CALL: the row `cfa sp+8, ra cfa-8, fp same`.
//
//   auto table = sframe::tables::OrcTable::load(image);      // Result<std::optional<OrcTable>>
//   for (const sframe::tables::OrcEntry& entry : (*table)->entries()) ...

#pragma once

#include "sframe/address.h"
#include "sframe/elf/image.h"
#include "sframe/row.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::tables {

/// One entry: it is for the addresses from `start` to the next entry.
struct OrcEntry {
  /// A base register; what the layout calls it is another number.
  enum class Base : std::uint8_t {
    none,
    cfa,
    ax,
    dx,
    di,
    bp,
    sp,
    r10,
    r13,
    bp_indirect,
    sp_indirect,
    unknown
  };
  enum class Kind : std::uint8_t {
    undefined, ///< nothing is known of the code
    outermost, ///< there is no caller
    call,      ///< the return address is below the base
    registers, ///< the base points to a struct pt_regs: interrupts and system calls
    iret,      ///< the base points to what the processor pushes for an interrupt
    unknown,   ///< the layout does not define it
  };

  std::uint64_t start = 0;
  std::int16_t sp_offset = 0, bp_offset = 0;
  Base sp_base = Base::none, bp_base = Base::none;
  Kind kind = Kind::undefined;
  bool signal = false; ///< the caller's pc is that of an instruction, not behind a call

  /// The rules; their offset is 0. Nothing for what is undefined or unknown, and where no row of SFrame has
  /// them: bases with a load and an offset.
  std::optional<FrameRow> row() const;

  friend bool operator==(const OrcEntry&, const OrcEntry&) = default;
};

/// The addresses of the entry at `number` in a list by address: up to the next one's start.
AddressRange range_of(std::span<const OrcEntry> entries, std::size_t number);

/// What to say of a file for which OrcTable::load() has nothing.
inline constexpr const char* no_orc_table =
    "no ORC table (.orc_unwind): only Linux kernels for AMD64 and their modules have one";

class OrcTable {
public:
  /// Reads .orc_unwind_ip and .orc_unwind; those of a relocatable object, which must be an ObjectLayout's
  /// image, with their relocations. Nothing if the file has no such section, or is for another machine. Fails
  /// if the sections do not fit together, and for a layout that is not known. N log N; 16 bytes an entry.
  static Result<std::optional<OrcTable>> load(const elf::Image& image);

  /// By address; each starts at another one. Of several in the file, the last one counts that is not the end
  /// of a section (kind undefined), as in the kernel.
  std::span<const OrcEntry> entries() const { return entries_; }
  /// The entry for the address; nullptr before the first. Logarithmic.
  const OrcEntry* find(std::uint64_t address) const;

private:
  std::vector<OrcEntry> entries_;
};

} // namespace sframe::tables
