// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as the sections of a module of this process, for lib/here: the first byte selects .sframe
// or .eh_frame (with a search table that is the section's end, if the byte says so), or a stack; the second
// what is known of the registers; the rest is the section, or memory with signal frames and trampolines. A
// section's rules are applied to a frame on a stack of this program. Properties: an address has the rule of
// the row that libsframe finds, a step ends, and memory outside the stack is not read (AddressSanitizer would
// not see that; the addresses are those of unmapped pages).

#include "cost.h"

#include "cfi_table.h"
#include "host.h"
#include "sframe_table.h"
#include "step.h"

#include "sframe/convert.h"
#include "sframe/section.h"

#include <array>
#include <cstring>
#include <vector>

using namespace sframe;
using sframe::fuzz::require;
namespace own = sframe::here;

namespace {

constexpr std::uint64_t address = 0x400000, base = 0x100000;
constexpr std::uint32_t most_asked = 256;

/// A step from a frame that has `known` registers, all of them near its SP.
void step(std::uint64_t known, const own::FrameRule& rule) {
  std::array<std::uint64_t, 512> stack;
  for (std::size_t i = 0; i < stack.size(); ++i)
    stack[i] = reinterpret_cast<std::uint64_t>(&stack[i * 7 % stack.size()]);
  own::WalkFrame frame;
  frame.registers.pc = base;
  const AbiTraits& abi = traits(own::host::abi);
  for (std::uint16_t reg = 0; reg < unwind::Registers::count; ++reg)
    if (known >> reg % 8 & 1 || reg == abi.sp)
      frame.registers.set(reg, reinterpret_cast<std::uint64_t>(&stack[reg == abi.sp ? 64 : 64 + reg]));
  own::StackMemory memory(frame.registers.values[abi.sp]);
  const std::uint64_t sp = frame.registers.values[abi.sp];
  if (own::step(frame, rule, memory) == unwind::StopReason::none)
    require(frame.registers.has(abi.sp) && (frame.registers.values[abi.sp] >= sp || rule.flags & 1),
            "a caller whose stack is below");
}

/// Whether `op` is the rule. Registers that are `same` need none.
bool agrees(const own::Operation& op, const Rule& rule) {
  using Kind = own::Operation::Kind;
  switch (rule.kind) {
  case Rule::Kind::value: return op.kind == Kind::value && op.base == rule.base && op.offset == rule.offset;
  case Rule::Kind::stored: return op.kind == Kind::stored && op.base == rule.base && op.offset == rule.offset;
  case Rule::Kind::undefined: return op.kind == Kind::undefined;
  case Rule::Kind::same: return op.kind == Kind::value && op.offset == 0;
  case Rule::Kind::fixed: break;
  }
  return false;
}

/// Where functions are sorted and apart, and all rows can be read.
bool is_simple(const Section& section) {
  std::uint64_t end = base;
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    const auto fde = section.fde(i);
    if (!fde || fde->size == 0 || fde->start < end || fde->start >= base + 0xffff'ffff - fde->size ||
        fde->pc_type != PcType::inc)
      return false;
    end = fde->start + fde->size;
    if ((rows += fde->num_fres) > section.plausible_rows()) return false;
    RowCursor cursor = section.rows(*fde);
    for (FrameRow row; cursor.next(row);) {
    }
    if (cursor.error()) return false;
  }
  return section.header().flags & flag_sorted && section.abi().id == own::host::abi;
}

void compare(const Section& section, const own::SframeTable& table) {
  own::Operations to;
  for (std::uint32_t i = 0; i < std::min(section.num_fdes(), most_asked); ++i) {
    const EncodedFde fde = *section.fde(i);
    for (const std::uint64_t pc : {fde.start, fde.start + fde.size / 2, fde.start + fde.size - 1}) {
      const auto match = section.find(pc);
      if (!match) return;
      const auto rule = table.find(pc, to);
      require(rule.has_value() == match->has_value(), "a row that is missing, or too many");
      if (!rule) continue;
      const FrameRow row =
          resolve_fixed((*match)->row, section.header().fixed_ra_offset, section.header().fixed_fp_offset);
      require(agrees(rule->cfa(), row.cfa) && agrees(rule->ra(), row.ra), "another rule");
    }
  }
}

/// Words whose highest byte is 0x80 count from the start of the memory. The first two are pc and SP.
void step_over_signals(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> memory(bytes.size() / sizeof(std::uint64_t));
  if (memory.size() < 2) return;
  std::memcpy(memory.data(), bytes.data(), memory.size() * sizeof(std::uint64_t));
  const auto start = reinterpret_cast<std::uint64_t>(memory.data());
  for (std::uint64_t& word : memory)
    if (word >> 56 == 0x80) word = start + (word & 0xffff);
  own::WalkFrame frame;
  const std::uint16_t sp = traits(own::host::abi).sp;
  frame.registers.pc = memory[0];
  frame.registers.set(sp, memory[1]);
  own::StackMemory stack(memory[1]);
  unwind::Registers saved;
  if (own::read_signal_registers(memory[1], stack, saved)) require(saved.has(sp), "no SP");
  for (unsigned most = 16; most != 0 && own::step_over_signal(frame, stack) == unwind::StopReason::none;
       --most)
    require(frame.registers.pc && frame.registers.has(sp) && frame.pc_exact, "no frame");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const fuzz::Cost cost(size, fuzz::many_passes);
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  if ((data[0] & 3) == 2) {
    step_over_signals(bytes);
    return 0;
  }
  const own::SectionBytes section{bytes, address};
  const bool is_sframe = data[0] % 2 == 0;
  const std::size_t search_size = is_sframe ? 0 : std::min<std::size_t>(data[0] & 0xfe, bytes.size());
  const own::SectionBytes search_table{bytes.last(search_size), address - 0x1000};
  const own::SframeTable sframe(is_sframe ? section : own::SectionBytes{});
  const own::CfiTable cfi(is_sframe ? own::SectionBytes{} : section, search_table);
  require(sframe.complete() && cfi.complete(), "memory");
  if (is_sframe)
    if (const auto parsed = Section::parse(bytes, address); parsed && is_simple(*parsed))
      compare(*parsed, sframe);
  own::Workspace workspace;
  std::uint32_t asked = 0;
  constexpr std::uint64_t near = 0x10000; // functions are not far from their section
  for (std::uint64_t pc = address - near; pc < address + near && asked < most_asked; pc += 5) {
    own::Operations to;
    const auto rule = is_sframe ? sframe.find(pc, to) : cfi.find(pc, to, *workspace.get());
    if (!rule) continue;
    ++asked;
    step(data[1], *rule);
  }
  return 0;
}
