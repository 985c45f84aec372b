// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RISC-V with 64 bits (RISC-V ELF psABI, "Register Convention" and "DWARF Register Numbers"): x1 is RA, x2
// SP, x8 FP. At entry CFA = SP. SFrame has no such ABI: the identifier is invented.

#include "abi/abis.h"

namespace sframe::abi {

const AbiTraits riscv64 = {
    .id = Abi{5},
    .name = "riscv64",
    .byte_order = ByteOrder::little,
    .machine = 243, // EM_RISCV
    .elf_format = "elf64-littleriscv",
    .llvm_arch = "riscv64",
    .sp = 2,
    .fp = 8,
    .ra = 1,
    .fixed_fp_offset = 0,
    .fixed_ra_offset = 0,
    .cfa_bias = 0,
    .cfa_scale = 1,
    .sp_from_cfa = 0,
    .entry_cfa_offset = 0,
    .plt_entry_size = 16,
    .pads_ra_word = true,
    .register_words = false,
    .signs_return_addresses = false,
};

} // namespace sframe::abi
