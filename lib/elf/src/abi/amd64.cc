// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64: relocation types (x86-64 psABI, table 4.9).

#include "sframe/elf/machine.h"

namespace sframe::elf::abi {

namespace {

constexpr RelocationType relocations[] = {
    {0, {0, false}},  // R_X86_64_NONE
    {1, {8, false}},  // R_X86_64_64
    {2, {4, true}},   // R_X86_64_PC32
    {4, {4, true}},   // R_X86_64_PLT32: without a PLT, the function itself
    {10, {4, false}}, // R_X86_64_32
    {11, {4, false}}, // R_X86_64_32S
    {12, {2, false}}, // R_X86_64_16
    {13, {2, true}},  // R_X86_64_PC16
    {17, {8, false}}, // R_X86_64_DTPOFF64 (debug information of thread-local variables)
    {21, {4, false}}, // R_X86_64_DTPOFF32
    {24, {8, true}},  // R_X86_64_PC64
};

/// A displacement from the end of an instruction.
constexpr RelocatedField displacement(std::uint32_t type, RelocatedField::Of of) {
  return {
      .type = type, .size = 4, .of = of, .base = RelocatedField::Base::place, .width = 32, .checked = true};
}

using enum RelocatedField::Of;

/// In instructions. Thread-local distances count from FS, those of large models from the global offset table,
/// the address of which is that of no code.
constexpr RelocatedField code_relocations[] = {
    displacement(2, symbol),                                                                   // PC32
    displacement(4, symbol),                                                                   // PLT32
    displacement(9, slot),                                                                     // GOTPCREL
    {.type = 14, .size = 1, .width = 8},                                                       // 8
    {.type = 15, .size = 1, .base = RelocatedField::Base::place, .width = 8, .checked = true}, // PC8
    {.type = 18},                                                                              // TPOFF64
    displacement(19, slot),                                                                    // TLSGD
    displacement(20, slot),                                                                    // TLSLD
    {.type = 21},                                                                              // DTPOFF32
    displacement(22, slot),                                                                    // GOTTPOFF
    {.type = 23},                                                                              // TPOFF32
    {.type = 25},                                                                              // GOTOFF64
    displacement(26, slot),                                                                    // GOTPC32
    {.type = 27},                                                                              // GOT64
    {.type = 28, .size = 8, .of = slot, .base = RelocatedField::Base::place, .width = 64},     // GOTPCREL64
    {.type = 29, .size = 8, .of = slot, .base = RelocatedField::Base::place, .width = 64},     // GOTPC64
    {.type = 31},                                                                              // PLTOFF64
    {.type = 32},                                                                              // SIZE32
    {.type = 33},                                                                              // SIZE64
    displacement(34, slot), // GOTPC32_TLSDESC
    {.type = 35},           // TLSDESC_CALL
    displacement(41, slot), // GOTPCRELX
    displacement(42, slot), // REX_GOTPCRELX
    displacement(43, slot), // CODE_4_GOTPCRELX
};

} // namespace

const MachineTraits amd64 = {
    .id = 62,
    .relative = 8,
    .relocations = relocations,
    .code_relocations = code_relocations,
    // struct ucontext of arch/x86/include/uapi/asm: gregs
    .go = {.are_known = true, .save_fp = true, .interrupted = {.sp = 160, .pc = 168, .fp = 120}}};

} // namespace sframe::elf::abi
