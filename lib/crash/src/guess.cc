// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "guess.h"

#include "sframe/address.h"
#include "sframe/base/printable.h"
#include "sframe/base/problem.h"
#include "sframe/base/text.h"
#include "sframe/bytes.h"

#include <algorithm>
#include <array>

namespace sframe::crash {

namespace {

using Access = Fault::Access;

/// The text in the bytes of a pointer, up to its terminating zeros; empty if they are none.
std::string text_in_pointer(std::uint64_t value, ByteOrder order) {
  std::array<std::byte, 8> bytes{};
  store<std::uint64_t>(bytes.data(), value, order);
  std::string text(as_text(bytes));
  text.erase(text.find_last_not_of('\0') + 1);
  const auto is_ascii = [](char c) { return c >= 0x20 && c <= 0x7e; };
  return std::ranges::all_of(text, is_ascii) ? text : std::string();
}

bool is_writable(const core::MemoryRange* range) {
  return range && range->flags & elf::pf_w;
}

bool is_stack_overflow(const FaultFrame& frame, Access access, std::uint64_t address) {
  constexpr std::uint64_t near = 64 << 10;
  const auto sp = frame.sp();
  if (!sp || access == Access::execute) return false;
  // What is accessed is near the stack pointer, and below what can be used of the stack.
  const std::uint64_t distance = address > *sp ? address - *sp : *sp - address;
  if (distance > near || is_writable(frame.core().range_at(address))) return false;
  for (std::uint64_t up = smallest_page; up <= 2 * near; up += smallest_page)
    if (is_writable(frame.core().range_at((address & ~(smallest_page - 1)) + up))) return true;
  return false;
}

/// SP is far below the stack, and what is accessed is between them or just below SP: a push, a call, a local
/// variable, whatever register has its address. The next memory above that can be written must be the stack,
/// so that SP itself is not overwritten.
bool is_large_frame(const FaultFrame& frame, Access access, std::uint64_t address) {
  constexpr std::uint64_t red_zone = 128;
  const core::Core& core = frame.core();
  const auto sp = frame.sp();
  if (!sp || access == Access::execute || address + red_zone < *sp) return false;
  if (is_writable(core.range_at(address))) return false;
  const auto ranges = core.memory();
  const auto is_above = [&](const core::MemoryRange& range) {
    return range.start > address && is_writable(&range);
  };
  const auto stack = std::ranges::find_if(ranges, is_above);
  if (stack == ranges.end() || *sp >= stack->start) return false;
  // The kernel puts the random bytes on the first stack; those of other threads begin with a guard page.
  if (const auto random = core.auxv(elf::at_random); random && stack->contains(*random)) return true;
  if (frame.process().threads().front().tid == core.pid() || stack == ranges.begin()) return false;
  const core::MemoryRange& below = stack[-1];
  return below.end() == stack->start && !(below.flags & (elf::pf_r | elf::pf_w | elf::pf_x));
}

/// The pointer is in a register, which the instruction adds something to.
std::string overwritten_pointer(const FaultFrame& frame, std::uint64_t address,
                                const std::optional<code::MemoryAccess>& used) {
  if (!used) return guess_overwritten(frame, "a pointer", address);
  for (const std::uint8_t reg : {used->base, used->index}) {
    const auto value = reg == code::MemoryAccess::none ? std::nullopt : frame.registers().get(reg);
    std::string guess = value ? guess_overwritten(frame, "a pointer", *value) : std::string();
    if (!guess.empty()) return guess;
  }
  return {};
}

} // namespace

std::string guess_cause(const FaultFrame& frame, std::int32_t signal, Access access, std::uint64_t address,
                        const std::optional<code::MemoryAccess>& used) {
  constexpr std::uint64_t first_mappable = 0x10000; // vm.mmap_min_addr
  if (address < first_mappable && signal == core::sigsegv)
    return address == 0 ? "a null pointer" : "a null pointer + " + hex(address);
  if (~address < first_mappable && signal == core::sigsegv) return "a null pointer - " + hex(~address + 1);
  if (is_stack_overflow(frame, access, address)) return "a stack overflow";
  if (is_large_frame(frame, access, address)) return "a stack overflow by a large frame";
  return overwritten_pointer(frame, address, used);
}

std::string guess_overwritten(const FaultFrame& frame, std::string_view what, std::uint64_t value) {
  constexpr std::size_t shortest = 4;
  constexpr std::uint64_t near = 1 << 30;
  const std::string text = text_in_pointer(value, frame.traits().byte_order);
  const auto is_near = [&](const core::MemoryRange& range) {
    return value - (range.start - near) < range.end() - range.start + 2 * near; // wraps
  };
  if (text.size() < shortest || (text.size() < 8 && std::ranges::any_of(frame.core().memory(), is_near)))
    return {};
  return std::string(what) + " overwritten by the text \"" + printable(text) + '"';
}

} // namespace sframe::crash
