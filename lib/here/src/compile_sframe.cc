// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compile.h"
#include "host.h"

#include "sframe/convert.h"
#include "sframe/section.h"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>

namespace sframe::here {

namespace {

/// `rule` must not be `fixed`.
Operation operation(const sframe::Rule& rule, std::uint16_t reg) {
  const auto register_number = static_cast<std::uint8_t>(reg);
  switch (rule.kind) {
  case sframe::Rule::Kind::same: return {Operation::Kind::value, register_number, reg, 0};
  case sframe::Rule::Kind::undefined:
  case sframe::Rule::Kind::fixed: break;
  case sframe::Rule::Kind::value: return {Operation::Kind::value, register_number, rule.base, rule.offset};
  case sframe::Rule::Kind::stored: return {Operation::Kind::stored, register_number, rule.base, rule.offset};
  }
  return {Operation::Kind::undefined, register_number, 0, 0};
}
static_assert(Operation::cfa_base == sframe::Rule::cfa_base);

std::uint32_t add_rule(const FrameRow& encoded, const Header& header, bool signal_frame, RulePool& rules) {
  const AbiTraits& abi = traits(host::abi);
  const FrameRow row = resolve_fixed(encoded, header.fixed_ra_offset, header.fixed_fp_offset);
  const std::array operations{operation(row.cfa, abi.sp), operation(row.ra, abi.ra),
                              operation(row.fp, abi.fp)};
  return rules.number(operations,
                      CompiledRule::other_registers_lost | (signal_frame ? CompiledRule::signal_frame : 0));
}

/// A section, and the number of rows that it may still have if it is valid.
struct OpenSection {
  Section section;
  std::uint64_t rows_left;
};

/// A row of the current function, repeated in each of its blocks.
struct BlockRow {
  std::uint32_t offset, rule;
};

/// Adds functions, up to a limit.
class FunctionCompiler {
public:
  FunctionCompiler(std::uint64_t base, RulePool& rules, RowTable& rows)
      : base_(base), rules_(rules), rows_(rows) {}

  void add(OpenSection& from, const EncodedFde& fde, std::uint64_t limit);
  bool failed() const { return block_.failed(); }

private:
  void read_block(const OpenSection& from, const EncodedFde& fde);
  void add_row(std::uint64_t start, std::uint64_t end, std::uint32_t rule) {
    rows_.add(static_cast<std::uint32_t>(start - base_), static_cast<std::uint32_t>(end - base_), rule);
  }

  std::uint64_t base_;
  RulePool& rules_;
  RowTable& rows_;
  Array<BlockRow> block_;
};

void FunctionCompiler::read_block(const OpenSection& from, const EncodedFde& fde) {
  block_.clear();
  RowCursor cursor = from.section.rows(fde);
  for (FrameRow row; block_.size() < from.rows_left && !block_.failed() && cursor.next(row);)
    block_.push_back({row.offset, add_rule(row, from.section.header(), fde.signal_frame, rules_)});
}

void FunctionCompiler::add(OpenSection& from, const EncodedFde& fde, std::uint64_t limit) {
  const std::uint64_t end = std::min(fde.start + fde.size, limit);
  if (from.section.outermost_throughout(fde) && fde.start < end)
    add_row(fde.start, end,
            add_rule(FrameRow::outermost(0), from.section.header(), fde.signal_frame, rules_));
  // Without rows there is nothing to repeat, regardless of the number of blocks.
  read_block(from, fde);
  if (block_.empty()) return;
  const std::uint64_t step = fde.pc_type == PcType::mask && fde.rep_size ? fde.rep_size : fde.size;
  for (std::uint64_t start = fde.start; start < end && from.rows_left; start += step) {
    const std::uint64_t block_end = std::min(start + step, end);
    for (const BlockRow& row : block_)
      if (start + row.offset < block_end) add_row(start + row.offset, block_end, row.rule);
    from.rows_left -= std::min<std::uint64_t>(from.rows_left, block_.size());
  }
}

/// The place of a function's description.
struct Function {
  std::uint64_t start;
  std::uint32_t section, number;

  friend auto operator<=>(const Function&, const Function&) = default;
};

} // namespace

bool compile_sframe(const SectionBytes& bytes, std::uint64_t base, RulePool& rules, RowTable& rows) {
  Array<OpenSection> sections;
  Array<Function> functions;
  for (Concatenated all(bytes.bytes, bytes.address); !functions.failed();) {
    const auto section = all.next();
    if (!section || !*section || (*section)->abi().id != host::abi) break;
    const auto number = static_cast<std::uint32_t>(sections.size());
    for (std::uint32_t i = 0; i < (*section)->num_fdes(); ++i)
      if (const auto fde = (*section)->fde(i); fde && fde->size && fde->start >= base)
        functions.push_back({fde->start, number, i});
    sections.push_back({**section, (*section)->plausible_rows()});
  }
  if (sections.failed() || functions.failed()) return false;
  std::ranges::sort(functions);

  FunctionCompiler compiler(base, rules, rows);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    std::uint64_t limit = base + std::numeric_limits<std::uint32_t>::max();
    if (i + 1 < functions.size()) limit = std::min(limit, functions[i + 1].start);
    OpenSection& section = sections[functions[i].section];
    if (const auto fde = section.section.fde(functions[i].number)) compiler.add(section, *fde, limit);
  }
  return !compiler.failed();
}

std::array<Operation, 2> entry_operations() {
  const AbiTraits& abi = traits(host::abi);
  const FrameRow row = resolve_fixed(abi.entry_row(), abi.fixed_ra_offset, 0);
  // The function has not run: all registers have their values from the call.
  return {operation(row.cfa, abi.sp), operation(row.ra, abi.ra)};
}

} // namespace sframe::here
