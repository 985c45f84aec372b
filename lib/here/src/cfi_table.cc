// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cfi_table.h"

#include "host.h"

#include "sframe/cfi/rows.h"
#include "sframe/unwind/abi.h"

#include <algorithm>

namespace sframe::here {

namespace {

using cfi::RegisterRule;
static_assert(host::CfiRegisters::slots <= unwind::Registers::count);

/// A row's rules as operations.
class RowDecoder {
public:
  RowDecoder(const CfiRow& row, const AbiTraits& abi, Operations& to)
      : row_(row), abi_(abi), operations_(to) {}

  /// Nothing if operations cannot represent the row (offsets of more than 32 bits) or it has no CFA.
  std::optional<FrameRule> decode(bool signal_frame);

private:
  bool add(std::uint16_t reg, const RegisterRule& rule);

  const CfiRow& row_;
  const AbiTraits& abi_;
  Operations& operations_;
  std::size_t count_ = 0;
};

bool RowDecoder::add(std::uint16_t reg, const RegisterRule& rule) {
  return (rule.kind != RegisterRule::Kind::reg || rule.number < unwind::Registers::count) &&
         operations_[count_++].set(rule, static_cast<std::uint8_t>(reg));
}

std::optional<FrameRule> RowDecoder::decode(bool signal_frame) {
  const auto column = static_cast<std::uint16_t>(row_.return_register);
  // Only a frame without caller needs no CFA.
  if (row_.return_register >= host::CfiRegisters::slots || !operations_[count_++].set(row_.cfa) ||
      (row_.cfa.kind == cfi::CfaRule::Kind::unspecified && row_.ra().kind != RegisterRule::Kind::undefined) ||
      !add(column, row_.ra()))
    return std::nullopt;
  for (std::uint16_t reg = 0; reg < host::CfiRegisters::slots; ++reg) {
    const RegisterRule& rule = row_.rules[reg]; // slots are registers here; most have no rule
    if (rule.kind == RegisterRule::Kind::unspecified || reg == column || reg == abi_.sp) continue;
    if (!add(reg, rule)) return std::nullopt;
  }
  // SP is the CFA unless the row has a rule for SP, which comes last.
  const RegisterRule sp = row_.rule(abi_.sp);
  // "Undefined" counts as no rule: libgcc sets SP to the CFA then, too.
  const bool from_cfa =
      sp.kind == RegisterRule::Kind::unspecified || sp.kind == RegisterRule::Kind::undefined;
  if (!from_cfa && !add(abi_.sp, sp)) return std::nullopt;
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
