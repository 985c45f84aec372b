// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ABIs that SFrame supports, as data: every difference between them. One file per ABI in src/abi/, one
// line per ABI in abis.def; nothing else switches over ABIs. (SFrame 3 specification, sections
// 2.2.1 and 3.1.)

#pragma once

#include "sframe/row.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {

enum class ByteOrder : std::uint8_t { little, big };

/// The identifier in the section's header (sfh_abi_arch).
enum class Abi : std::uint8_t {
#define SFRAME_DEFINE_ABI(name, identifier) name = identifier,
#include "sframe/abis.def"
};

/// The properties of an ABI. All objects of this type are constants of static duration.
struct AbiTraits {
  Abi id;
  std::string_view name;       ///< as printed and accepted by the programs: "amd64"
  ByteOrder byte_order;        ///< byte order of the target, and thus of the section
  std::uint16_t machine;       ///< ELF e_machine
  std::string_view elf_format; ///< BFD's name for its ELF files, which LLVM prints too: "elf64-x86-64"
  std::string_view llvm_arch;  ///< LLVM's name for the architecture: "x86_64"
  std::uint16_t sp;            ///< DWARF register numbers
  std::uint16_t fp;
  std::uint16_t ra;
  std::int8_t fixed_fp_offset; ///< what producers write into the header; 0 = FP is tracked per row
  std::int8_t fixed_ra_offset; ///< 0 = RA is tracked per row
  std::int16_t cfa_bias;       ///< CFA offset = data word * cfa_scale + cfa_bias
  std::uint8_t cfa_scale;
  std::int16_t sp_from_cfa;      ///< the caller's SP is CFA + this
  std::int16_t entry_cfa_offset; ///< at a function's first instruction, CFA = SP + this
  std::uint8_t plt_entry_size;   ///< block size of PCMASK rows in version 1 (which has no rep_size)
  bool pads_ra_word;             ///< the specification allows a 0 for "RA not saved" before an FP word
  bool register_words;           ///< version 2: an odd FP or RA word is (register << 1) | 1
  bool signs_return_addresses;   ///< pointer authentication exists

  /// The row at a function's first instruction.
  FrameRow entry_row() const {
    return {0, Rule::value(sp, entry_cfa_offset), fixed_ra_offset ? Rule::fixed() : Rule::same(),
            Rule::same(), false};
  }
};

/// The traits of an ABI. Constant cost.
const AbiTraits& traits(Abi abi);

/// The traits for an identifier read from a header, or nullptr if it is unknown.
const AbiTraits* find_abi(std::uint8_t id);

/// The traits for an ELF machine and byte order, or nullptr if SFrame has no such ABI.
const AbiTraits* find_abi(std::uint16_t elf_machine, ByteOrder order);

/// The traits for a name (AbiTraits::name), or nullptr.
const AbiTraits* find_abi(std::string_view name);

/// Every ABI, in the order of identifiers.
std::span<const AbiTraits* const> all_abis();

/// "sp", "fp", "cfa" or "rN": the notation of all programs.
std::string register_name(std::uint16_t reg, const AbiTraits& abi);

/// A rule as text: "sp+16", "[cfa-8]", "r14", "same", "undefined", "fixed". A CFA rule shows its offset even
/// when it is 0 ("r10+0"), other rules do not ("r14"). Appends to `out`.
void append_rule(std::string& out, const Rule& rule, const AbiTraits& abi, bool is_cfa);

/// Same, as a new string.
std::string rule_text(const Rule& rule, const AbiTraits& abi, bool is_cfa = false);

/// A row's rules: "cfa=sp+16 ra=[cfa-8] fp=same", or "ra=undefined" for an outermost frame.
std::string row_text(const FrameRow& row, const AbiTraits& abi);

} // namespace sframe

#pragma GCC visibility pop
