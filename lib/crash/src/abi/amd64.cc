// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64: exceptions, canonical addresses, and when a division faults.

#include "fault_abi.h"

namespace sframe::crash::abi {

namespace {

using namespace core;

// Exceptions (Linux arch/x86/include/asm/trapnr.h) with the signals that the kernel sends for them
// (arch/x86/kernel/traps.c, arch/x86/mm/fault.c).
constexpr std::uint64_t divide_error = 0, breakpoint = 3, invalid_opcode = 6, general_protection = 13,
                        page_fault = 14, alignment_check = 17;
constexpr std::uint64_t error_protection = 1; // of a page fault: the page is mapped

std::optional<SignalInfo> signal_of(std::uint64_t exception, std::uint64_t error, std::uint64_t address) {
  const auto info = [](std::int32_t signal, std::int32_t code, std::uint64_t at = 0) {
    SignalInfo result{.signal = signal, .code = code, .address = at};
    result.has_sender = false;
    return std::optional(result);
  };
  switch (exception) {
  case divide_error: return info(sigfpe, fpe_intdiv);
  case breakpoint: return info(sigtrap, si_kernel);
  case invalid_opcode: return info(sigill, ill_illopn);
  case general_protection: return info(sigsegv, si_kernel);
  case page_fault: return info(sigsegv, error & error_protection ? segv_accerr : segv_maperr, address);
  case alignment_check: return info(sigbus, bus_adraln);
  default: return std::nullopt;
  }
}

/// The dividend has twice the size of the divisor: it is in DX:AX, for one byte in AX.
std::optional<bool> division_faults(const code::InstructionOperands& operands, std::uint64_t divisor,
                                    const unwind::Registers& registers) {
  constexpr std::uint8_t ax = 0, dx = 1; // DWARF numbers
  const std::uint8_t size = operands.divisor->size;
  const unsigned bits = 8u * size;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits), sign = std::uint64_t{1} << (bits - 1);
  const auto low_register = registers.get(ax), high_register = size == 1 ? low_register : registers.get(dx);
  if (!low_register || !high_register) return std::nullopt;
  std::uint64_t by = divisor, low = *low_register & mask,
                high = (size == 1 ? *high_register >> bits : *high_register) & mask;
  if (by == 0) return true;
  if (!operands.is_signed_division) return high >= by;
  const bool is_negative = high & sign, by_negative = by & sign;
  if (is_negative) {
    low = -low & mask;
    high = (~high + (low == 0)) & mask;
  }
  if (by_negative) by = -by & mask;
  // The smallest dividend whose quotient does not fit: 2^(bits - 1) times the divisor, and once more if the
  // quotient is negative.
  std::uint64_t limit_high = by >> 1, limit_low = by & 1 ? sign : 0;
  if (is_negative != by_negative) {
    limit_low = (limit_low + by) & mask;
    limit_high += limit_low < by;
  }
  return high != limit_high ? high > limit_high : low >= limit_low;
}

// Linux sends SIGTRAP without an address for int3 (arch/x86/kernel/traps.c, do_int3).
constexpr std::uint8_t int3[] = {0xcc}, syscall[] = {0x0f, 0x05};

} // namespace

const FaultAbi amd64 = {.refused = RefusedAccess{.address_bits = 48, .aligned_bytes = 16},
                        .breakpoint = int3,
                        .system_call = syscall,
                        .signal_of = signal_of,
                        .division_faults = division_faults};

} // namespace sframe::crash::abi
