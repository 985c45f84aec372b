// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64, little and big endian (AAPCS64, sections 6.1 and 6.4). Instructions are little endian in both.
//
// Register numbers: x0 to x30 0 to 30, sp 31. A call keeps x19 to x29. The frame record that x29 points to:
// [x29] caller's x29, [x29+8] return address. It may lie anywhere in the frame: GCC puts it at the bottom
// (where x29 = sp), Clang at the top (where CFA = x29 + 16).
//
// Addresses (Linux Documentation/arch/arm64/memory.rst): 39 bits with the smallest page tables, 48 by
// default; a program gets more only on request.
//
// Signals (Linux arch/arm64/kernel/signal.c, include/uapi/asm/sigcontext.h): the handler returns to the
// vdso's `mov x8, #139; svc #0` (rt_sigreturn). There sp points to a struct rt_sigframe: siginfo of 128
// bytes, then the ucontext, whose sigcontext is at 176: fault_address 0, x0 to x30 from 8 on, sp 256, pc 264.

#include "abi/abis.h"

#include "sframe/bytes.h"

#include <array>

namespace sframe::unwind::abi {

namespace {

constexpr std::string_view names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                      "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                      "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                      "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};

constexpr std::uint8_t rt_sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
constexpr std::uint8_t rt_sigreturn_stops[] = {0, 4};

constexpr std::uint16_t sigcontext = 128 + 176;
constexpr auto saved = [] {
  std::array<SavedRegister, 32> result{};
  save_row(result, 0, 0, 32, sigcontext + 8);
  return result;
}();

constexpr SignalRecord record = {
    .info = 0, .info_may_be_missing = true, .address = sigcontext, .exception = {}, .error = {}};
constexpr SignalTrampoline trampolines[] = {
    {rt_sigreturn, rt_sigreturn_stops, saved, sigcontext + 264, record, 128 + 16}};

/// Returns 0 (`udf #0`) for fewer than 4 bytes.
std::uint32_t last_instruction(std::span<const std::byte> bytes) {
  return bytes.size() < 4 ? 0 : load<std::uint32_t>(bytes.last(4).data(), ByteOrder::little);
}

/// `bl`, `blr`, and `blr` with authentication (`blraa` and variants). (Arm Architecture Reference Manual,
/// C6.2.)
bool ends_with_call(std::span<const std::byte> bytes) {
  const std::uint32_t instruction = last_instruction(bytes);
  return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfffffc1f) == 0xd63f0000 ||
         (instruction & 0xfefff800) == 0xd63f0800;
}

/// `bl`: its offset counts words from the start of the instruction.
std::optional<std::uint64_t> call_target(std::span<const std::byte> bytes, std::uint64_t address) {
  const std::uint32_t instruction = last_instruction(bytes);
  if ((instruction & 0xfc000000) != 0x94000000) return std::nullopt;
  const auto distance = static_cast<std::int32_t>(instruction << 6) >> 4; // 26 bits, in words
  return address - 4 + static_cast<std::uint64_t>(std::int64_t{distance});
}

/// `ret` with and without authentication, `nop`, `udf #0`.
bool ends_function(std::span<const std::byte> bytes) {
  constexpr std::uint32_t ret = 0xd65f03c0, retaa = 0xd65f0bff, retab = 0xd65f0fff, nop = 0xd503201f;
  const std::uint32_t instruction = last_instruction(bytes);
  return bytes.size() >= 4 && (instruction == ret || instruction == retaa || instruction == retab ||
                               instruction == nop || instruction == 0);
}

/// A cap token of type 0: the upper 52 bits of its own address.
std::uint64_t shadow_before_signal(std::uint64_t address, std::uint64_t word) {
  constexpr std::uint64_t type = 0xfff;
  return word == (address & ~type) ? address + 8 : 0;
}

constexpr UnwindAbi aarch64(Abi id) {
  return {
      .id = id,
      .register_names = names,
      .call_saved = set_of({19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, Registers::vector_granule}),
      .frame_record = FrameRecord{.caller_fp = 0, .return_address = 8, .cfa = 16, .cfa_at_least = true},
      .call_trace = {.return_address = 8, .sp = 16, .caller_fp = 0}, // a frame record
      .trampolines = trampolines,
      .shadow_before_signal = shadow_before_signal,
      .longest_call = 4,
      .ends_with_call = ends_with_call,
      .call_target = call_target,
      .instruction_size = 4,
      .function_alignment = 4,
      .ends_function = ends_function,
      .fewest_address_bits = 39,
      .usual_address_bits = 48,
  };
}

} // namespace

const UnwindAbi aarch64_little = aarch64(Abi::aarch64_little);
const UnwindAbi aarch64_big = aarch64(Abi::aarch64_big);

} // namespace sframe::unwind::abi
