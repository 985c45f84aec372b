// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x (zSeries ELF ABI supplement; SFrame 2 errata 1 specification, section "s390x").
//
//   | DWARF | register | role                                                                        |
//   | 11    | r11      | FP if the function uses one: callee-saved                                   |
//   | 14    | r14      | RA at entry; a function may save it (leaf functions: in an FPR)             |
//   | 15    | r15      | SP                                                                          |
//   | 16-31 | f0, f2.. | FPRs (not in their numerical order)                                         |
//
// The caller provides a register save area of 160 bytes, so CFA = SP at the call + 160 and CFA offsets are
// multiples of 8 from 160 up: the section stores (offset - 160) / 8. PLT entries have 32 bytes.

#include "abi/abis.h"

namespace sframe::abi {

const AbiTraits s390x = {
    .id = Abi::s390x,
    .name = "s390x",
    .byte_order = ByteOrder::big,
    .machine = 22, // EM_S390
    .elf_format = "elf64-s390",
    .llvm_arch = "s390x",
    .sp = 15,
    .fp = 11,
    .ra = 14,
    .fixed_fp_offset = 0,
    .fixed_ra_offset = 0,
    .cfa_bias = 160,
    .cfa_scale = 8,
    .sp_from_cfa = -160,
    .entry_cfa_offset = 160,
    .plt_entry_size = 32,
    .pads_ra_word = true,
    .register_words = true,
    .signs_return_addresses = false,
};

} // namespace sframe::abi
