// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64: DWARF register numbers (x86-64 psABI, figure 3.36) and the order of the kernel's user_regs_struct
// (Linux arch/x86/include/asm/user_64.h):
//
//   word  0    1    2    3    4    5    6    7    8   9   10   11   12   13   14   15
//         r15  r14  r13  r12  rbp  rbx  r11  r10  r9  r8  rax  rcx  rdx  rsi  rdi  orig_rax
//   word  16   17  18      19   20  21       22       23  24  25  26
//         rip  cs  eflags  rsp  ss  fs_base  gs_base  ds  es  fs  gs
//
// Of a process that died in 32-bit code (asm/user_32.h; 4 bytes each):
//
//   word  0    1    2    3    4    5    6    7   8   9   10  11        12   13  14      15   16
//         ebx  ecx  edx  esi  edi  ebp  eax  ds  es  fs  gs  orig_eax  eip  cs  eflags  esp  ss
//
// Minidumps have CONTEXT of winnt.h (breakpad: MDRawContextAMD64).

#include "register_layout.h"

namespace sframe::core::abi {

namespace {

constexpr RegisterSlot registers[] = {
    {80, 0},   {96, 1},   {88, 2},   {40, 3},   {104, 4},  {112, 5},  {32, 6},   {152, 7},  {72, 8},
    {64, 9},   {56, 10},  {48, 11},  {24, 12},  {16, 13},  {8, 14},   {0, 15},   {128, 16}, {144, 49},
    {192, 50}, {136, 51}, {160, 52}, {184, 53}, {200, 54}, {208, 55}, {168, 58}, {176, 59},
};

// CONTEXT_CONTROL, CONTEXT_INTEGER, CONTEXT_SEGMENTS
constexpr RegisterSlot control[] = {{0x98, 7}, {0xf8, 16}, {0x44, 49, 4}, {0x38, 51, 2}, {0x42, 52, 2}};
constexpr RegisterSlot integer[] = {{0x78, 0},  {0x80, 2},  {0x88, 1},  {0x90, 3},  {0xa0, 6},
                                    {0xa8, 4},  {0xb0, 5},  {0xb8, 8},  {0xc0, 9},  {0xc8, 10},
                                    {0xd0, 11}, {0xd8, 12}, {0xe0, 13}, {0xe8, 14}, {0xf0, 15}};
constexpr RegisterSlot data_segments[] = {{0x3a, 53, 2}, {0x3c, 50, 2}, {0x3e, 54, 2}, {0x40, 55, 2}};
constexpr ContextGroup groups[] = {{1, control}, {2, integer}, {4, data_segments}};
constexpr ContextLayout contexts[] = {
    {.machine = 0x100000, .flags_offset = 0x30, .pc_offset = 0xf8, .size = 0x100, .groups = groups}};

/// EM_386: struct user_regs_struct of 32-bit Linux.
constexpr RegisterSlot lower_halves[] = {
    {24, 0, 4},  {8, 1, 4},   {4, 2, 4},   {0, 3, 4},   {12, 4, 4},  {16, 5, 4},  {20, 6, 4},  {60, 7, 4},
    {48, 16, 4}, {56, 49, 4}, {32, 50, 4}, {52, 51, 4}, {64, 52, 4}, {28, 53, 4}, {36, 54, 4}, {40, 55, 4},
};
constexpr OtherMode mode_32 = {.machine = 3, .registers = lower_halves, .pc_offset = 48, .size = 68};

// Linux arch/x86/include/uapi/asm/perf_regs.h: ax, bx, cx, dx, si, di, bp, sp, ip, flags, cs, ss, ds, es, fs,
// gs, r8 to r15.
constexpr std::uint8_t sampled[] = {0,  3,  2,  1,  4, 5, 6,  7,  16, 49, 51, 52,
                                    53, 50, 54, 55, 8, 9, 10, 11, 12, 13, 14, 15};

} // namespace

const RegisterLayout amd64 = {.machine = 62,
                              .registers = registers,
                              .pc_offset = 128,
                              .size = 216,
                              .contexts = contexts,
                              .other_mode = mode_32,
                              .sampled = sampled,
                              .sampled_pc = 8};

} // namespace sframe::core::abi
