// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x (z/Architecture ELF ABI supplement, section 1.2).
//
// Register numbers: r0 to r15 0 to 15; the floating-point registers 16 to 31 in the order of `names`. A call
// keeps r6 to r13 and f8 to f15. There is no frame record. A function saves the registers that it changes in
// its caller's frame: register N at r15 + 8 N, so r14 at 112 and r15 at 120. Code built with -mbackchain puts
// the caller's r15 at 0(r15).
//
// The address in the PSW is after an instruction that was suppressed, as those that raise SIGILL and SIGFPE
// are (Principles of Operation, chapter 5, "Types of Instruction Ending"). After a page fault it is the
// address of the instruction itself.
//
// Signals (Linux arch/s390/kernel/signal.c): the handler returns to `svc 173` (rt_sigreturn, for handlers
// with SA_SIGINFO) or `svc 119` (sigreturn, for all others), in the vdso or, in former kernels, on the stack.
// There r15 points to the signal frame: 160 bytes for the handler's callees, then
//
//   rt_sigframe   160 svc (2)   168 siginfo (128)   296 ucontext, whose registers are at 40
//   sigframe      160 sigcontext (16)   176 registers
//
// Registers: PSW mask 0, PSW address 8, r0 to r15 from 16 on (8 bytes each), access registers from 144 on (4
// bytes each), floating-point control 208, f0 to f15 from 216 on.

#include "abi/abis.h"

#include "sframe/bytes.h"

#include <array>

namespace sframe::unwind::abi {

namespace {

constexpr std::string_view names[] = {
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
    "f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7", "f8", "f10", "f12", "f14", "f9",  "f11", "f13", "f15"};
constexpr std::uint8_t fp_numbers[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

constexpr std::uint8_t rt_sigreturn[] = {0x0a, 173}, sigreturn[] = {0x0a, 119};
constexpr std::uint8_t stops[] = {0};

constexpr std::uint16_t rt_registers = 296 + 40, old_registers = 176;
constexpr auto saved_from(std::uint16_t start) {
  std::array<SavedRegister, 32> result{};
  save_row(result, 0, 0, 16, start + 16u);
  for (std::uint16_t i = 0; i < 16; ++i)
    result[16 + i] = {static_cast<std::uint16_t>(16 + i),
                      static_cast<std::uint16_t>(start + 216 + 8 * fp_numbers[i])};
  return result;
}
constexpr auto rt_saved = saved_from(rt_registers), old_saved = saved_from(old_registers);

constexpr SignalTrampoline trampolines[] = {
    {rt_sigreturn,
     stops,
     rt_saved,
     rt_registers + 8,
     {.info = 168, .info_may_be_missing = false, .address = {}, .exception = {}, .error = {}},
     296 + 16},
    {sigreturn, stops, old_saved, old_registers + 8, {}},
};

/// `basr`, `balr` (2 bytes), `bras`, `bas`, `bal` (4 bytes), `brasl` (6 bytes). (z/Architecture Principles
/// of Operation, chapter 7.) A `basr` with second operand 0 does not branch: code reads its own address with
/// it.
bool ends_with_call(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t back) -> std::uint8_t {
    return back <= bytes.size() ? std::to_integer<std::uint8_t>(bytes[bytes.size() - back]) : 0;
  };
  const auto low = [&](std::size_t back) { return at(back) & 0xf; };
  return ((at(2) == 0x0d || at(2) == 0x05) && low(1) != 0) || (at(4) == 0xa7 && low(3) == 5) ||
         at(4) == 0x4d || at(4) == 0x45 || (at(6) == 0xc0 && low(5) == 5);
}

/// `brasl` and `bras`: their offsets count halfwords from the start of the instruction.
std::optional<std::uint64_t> call_target(std::span<const std::byte> bytes, std::uint64_t address) {
  const auto opcode = [&](std::size_t back) {
    return back <= bytes.size() ? load<std::uint16_t>(bytes.last(back).data(), ByteOrder::big) & 0xff0f : 0;
  };
  const auto target = [&](std::uint32_t size, std::int64_t halfwords) {
    return address - size + static_cast<std::uint64_t>(2 * halfwords);
  };
  if (opcode(6) == 0xc005) return target(6, load<std::int32_t>(bytes.last(4).data(), ByteOrder::big));
  if (opcode(4) == 0xa705) return target(4, load<std::int16_t>(bytes.last(2).data(), ByteOrder::big));
  return std::nullopt;
}

/// `br %r14`, and `nopr` with any register (07 00 to 07 0f), which assemblers use as padding.
bool ends_function(std::span<const std::byte> bytes) {
  if (bytes.size() < 2 || bytes[bytes.size() - 2] != std::byte{0x07}) return false;
  const auto operands = std::to_integer<std::uint8_t>(bytes.back());
  return operands == 0xfe || operands >> 4 == 0;
}

} // namespace

const UnwindAbi s390x = {
    .id = Abi::s390x,
    .register_names = names,
    .call_saved = set_of({6, 7, 8, 9, 10, 11, 12, 13, 24, 25, 26, 27, 28, 29, 30, 31}),
    .result_register = 2,
    .left_aligned = 0xffff0000, // floating-point registers
    .frame_record = std::nullopt,
    .call_trace = {.return_address = 112, .sp = 0, .sp_saved = 120}, // where r14 and r15 are saved
    .back_chain = 0,
    .trampolines = trampolines,
    .signals_after_fault = set_of({4, 8}), // SIGILL, SIGFPE
    .longest_call = 6,
    .ends_with_call = ends_with_call,
    .call_target = call_target,
    .function_alignment = 8,
    .ends_function = ends_function,
};

} // namespace sframe::unwind::abi
