// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The FDE (function descriptor entry): what a section states for one range of addresses as a whole. `Fde` is
// its meaning and the input of builder.h; `EncodedFde` adds the encoding in the section that was read.
// (SFrame 3 specification, section 2.3.)

#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe {

/// How row offsets are compared with an address: unchanged, or modulo the size of a repeating block (PLT
/// entries).
enum class PcType : std::uint8_t { inc = 0, mask = 1 };

/// Width of the row offsets.
enum class FreType : std::uint8_t { addr1 = 0, addr2 = 1, addr4 = 2 };

/// Encoding of data words: with the ABI's default meaning, or as pairs of control word and offset (version
/// 3).
enum class FdeType : std::uint8_t { standard = 0, flex = 1 };

/// AArch64: the key that signs return addresses.
enum class PauthKey : std::uint8_t { a = 0, b = 1 };

/// A range of addresses and its properties.
struct Fde {
  std::uint64_t start = 0; ///< address of the first byte; in a relocatable object, offset in the text section
  std::uint32_t size = 0;  ///< bytes
  PcType pc_type = PcType::inc;
  std::uint8_t rep_size = 0; ///< bytes of the repeating block; only with PcType::mask
  bool signal_frame = false; ///< the frame was made by signal delivery: its pc is exact (version 3)
  PauthKey pauth_key = PauthKey::a;

  /// True if `pc` is in the range. Correct for ranges that end at the top of the address space.
  constexpr bool contains(std::uint64_t pc) const { return pc - start < size; }

  /// The offset to compare with row offsets, for an address in the range.
  constexpr std::uint32_t row_offset(std::uint64_t pc) const {
    const auto distance = static_cast<std::uint32_t>(pc - start);
    return pc_type == PcType::mask && rep_size ? distance % rep_size : distance;
  }

  /// Row offsets must be below this.
  constexpr std::uint32_t row_limit() const { return pc_type == PcType::mask ? rep_size : size; }

  friend constexpr bool operator==(const Fde&, const Fde&) = default;
};

/// An FDE as encoded in a section.
struct EncodedFde : Fde {
  std::uint32_t number = 0;   ///< position in the index
  std::uint32_t num_fres = 0; ///< number of rows
  FreType fre_type = FreType::addr1;
  FdeType fde_type = FdeType::standard;
  std::uint8_t info = 0;          ///< sfda_func_info (V3), sfde_func_info (V1, V2)
  std::uint8_t info2 = 0;         ///< sfda_func_info2 (V3)
  std::uint16_t padding = 0;      ///< sfde_func_padding2 (V2)
  std::uint32_t fre_offset = 0;   ///< the start offset stored in the index, from the FRE sub-section's start
  std::uint64_t index_offset = 0; ///< of the index entry, from the section's start
  std::uint64_t rows_offset = 0;  ///< of the first row, from the section's start
};

} // namespace sframe

#pragma GCC visibility pop
