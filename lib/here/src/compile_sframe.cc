// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compile.h"
#include "host.h"

#include "sframe/convert.h"
#include "sframe/section.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sframe::walk::own {

namespace {

/// `rule` is not `fixed`.
Operation operation(const sframe::Rule& rule, std::uint16_t reg) {
  const auto own = static_cast<std::uint8_t>(reg);
  switch (rule.kind) {
  case sframe::Rule::Kind::same: return {Operation::Kind::value, own, reg, 0};
  case sframe::Rule::Kind::undefined:
  case sframe::Rule::Kind::fixed: break;
  case sframe::Rule::Kind::value: return {Operation::Kind::value, own, rule.base, rule.offset};
  case sframe::Rule::Kind::stored: return {Operation::Kind::stored, own, rule.base, rule.offset};
  }
  return {Operation::Kind::undefined, own, 0, 0};
}
static_assert(Operation::cfa_base == sframe::Rule::cfa_base);

std::uint32_t add_rule(const FrameRow& encoded, const Header& header, bool signal_frame, RuleSet& rules) {
  const AbiTraits& abi = traits(host::abi);
  const FrameRow row = resolve_fixed(encoded, header.fixed_ra_offset, header.fixed_fp_offset);
  const std::array operations{operation(row.cfa, abi.sp), operation(row.ra, abi.ra),
                              operation(row.fp, abi.fp)};
  return rules.number(operations, Rule::others_lost | (signal_frame ? Rule::signal_frame : 0));
}

/// Adds one section's functions that are not behind `limit`.
class SectionCompiler {
public:
  SectionCompiler(const Section& section, std::uint64_t base, RuleSet& rules, RowTable& rows)
      : section_(section), base_(base), left_(section.plausible_rows()), rules_(rules), rows_(rows) {}

  void add(const EncodedFde& fde, std::uint64_t limit);

private:
  /// A row of the function at hand, which every block of it has.
  struct BlockRow {
    std::uint32_t offset, rule;
  };
  void read_block(const EncodedFde& fde);
  void add_row(std::uint64_t start, std::uint64_t end, std::uint32_t rule) {
    rows_.add(static_cast<std::uint32_t>(start - base_), static_cast<std::uint32_t>(end - base_), rule);
  }

  const Section& section_;
  std::uint64_t base_;
  std::uint64_t left_; ///< rows, in a section that makes sense
  RuleSet& rules_;
  RowTable& rows_;
  std::vector<BlockRow> block_;
};

void SectionCompiler::read_block(const EncodedFde& fde) {
  block_.clear();
  RowCursor cursor = section_.rows(fde);
  for (FrameRow row; block_.size() < left_ && cursor.next(row);)
    block_.push_back({row.offset, add_rule(row, section_.header(), fde.signal_frame, rules_)});
}

void SectionCompiler::add(const EncodedFde& fde, std::uint64_t limit) {
  const std::uint64_t end = std::min(fde.start + fde.size, limit);
  if (section_.outermost_throughout(fde) && fde.start < end)
    add_row(fde.start, end, add_rule(FrameRow::outermost(0), section_.header(), fde.signal_frame, rules_));
  // Without rows there is nothing to repeat, however many blocks there are.
  read_block(fde);
  if (block_.empty()) return;
  const std::uint64_t step = fde.pc_type == PcType::mask && fde.rep_size ? fde.rep_size : fde.size;
  for (std::uint64_t start = fde.start; start < end && left_; start += step) {
    const std::uint64_t block_end = std::min(start + step, end);
    for (const BlockRow& row : block_)
      if (start + row.offset < block_end) add_row(start + row.offset, block_end, row.rule);
    left_ -= std::min<std::uint64_t>(left_, block_.size());
  }
}

} // namespace

void compile_sframe(const SectionBytes& bytes, std::uint64_t base, RuleSet& rules, RowTable& rows) {
  struct Function {
    EncodedFde fde;
    std::size_t section;
  };
  std::vector<Section> sections;
  std::vector<Function> functions;
  for (Concatenated all(bytes.bytes, bytes.address);;) {
    const auto section = all.next();
    if (!section || !*section || (*section)->abi().id != host::abi) break;
    for (std::uint32_t i = 0; i < (*section)->num_fdes(); ++i)
      if (const auto fde = (*section)->fde(i); fde && fde->size && fde->start >= base)
        functions.push_back({*fde, sections.size()});
    sections.push_back(**section);
  }
  std::ranges::stable_sort(functions, {}, [](const Function& f) { return f.fde.start; });

  std::vector<SectionCompiler> compilers;
  for (const Section& section : sections) compilers.emplace_back(section, base, rules, rows);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    std::uint64_t limit = base + std::numeric_limits<std::uint32_t>::max();
    if (i + 1 < functions.size()) limit = std::min(limit, functions[i + 1].fde.start);
    compilers[functions[i].section].add(functions[i].fde, limit);
  }
}

std::uint32_t add_entry_rule(RuleSet& rules) {
  const AbiTraits& abi = traits(host::abi);
  const FrameRow row = resolve_fixed(abi.entry_row(), abi.fixed_ra_offset, 0);
  // The function has not run: whatever it was called with is still there.
  const std::array operations{operation(row.cfa, abi.sp), operation(row.ra, abi.ra)};
  return rules.number(operations, 0);
}

} // namespace sframe::walk::own
