// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cfi_table.h"

#include "host.h"

#include "sframe/cfi/rows.h"
#include "sframe/unwind/abi.h"

#include <algorithm>

namespace sframe::here {

namespace {

using cfi::CfaRule;
using cfi::RegisterRule;
using Kind = Operation::Kind;
static_assert(host::CfiRegisters::slots <= unwind::Registers::count);

constexpr bool fits(std::int64_t offset) {
  return offset == static_cast<std::int32_t>(offset);
}

/// A row's rules as operations.
class RowDecoder {
public:
  RowDecoder(const CfiRow& row, const AbiTraits& abi, Operations& to)
      : row_(row), abi_(abi), operations_(to) {}

  /// Nothing if operations cannot represent the row (offsets of more than 32 bits) or it has no CFA.
  std::optional<FrameRule> decode(bool signal_frame);

private:
  bool add(std::uint16_t reg, Kind kind, std::uint64_t base, std::int64_t offset);
  bool add_cfa();
  bool add_register(std::uint16_t reg, const RegisterRule& rule);

  const CfiRow& row_;
  const AbiTraits& abi_;
  Operations& operations_;
  std::size_t count_ = 0;
};

bool RowDecoder::add(std::uint16_t reg, Kind kind, std::uint64_t base, std::int64_t offset) {
  if (!fits(offset) || base > Operation::cfa_base) return false;
  operations_[count_++] = {kind, static_cast<std::uint8_t>(reg), static_cast<std::uint16_t>(base),
                           static_cast<std::int32_t>(offset)};
  return true;
}

bool RowDecoder::add_cfa() {
  switch (row_.cfa.kind) {
  case CfaRule::Kind::register_offset:
    return row_.cfa.number < Operation::cfa_base && add(0, Kind::value, row_.cfa.number, row_.cfa.offset);
  case CfaRule::Kind::expression: return add(0, Kind::val_expression, row_.cfa.number, row_.cfa.offset);
  case CfaRule::Kind::unspecified: break;
  }
  // Only a frame without caller needs no CFA.
  return row_.ra().kind == RegisterRule::Kind::undefined && add(0, Kind::undefined, 0, 0);
}

bool RowDecoder::add_register(std::uint16_t reg, const RegisterRule& rule) {
  switch (rule.kind) {
  case RegisterRule::Kind::unspecified:
  case RegisterRule::Kind::same: return add(reg, Kind::value, reg, 0);
  case RegisterRule::Kind::undefined: return add(reg, Kind::undefined, 0, 0);
  case RegisterRule::Kind::offset: return add(reg, Kind::stored, Operation::cfa_base, rule.offset);
  case RegisterRule::Kind::val_offset: return add(reg, Kind::value, Operation::cfa_base, rule.offset);
  case RegisterRule::Kind::reg:
    return rule.number < unwind::Registers::count && add(reg, Kind::value, rule.number, 0);
  case RegisterRule::Kind::expression: return add(reg, Kind::expression, rule.number, rule.offset);
  case RegisterRule::Kind::val_expression: return add(reg, Kind::val_expression, rule.number, rule.offset);
  }
  return false;
}

std::optional<FrameRule> RowDecoder::decode(bool signal_frame) {
  const auto column = static_cast<std::uint16_t>(row_.return_register);
  if (row_.return_register >= host::CfiRegisters::slots || !add_cfa() || !add_register(column, row_.ra()))
    return std::nullopt;
  for (std::uint16_t reg = 0; reg < host::CfiRegisters::slots; ++reg) {
    const RegisterRule& rule = row_.rules[reg]; // slots are registers here; most have no rule
    if (rule.kind == RegisterRule::Kind::unspecified || reg == column || reg == abi_.sp) continue;
    if (!add_register(reg, rule)) return std::nullopt;
  }
  // SP is the CFA unless the row has a rule for SP, which comes last.
  const RegisterRule sp = row_.rule(abi_.sp);
  // "Undefined" counts as no rule: libgcc sets SP to the CFA then, too.
  const bool from_cfa =
      sp.kind == RegisterRule::Kind::unspecified || sp.kind == RegisterRule::Kind::undefined;
  if (!from_cfa && !add_register(abi_.sp, sp)) return std::nullopt;
  return FrameRule{std::span(operations_).first(count_),
                   static_cast<std::uint8_t>(signal_frame ? FrameRule::signal_frame : 0), row_.section};
}

} // namespace

CfiTable::CfiTable(const SectionBytes& bytes, const SectionBytes& search_table)
    : section_(cfi::SectionKind::eh_frame, bytes.bytes, bytes.address, traits(host::abi),
               {.text = 0, .data = bytes.data_base}) {
  const auto table = cfi::EhFrameHdr::parse(search_table.bytes, search_table.address, section_.abi());
  if (table && table->size()) {
    linked_ = *table;
    return;
  }
  for (cfi::FdeCursor fdes = section_.fdes(); !own_.failed();) {
    const auto fde = fdes.next();
    if (!fde) continue; // an invalid one
    if (!*fde) break;
    if ((*fde)->size) own_.push_back({(*fde)->start, (*fde)->offset});
  }
  if (!std::ranges::is_sorted(own_)) std::ranges::sort(own_);
}

/// The last function that starts at or before the address.
std::optional<CfiTable::Location> CfiTable::locate(std::uint64_t pc) const {
  if (linked_) {
    const auto entry = linked_->find(pc);
    if (!entry || entry->fde < section_.address()) return std::nullopt;
    return Location{entry->start, entry->fde - section_.address()};
  }
  const auto after = std::ranges::upper_bound(own_, pc, {}, &Location::start);
  return after == own_.begin() ? std::nullopt : std::optional(*(after - 1));
}

std::optional<FrameRule> CfiTable::find(std::uint64_t pc, Operations& to, Scratch& scratch) const {
  const auto function = locate(pc);
  if (!function) return std::nullopt;
  const auto fde = section_.fde(function->offset);
  if (!fde || fde->start != function->start || !fde->contains(pc)) return std::nullopt;
  scratch.cursor.emplace(section_, *fde);
  if (!scratch.cursor->find(pc, scratch.row)) return std::nullopt;
  return RowDecoder(scratch.row, section_.abi(), to).decode(fde->cie.signal_frame);
}

} // namespace sframe::here
