// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libunwind numbers registers as DWARF does, with two exceptions. The program counter always has a number,
// and s390x's floating-point registers are in numerical order (DWARF: s390x ELF ABI supplement, table "DWARF
// Register Mappings").

#include "registers.h"

#include <algorithm>

namespace sframe::libunwind {

namespace {

constexpr const char* x86_64_names[] = {"RAX", "RDX", "RCX", "RBX", "RSI", "RDI", "RBP", "RSP", "R8",
                                        "R9",  "R10", "R11", "R12", "R13", "R14", "R15", "RIP", "CFA"};
constexpr const char* aarch64_names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",    "x7",  "x8",
                                         "x9",  "x10", "x11", "x12", "x13", "x14", "x15",   "x16", "x17",
                                         "x18", "x19", "x20", "x21", "x22", "x23", "x24",   "x25", "x26",
                                         "x27", "x28", "x29", "x30", "sp",  "pc",  "pstate"};
constexpr const char* s390x_names[] = {"R0",  "R1",  "R2",  "R3",  "R4",  "R5",  "R6",  "R7", "R8",
                                       "R9",  "R10", "R11", "R12", "R13", "R14", "R15", "F0", "F1",
                                       "F2",  "F3",  "F4",  "F5",  "F6",  "F7",  "F8",  "F9", "F10",
                                       "F11", "F12", "F13", "F14", "F15", "IP",  "CFA"};
constexpr std::uint8_t s390x_fp[] = {16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31};

} // namespace

const TargetRegisters& x86_64_registers() {
  static const TargetRegisters data{.little = &traits(Abi::amd64),
                                    .big = nullptr,
                                    .default_order = ByteOrder::little,
                                    .ip = 16,
                                    .cfa = 17,
                                    .last = 17,
                                    .first_fp = 18,
                                    .num_fp = 0,
                                    .fp_dwarf = {},
                                    .marks_interrupted = true,
                                    .unknown_is_last = true,
                                    .names = x86_64_names};
  return data;
}

const TargetRegisters& aarch64_registers() {
  static const TargetRegisters data{.little = &traits(Abi::aarch64_little),
                                    .big = &traits(Abi::aarch64_big),
                                    .default_order = ByteOrder::little,
                                    .ip = 32,
                                    .cfa = -1,
                                    .last = 97,
                                    .first_fp = 64,
                                    .num_fp = 32,
                                    .fp_dwarf = {},
                                    .marks_interrupted = false,
                                    .unknown_is_last = false,
                                    .names = aarch64_names};
  return data;
}

const TargetRegisters& s390x_registers() {
  static const TargetRegisters data{.little = nullptr,
                                    .big = &traits(Abi::s390x),
                                    .default_order = ByteOrder::big,
                                    .ip = 32,
                                    .cfa = 33,
                                    .last = 33,
                                    .first_fp = 16,
                                    .num_fp = 16,
                                    .fp_dwarf = s390x_fp,
                                    .marks_interrupted = false,
                                    .unknown_is_last = false,
                                    .names = s390x_names};
  return data;
}

const TargetRegisters& registers_of(const AbiTraits& abi) {
  for (const auto* target : {&x86_64_registers(), &aarch64_registers()})
    if (target->little == &abi || target->big == &abi) return *target;
  return s390x_registers();
}

std::optional<std::uint16_t> TargetRegisters::dwarf_of(int reg, const AbiTraits& abi) const {
  if (reg == ip) return unwind::pc_register;
  if (reg >= 0 && reg == cfa) return abi.sp;
  if (is_fp(reg)) {
    const auto index = static_cast<std::size_t>(reg - first_fp);
    return index < fp_dwarf.size() ? std::optional<std::uint16_t>(fp_dwarf[index]) : std::nullopt;
  }
  return reg >= 0 && reg < ip ? std::optional(static_cast<std::uint16_t>(reg)) : std::nullopt;
}

int TargetRegisters::number_of(std::uint16_t dwarf) const {
  if (dwarf == unwind::pc_register) return ip;
  const auto fp = std::ranges::find(fp_dwarf, dwarf);
  return fp != fp_dwarf.end() ? first_fp + static_cast<int>(fp - fp_dwarf.begin()) : dwarf;
}

const char* TargetRegisters::name(int reg) const {
  return reg >= 0 && static_cast<std::size_t>(reg) < names.size() ? names[static_cast<std::size_t>(reg)]
                                                                  : "???";
}

} // namespace sframe::libunwind
