// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compile.h"
#include "host.h"

#include "sframe/cfi/rows.h"
#include "sframe/cfi/section.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>

namespace sframe::here {

namespace {

using cfi::CfaRule;
using cfi::RegisterRule;
using Kind = Operation::Kind;
using CfiRow = cfi::Row<host::CfiRegisters>;
using CfiCursor = cfi::BasicRowCursor<host::CfiRegisters>;
static_assert(host::CfiRegisters::slots <= unwind::Registers::count);

constexpr bool fits(std::int64_t offset) {
  return offset == static_cast<std::int32_t>(offset);
}

/// Compiles a row's rules to operations.
class RowCompiler {
public:
  RowCompiler(RulePool& rules, const AbiTraits& abi) : rules_(rules), abi_(abi) {}

  /// Returns the row's rule; nothing if tables cannot represent it (offsets of more than 32 bits) or it has
  /// no CFA.
  std::optional<std::uint32_t> compile(const CfiRow& row, bool signal_frame);

private:
  bool add(std::uint16_t reg, Kind kind, std::uint64_t base, std::int64_t offset);
  bool add_expression(std::uint16_t reg, Kind kind, std::span<const std::byte> bytes);
  bool add_cfa(const CfiRow& row);
  bool add_register(const CfiRow& row, std::uint16_t reg, const RegisterRule& rule);

  RulePool& rules_;
  const AbiTraits& abi_;
  std::array<Operation, host::CfiRegisters::slots + 3> operations_;
  std::size_t count_ = 0;
};

bool RowCompiler::add(std::uint16_t reg, Kind kind, std::uint64_t base, std::int64_t offset) {
  if (!fits(offset) || base > Operation::cfa_base) return false;
  operations_[count_++] = {kind, static_cast<std::uint8_t>(reg), static_cast<std::uint16_t>(base),
                           static_cast<std::int32_t>(offset)};
  return true;
}

bool RowCompiler::add_expression(std::uint16_t reg, Kind kind, std::span<const std::byte> bytes) {
  return bytes.size() < Operation::cfa_base && add(reg, kind, bytes.size(), rules_.expression_offset(bytes));
}

bool RowCompiler::add_cfa(const CfiRow& row) {
  switch (row.cfa.kind) {
  case CfaRule::Kind::register_offset:
    return row.cfa.number < Operation::cfa_base && add(0, Kind::value, row.cfa.number, row.cfa.offset);
  case CfaRule::Kind::expression: return add_expression(0, Kind::val_expression, row.expression(row.cfa));
  case CfaRule::Kind::unspecified: break;
  }
  // Only a frame without caller needs no CFA.
  return row.ra().kind == RegisterRule::Kind::undefined && add(0, Kind::undefined, 0, 0);
}

bool RowCompiler::add_register(const CfiRow& row, std::uint16_t reg, const RegisterRule& rule) {
  switch (rule.kind) {
  case RegisterRule::Kind::unspecified:
  case RegisterRule::Kind::same: return add(reg, Kind::value, reg, 0);
  case RegisterRule::Kind::undefined: return add(reg, Kind::undefined, 0, 0);
  case RegisterRule::Kind::offset: return add(reg, Kind::stored, Operation::cfa_base, rule.offset);
  case RegisterRule::Kind::val_offset: return add(reg, Kind::value, Operation::cfa_base, rule.offset);
  case RegisterRule::Kind::reg:
    return rule.number < unwind::Registers::count && add(reg, Kind::value, rule.number, 0);
  case RegisterRule::Kind::expression: return add_expression(reg, Kind::expression, row.expression(rule));
  case RegisterRule::Kind::val_expression:
    return add_expression(reg, Kind::val_expression, row.expression(rule));
  }
  return false;
}

std::optional<std::uint32_t> RowCompiler::compile(const CfiRow& row, bool signal_frame) {
  count_ = 0;
  const auto column = static_cast<std::uint16_t>(row.return_register);
  if (row.return_register >= host::CfiRegisters::slots || !add_cfa(row) ||
      !add_register(row, column, row.ra()))
    return std::nullopt;
  for (std::uint16_t reg = 0; reg < host::CfiRegisters::slots; ++reg) {
    const RegisterRule& rule = row.rules[reg]; // slots are registers here; most have no rule
    if (rule.kind == RegisterRule::Kind::unspecified || reg == column || reg == abi_.sp) continue;
    if (!add_register(row, reg, rule)) return std::nullopt;
  }
  // SP is the CFA unless the row has a rule for SP, which comes last.
  const RegisterRule sp = row.rule(abi_.sp);
  // "Undefined" counts as no rule: libgcc sets SP to the CFA then, too.
  const bool from_cfa =
      sp.kind == RegisterRule::Kind::unspecified || sp.kind == RegisterRule::Kind::undefined;
  if (!from_cfa && !add_register(row, abi_.sp, sp)) return std::nullopt;
  return rules_.number(std::span(operations_).first(count_), signal_frame ? CompiledRule::signal_frame : 0);
}

struct FdeLocation {
  std::uint64_t start;
  std::uint32_t offset; ///< of the FDE in the section

  friend auto operator<=>(const FdeLocation&, const FdeLocation&) = default;
};

/// Sorted by address; equal ones in the section's order.
Array<FdeLocation> locate_fdes(const cfi::CfiSection& section) {
  Array<FdeLocation> locations;
  if (section.bytes().size() > std::numeric_limits<std::uint32_t>::max()) return locations;
  for (cfi::FdeCursor fdes = section.fdes(); !locations.failed();) {
    const auto fde = fdes.next();
    if (!fde) continue; // an invalid one
    if (!*fde) break;
    if ((*fde)->size) locations.push_back({(*fde)->start, static_cast<std::uint32_t>((*fde)->offset)});
  }
  if (!std::ranges::is_sorted(locations)) std::ranges::sort(locations);
  return locations;
}

} // namespace

bool compile_cfi(const SectionBytes& bytes, std::uint64_t base, RulePool& rules, RowTable& rows) {
  const AbiTraits& abi = traits(host::abi);
  const cfi::CfiSection section(cfi::SectionKind::eh_frame, bytes.bytes, bytes.address, abi,
                                {.text = 0, .data = bytes.data_base});
  const Array<FdeLocation> functions = locate_fdes(section);
  if (functions.failed()) return false;
  RowCompiler compiler(rules, abi);
  CfiRow row;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto fde = section.fde(functions[i].offset);
    // If functions overlap, the next one ends this one. 4 GiB after the base the table ends.
    std::uint64_t limit = base + std::numeric_limits<std::uint32_t>::max();
    if (i + 1 < functions.size()) limit = std::min(limit, functions[i + 1].start);
    if (!fde || fde->start < base) continue;
    CfiCursor cursor(section, *fde);
    while (cursor.next(row) && row.begin < limit)
      if (const auto rule = compiler.compile(row, fde->cie.signal_frame))
        rows.add(static_cast<std::uint32_t>(row.begin - base),
                 static_cast<std::uint32_t>(std::min(row.end, limit) - base), *rule);
  }
  return true;
}

} // namespace sframe::here
