// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64, little and big endian (AAPCS64; "DWARF for the Arm 64-bit Architecture" for the register numbers).
//
//   | DWARF | register | role                                           |
//   | 29    | x29      | FP: callee-saved                               |
//   | 30    | x30      | LR: RA at entry; the function may save it      |
//   | 31    | sp       | SP                                             |
//
// At entry CFA = sp. Return addresses may be signed (pointer authentication, key A or B). PLT entries have 16
// bytes.

#include "abi/abis.h"

namespace sframe::abi {

namespace {

constexpr AbiTraits aarch64(Abi id, std::string_view name, std::string_view elf_format, ByteOrder order) {
  return {
      .id = id,
      .name = name,
      .byte_order = order,
      .machine = 183, // EM_AARCH64
      .elf_format = elf_format,
      .llvm_arch = name,
      .sp = 31,
      .fp = 29,
      .ra = 30,
      .fixed_fp_offset = 0,
      .fixed_ra_offset = 0,
      .cfa_bias = 0,
      .cfa_scale = 1,
      .sp_from_cfa = 0,
      .entry_cfa_offset = 0,
      .plt_entry_size = 16,
      .pads_ra_word = false,
      .register_words = false,
      .signs_return_addresses = true,
  };
}

} // namespace

const AbiTraits aarch64_little =
    aarch64(Abi::aarch64_little, "aarch64", "elf64-littleaarch64", ByteOrder::little);
const AbiTraits aarch64_big = aarch64(Abi::aarch64_big, "aarch64_be", "elf64-bigaarch64", ByteOrder::big);

} // namespace sframe::abi
