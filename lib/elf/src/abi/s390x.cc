// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x: relocation types (z/Architecture ELF ABI supplement).

#include "sframe/elf/machine.h"

namespace sframe::elf::abi {

namespace {

constexpr RelocationType relocations[] = {
    {0, {0, false}},  // R_390_NONE
    {3, {2, false}},  // R_390_16
    {4, {4, false}},  // R_390_32
    {5, {4, true}},   // R_390_PC32
    {16, {2, true}},  // R_390_PC16
    {22, {8, false}}, // R_390_64
    {23, {8, true}},  // R_390_PC64
    {52, {4, false}}, // R_390_TLS_LDO32 (debug information of thread-local variables)
    {53, {8, false}}, // R_390_TLS_LDO64
};

using enum RelocatedField::Of;

/// A distance in halfwords.
constexpr RelocatedField halfwords(std::uint32_t type, std::uint8_t size, RelocatedField::Of of,
                                   std::uint8_t width) {
  return {.type = type,
          .size = size,
          .of = of,
          .base = RelocatedField::Base::place,
          .shift = 1,
          .width = width,
          .checked = true};
}

/// In instructions, and in the literal pools of thread-local variables, whose distances lead to no code.
constexpr RelocatedField code_relocations[] = {
    {.type = 1, .size = 1, .width = 8},  // R_390_8
    {.type = 2, .size = 2, .width = 12}, // R_390_12
    {.type = 13},                        // R_390_GOTOFF32
    halfwords(17, 2, symbol, 16),        // R_390_PC16DBL
    halfwords(18, 2, symbol, 16),        // R_390_PLT16DBL
    halfwords(19, 4, symbol, 32),        // R_390_PC32DBL
    halfwords(20, 4, symbol, 32),        // R_390_PLT32DBL
    halfwords(21, 4, slot, 32),          // R_390_GOTPCDBL
    halfwords(26, 4, slot, 32),          // R_390_GOTENT
    {.type = 28},                        // R_390_GOTOFF64
    halfwords(33, 4, slot, 32),          // R_390_GOTPLTENT
    {.type = 37},                        // R_390_TLS_LOAD
    {.type = 38},                        // R_390_TLS_GDCALL
    {.type = 39},                        // R_390_TLS_LDCALL
    {.type = 41},                        // R_390_TLS_GD64
    {.type = 44},                        // R_390_TLS_GOTIE64
    {.type = 46},                        // R_390_TLS_LDM64
    {.type = 48},                        // R_390_TLS_IE64
    halfwords(49, 4, slot, 32),          // R_390_TLS_IEENT
    {.type = 51},                        // R_390_TLS_LE64
    {.type = 58},                        // R_390_GOT20
    {.type = 60},                        // R_390_TLS_GOTIE20
    halfwords(62, 2, symbol, 12),        // R_390_PC12DBL
    halfwords(63, 2, symbol, 12),        // R_390_PLT12DBL
};

} // namespace

const MachineTraits s390x = {.id = 22,
                             .relative = 12,
                             .relocations = relocations,
                             .code_relocations = code_relocations,
                             .code_order = ByteOrder::big,
                             .go = {.are_known = true, .injected_size = 8}};

} // namespace sframe::elf::abi
