// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a section of DWARF call frame information: .eh_frame (Linux Standard Base 5.0, chapter 10.6) or
// .debug_frame (DWARF 5, section 6.4.1). Its entries are CIEs, which FDEs share, and FDEs, one per range of
// addresses. rows.h turns an FDE into rows.
//
// A CfiSection is a view: it copies nothing and allocates nothing. Every size, offset and pointer is checked.
// A CIE is parsed when an FDE needs it, at constant cost, so reading the whole section is linear.
//
//   sframe::cfi::CfiSection section(SectionKind::eh_frame, bytes, address, abi);
//   for (auto fdes = section.fdes();;) {
//     auto fde = fdes.next();
//     if (!fde) { report(fde.error()); continue; }   // the next call continues after the bad entry, or ends
//     if (!*fde) break;
//     ...
//   }
//
// In a relocatable object the caller applies relocations first.

#pragma once

#include "sframe/abi.h"
#include "sframe/cfi/error.h"
#include "sframe/expected.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::cfi {

enum class SectionKind : std::uint8_t { eh_frame, debug_frame };

/// The bases of DW_EH_PE_textrel and DW_EH_PE_datarel. On Linux the first is unused; the second is the GOT's
/// address in .eh_frame (in .eh_frame_hdr it is that section's own address, which EhFrameHdr uses by itself).
struct Bases {
  std::uint64_t text = 0;
  std::uint64_t data = 0;
};

/// Pointer encodings: DW_EH_PE_*.
enum : std::uint8_t {
  pe_absptr = 0x00,
  pe_uleb128 = 0x01,
  pe_udata2 = 0x02,
  pe_udata4 = 0x03,
  pe_udata8 = 0x04,
  pe_signed = 0x08,
  pe_sleb128 = 0x09,
  pe_sdata2 = 0x0a,
  pe_sdata4 = 0x0b,
  pe_sdata8 = 0x0c,
  pe_pcrel = 0x10,
  pe_textrel = 0x20,
  pe_datarel = 0x30,
  pe_funcrel = 0x40,
  pe_aligned = 0x50,
  pe_indirect = 0x80,
  pe_omit = 0xff,
};

/// A decoded pointer. If `indirect`, `value` is the address of the word that holds it.
struct Pointer {
  std::uint64_t value = 0;
  bool indirect = false;

  friend bool operator==(const Pointer&, const Pointer&) = default;
};

/// A common information entry. Spans and offsets refer to the section's bytes.
struct Cie {
  std::uint64_t offset = 0;              ///< of the entry's length field in the section
  std::uint8_t version = 0;              ///< 1, 3 or 4
  std::uint8_t address_size = 8;         ///< bytes: 8 or 4
  std::uint8_t segment_size = 0;         ///< bytes of a segment selector before an FDE's start (version 4)
  std::uint8_t fde_encoding = pe_absptr; ///< of starts and sizes; DW_CFA_set_loc too
  std::uint8_t lsda_encoding = pe_omit;
  bool has_augmentation_data = false; ///< 'z'
  bool signal_frame = false;          ///< 'S': the frame was made by signal delivery
  bool b_key = false;                 ///< 'B': AArch64, return addresses are signed with key B
  bool tagged_stack = false;          ///< 'G': AArch64, memory tagging of the stack
  bool unknown_augmentation = false;  ///< an unknown letter; the rest of the augmentation is unread
  std::uint32_t return_register = 0;  ///< the column of the return address
  std::uint64_t code_alignment = 0;
  std::int64_t data_alignment = 0;
  std::optional<Pointer> personality;      ///< 'P'
  std::span<const std::byte> augmentation; ///< the string, without its final zero byte
  std::span<const std::byte> instructions; ///< the initial ones, with padding
  std::uint64_t instructions_offset = 0;   ///< in the section
};

/// A frame description entry with its CIE.
struct Fde {
  std::uint64_t offset = 0; ///< of the entry's length field in the section
  std::uint64_t start = 0;  ///< address of the first byte
  std::uint64_t size = 0;   ///< bytes; start + size is below 2^64
  std::optional<Pointer> lsda;
  bool after_terminator = false;           ///< .eh_frame: after a zero terminator. Only set by FdeCursor
  std::span<const std::byte> instructions; ///< with padding
  std::uint64_t instructions_offset = 0;   ///< in the section
  Cie cie;

  std::uint64_t end() const { return start + size; }
  bool contains(std::uint64_t pc) const { return pc - start < size; }
};

class FdeCursor;

class CfiSection {
public:
  CfiSection() = default;

  /// A view of `bytes`, the section's contents in the target's byte order (abi.byte_order). `address` is the
  /// address of the first byte in the target's address space: the base of pc-relative pointers. `bytes` and
  /// `abi` must outlive the view. Reads nothing.
  CfiSection(SectionKind kind, std::span<const std::byte> bytes, std::uint64_t address, const AbiTraits& abi,
             Bases bases = {})
      : kind_(kind), bytes_(bytes), address_(address), abi_(&abi), bases_(bases) {}

  SectionKind kind() const { return kind_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::uint64_t address() const { return address_; }
  const AbiTraits& abi() const { return *abi_; }
  const Bases& bases() const { return bases_; }

  /// Iterates over all FDEs in the section's order.
  FdeCursor fdes() const;

  /// Offsets that split the section into parts for several threads: increasing, the first 0, each at the
  /// start of an entry and at least `part_size` > 0 bytes after the previous one. Reads only the entries'
  /// lengths: linear.
  std::vector<std::uint64_t> parts(std::uint64_t part_size) const;

  /// The CIE whose length field is at `offset`. Constant cost.
  expected<Cie, Error> cie(std::uint64_t offset) const;

  /// The FDE whose length field is at `offset`, with its CIE. Constant cost.
  expected<Fde, Error> fde(std::uint64_t offset) const;

private:
  SectionKind kind_ = SectionKind::eh_frame;
  std::span<const std::byte> bytes_;
  std::uint64_t address_ = 0;
  const AbiTraits* abi_ = nullptr;
  Bases bases_;
};

/// Iterates over the entries of a section. Valid as long as the section's bytes; cheap to make.
///
/// A zero length in .eh_frame is the terminator, which the C runtime puts at the end. If bytes follow
/// (sections concatenated by `ld -r` or a careless linker script), the cursor continues with them. So does
/// readelf, and so do unwinders that use .eh_frame_hdr. It marks these FDEs after_terminator: an unwinder
/// that registers the section as a list (__register_frame) does not see them. In .debug_frame a zero length
/// is padding.
class FdeCursor {
public:
  explicit FdeCursor(const CfiSection& section) : FdeCursor(section, 0, section.bytes().size()) {}
  /// Only the entries that start in [begin, end). Both are starts of entries (or the section's end). A
  /// terminator before `begin` is not detected.
  FdeCursor(const CfiSection& section, std::uint64_t begin, std::uint64_t end)
      : section_(section), at_(begin), end_(end) {}

  /// The next FDE, valid until the next call; nullptr at the end. After an Error the next call continues
  /// after the bad entry; if the bad entry's length is at fault (ErrorKind::bad_length, or a truncated
  /// length), it returns nothing. CIEs that no FDE uses are not read.
  expected<const Fde*, Error> next();

  /// Bytes from the section's start to the next entry.
  std::uint64_t offset() const { return at_; }

private:
  CfiSection section_;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
  bool terminated_ = false;
  bool cie_known_ = false;
  Fde fde_; ///< the last one; adjacent FDEs usually share its CIE
};

} // namespace sframe::cfi

#pragma GCC visibility pop
