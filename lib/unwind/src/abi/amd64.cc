// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64 (System V psABI for x86-64, sections 3.2.1 and 3.2.2).
//
// Register numbers: rax 0, rdx 1, rcx 2, rbx 3, rsi 4, rdi 5, rbp 6, rsp 7, r8 to r15 8 to 15, rip 16.
// A call keeps rbx, rbp, r12 to r15. The frame record that rbp points to: [rbp] caller's rbp, [rbp+8] return
// address, CFA = rbp+16.
//
// Signals (Linux arch/x86/kernel/signal_64.c, asm/sigframe.h): the kernel pushes a struct rt_sigframe whose
// first word is the handler's return address, the C library's restorer: `mov $15,%rax; syscall`
// (rt_sigreturn). When the handler has returned there, SP points to the ucontext after that word: uc_flags
// 0, uc_link 8, uc_stack 16, and from 40 on r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags,
// cs 184 and other segments (2 bytes each), err 192, trapno 200, oldmask, cr2 216. The siginfo is at 304,
// after the signal mask.

#include "abi/abis.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::unwind::abi {

namespace {

constexpr std::string_view names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                      "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};

constexpr std::uint8_t restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
constexpr std::uint8_t restorer_stops[] = {0, 7};
constexpr std::uint8_t short_restorer[] = {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}; // mov $15,%eax; syscall
constexpr std::uint8_t short_restorer_stops[] = {0, 5};

constexpr SavedRegister saved[] = {
    {8, 40},  {9, 48},  {10, 56}, {11, 64}, {12, 72}, {13, 80}, {14, 88}, {15, 96},
    {5, 104}, {4, 112}, {6, 120}, {3, 128}, {1, 136}, {0, 144}, {2, 152}, {7, 160},
};
constexpr std::uint16_t saved_pc = 168;
constexpr std::uint16_t uc_stack = 16;
constexpr SignalRecord record = {
    .info = 304, .info_may_be_missing = true, .address = 216, .exception = 200, .error = 192};

constexpr SignalTrampoline trampolines[] = {
    {restorer, restorer_stops, saved, saved_pc, record, uc_stack},
    {short_restorer, short_restorer_stops, saved, saved_pc, record, uc_stack},
};

/// CS selects Linux's 32-bit segment, or one of the local descriptor table, which has no 64-bit ones, with a
/// user's rights.
/// Anything else is 64-bit: 0x33 on Linux, other numbers under Xen and in what emulators make.
bool is_32_bit_segment(std::uint64_t value) {
  constexpr std::uint16_t linux_32_bit = 0x23, local_table = 4, user = 3;
  const auto cs = static_cast<std::uint16_t>(value);
  return cs == linux_32_bit || (cs & (local_table | user)) == (local_table | user);
}

/// Bytes of `ff /2` with its operand, starting at the opcode (Intel SDM volume 2, section 2.1.5). `sib` is
/// used only if there is a SIB byte.
std::size_t indirect_call_size(std::uint8_t modrm, std::uint8_t sib) {
  const unsigned mode = modrm >> 6, rm = modrm & 7;
  if (mode == 3) return 2;
  std::size_t size = 2 + (rm == 4);
  if (mode == 1) size += 1;
  if (mode == 2 || (mode == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5)))) size += 4;
  return size;
}

/// `call rel32` or `call *operand`. Prefixes are ignored: they come before these bytes.
bool ends_with_call(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t back) { return std::to_integer<std::uint8_t>(bytes[bytes.size() - back]); };
  if (bytes.size() >= 5 && at(5) == 0xe8) return true;
  for (std::size_t size = 2; size <= 7 && size <= bytes.size(); ++size)
    if (at(size) == 0xff && (at(size - 1) >> 3 & 7) == 2 &&
        indirect_call_size(at(size - 1), size > 2 ? at(size - 2) : 0) == size)
      return true;
  return false;
}

/// `call rel32`, relative to the end of the instruction.
std::optional<std::uint64_t> call_target(std::span<const std::byte> bytes, std::uint64_t address) {
  if (bytes.size() < 5 || bytes[bytes.size() - 5] != std::byte{0xe8}) return std::nullopt;
  const std::int64_t distance = load<std::int32_t>(bytes.last(4).data(), ByteOrder::little);
  return address + static_cast<std::uint64_t>(distance);
}

/// `ret`, `int3`, and the nops that assemblers use as padding (Intel SDM volume 2B, NOP: recommended
/// sequences).
bool ends_function(std::span<const std::byte> bytes) {
  static constexpr std::uint8_t nop3[] = {0x0f, 0x1f, 0x00}, nop4[] = {0x0f, 0x1f, 0x40, 0x00},
                                nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00},
                                nop7[] = {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
                                nop8[] = {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}, nop1[] = {0x90},
                                ret[] = {0xc3}, int3[] = {0xcc};
  static constexpr std::span<const std::uint8_t> ends[] = {nop1, nop3, nop4, nop5, nop7, nop8, ret, int3};
  return std::ranges::any_of(ends, [&](std::span<const std::uint8_t> end) {
    return end.size() <= bytes.size() && std::ranges::equal(std::as_bytes(end), bytes.last(end.size()));
  });
}

/// The shadow stack pointer before the signal, with bit 63 set; the restorer's address is pushed after it.
std::uint64_t shadow_before_signal(std::uint64_t address, std::uint64_t word) {
  constexpr std::uint64_t mark = std::uint64_t{1} << 63;
  const std::uint64_t before = word & ~mark;
  return word & mark && before > address && before % 8 == 0 ? before : 0;
}

} // namespace

const UnwindAbi amd64 = {
    .id = Abi::amd64,
    .register_names = names,
    .call_saved = set_of({3, 6, 12, 13, 14, 15}),
    .long_double = LongDouble::x87,
    .ra_is_register = false,
    .frame_record = FrameRecord{.caller_fp = 0, .return_address = 8, .cfa = 16},
    .call_trace = {.return_address = 0, .sp = 8}, // calls leave only the return address
    .trampolines = trampolines,
    .mode = CodeMode{.reg = 51, .saved = 184, .is_other = is_32_bit_segment},
    .shadow_before_signal = shadow_before_signal,
    .longest_call = 7,
    .ends_with_call = ends_with_call,
    .call_target = call_target,
    .ends_function = ends_function,
};

} // namespace sframe::unwind::abi
