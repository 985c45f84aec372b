// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64 (System V psABI for x86-64, section 3.2 and figure 3.36 for the DWARF register numbers).
//
//   | DWARF | register | role                                             |
//   | 6     | rbp      | FP: callee-saved                                 |
//   | 7     | rsp      | SP                                               |
//   | 16    | rip      | RA: always stored at CFA-8 by `call`             |
//
// At entry CFA = rsp + 8. PLT entries have 16 bytes.

#include "abi/abis.h"

namespace sframe::abi {

const AbiTraits amd64 = {
    .id = Abi::amd64,
    .name = "amd64",
    .byte_order = ByteOrder::little,
    .machine = 62, // EM_X86_64
    .elf_format = "elf64-x86-64",
    .llvm_arch = "x86_64",
    .sp = 7,
    .fp = 6,
    .ra = 16,
    .fixed_fp_offset = 0,
    .fixed_ra_offset = -8,
    .cfa_bias = 0,
    .cfa_scale = 1,
    .sp_from_cfa = 0,
    .entry_cfa_offset = 8,
    .plt_entry_size = 16,
    .pads_ra_word = false,
    .register_words = false,
    .signs_return_addresses = false,
};

} // namespace sframe::abi
