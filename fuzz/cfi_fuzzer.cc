// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes through every entry point of lib/cfi. The first byte selects the ABI and the kind of
// section, the second splits the rest between the section and .eh_frame_hdr. The rest is evaluated as an
// expression and as the location of a variable, too. Properties: rows are not empty and are contiguous, both
// engines agree, the result of a finder contains the address, and a maker of many frame rows gives the same
// as one for each row.

#include "chosen_abi.h"
#include "cost.h"

#include "sframe/cfi/expression.h"
#include "sframe/cfi/frame_row.h"
#include "sframe/cfi/index.h"
#include "sframe/cfi/rows.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace {

using namespace sframe;
using namespace sframe::cfi;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Registers and memory of which some can be read.
class Context : public ExpressionContext {
public:
  std::optional<std::uint64_t> read_register(std::uint32_t reg) override {
    return reg < 40 ? std::optional<std::uint64_t>(reg * 0x1001) : std::nullopt;
  }
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    return address % 7 ? std::optional<std::uint64_t>(address * size) : std::nullopt;
  }
};

/// What debug information adds; of some of it there is none.
class Variable final : public LocationContext {
public:
  std::optional<std::uint64_t> read_register(std::uint32_t reg) override {
    return registers_.read_register(reg);
  }
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    return registers_.read_memory(address, size);
  }
  bool part(const LocationPart& part) override {
    require(part.bytes.empty() || part.kind == LocationPart::Kind::bytes);
    return ++parts_ < most_parts;
  }
  std::uint64_t relocated(std::uint64_t address) override { return address + 0x1000; }
  std::optional<std::uint64_t> frame_base() override { return 0x7fff0010; }
  std::optional<std::uint64_t> call_frame_cfa() override { return 0x7fff0000; }
  std::optional<std::uint64_t> entry_value(std::span<const std::byte> expression) override {
    return expression.size() % 4 ? std::optional<std::uint64_t>(expression.size()) : std::nullopt;
  }
  std::optional<std::uint64_t> passed_value(std::uint64_t parameter) override { return indexed(parameter); }
  std::optional<std::uint64_t> indexed(std::uint64_t index) override {
    return index % 8 ? std::optional<std::uint64_t>(index << 4) : std::nullopt;
  }
  /// The kind is in the offset's lowest two bits, the size in the next two.
  std::optional<ValueType> base_type(std::uint64_t offset) override {
    const ValueType type{static_cast<ValueType::Kind>(offset & 3),
                         static_cast<std::uint8_t>(1u << (offset >> 2 & 3))};
    if (offset >= 16 || (type.kind == ValueType::Kind::floating && type.size < 4)) return std::nullopt;
    return type;
  }

private:
  static constexpr unsigned most_parts = 1000;
  Context registers_;
  unsigned parts_ = 0;
};

void try_location(std::span<const std::byte> description, ExpressionSettings settings) {
  Variable variable;
  std::uint64_t steps = 0;
  settings.cfa.reset();
  const auto done = evaluate_location(description, variable, settings, steps);
  require(steps <= max_expression_steps + 1);
  if (!done) require(*message(done.error().kind));
}

void try_expression(std::span<const std::byte> expression, const CfiSection& section, bool cfa_on_stack) {
  Context context;
  ExpressionSettings settings{.byte_order = section.abi().byte_order, .address_size = 8, .cfa = std::nullopt};
  if (cfa_on_stack) settings.cfa = 0x7fff0000;
  const auto value = evaluate(expression, context, settings);
  if (!value) require(*message(value.error().kind));
  try_location(expression, settings);
  settings.address_size = 4;
  (void)evaluate(expression, context, settings);
  (void)linear_expression(expression, section.abi(), cfa_on_stack);
  (void)plt_cfa(expression, section.abi());
}

void try_rows(const CfiSection& section, const Fde& fde) {
  FullRowCursor full_rows(section, fde);
  MinimalRowCursor core_rows(section, fde);
  FullRow full;
  MinimalRow core;
  FrameRowMaker maker(section.abi());
  std::uint64_t next = fde.start;
  while (full_rows.next(full)) {
    require(core_rows.next(core) && core.begin == full.begin && core.end == full.end && core.cfa == full.cfa);
    require(full.begin == next && full.end > full.begin && full.end <= fde.end());
    next = full.end;
    const auto projected = to_frame_row(core, section.abi());
    const FrameRow* const made = maker.make(core);
    require((made != nullptr) == projected.has_value() &&
            (made ? *made == *projected : maker.reason() == projected.error()));
    if (!projected) require(*message(projected.error()) && *reason_name(projected.error()));
    if (full.return_register < AllRegisters::slots) require(projected == to_frame_row(full, section.abi()));
    if (full.cfa.kind == CfaRule::Kind::expression) try_expression(full.expression(full.cfa), section, false);
    for (const RegisterRule& rule : core.rules)
      if (!core.expression(rule).empty()) try_expression(core.expression(rule), section, true);
  }
  require(!core_rows.next(core) && core_rows.error() == full_rows.error());
  require(full_rows.error() || next == fde.end());
  if (full_rows.error()) require(*message(full_rows.error()->kind));
}

void try_finder(const CfiSection& section, FdeFinder finder, std::uint64_t pc) {
  const auto fde = finder.find(pc);
  if (fde && *fde) require((*fde)->contains(pc) && section.fde((*fde)->offset)->start == (*fde)->start);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  if (size < 2) return 0;
  const AbiTraits& abi = sframe::fuzz::chosen_abi(data[0]);
  const auto kind = data[0] & 0x80 ? SectionKind::debug_frame : SectionKind::eh_frame;
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  const std::size_t split = bytes.size() * data[1] / 256;
  constexpr std::uint64_t address = 0x400000;
  const CfiSection section(kind, bytes.subspan(split), address, abi, {.text = 0x1000, .data = 0x2000});

  std::uint64_t pc = address;
  for (auto fdes = section.fdes();;) {
    const auto fde = fdes.next();
    if (!fde) {
      require(*message(fde.error().kind));
      continue;
    }
    if (!*fde) break;
    try_rows(section, **fde);
    pc = (*fde)->start;
  }
  if (const auto table = EhFrameHdr::parse(bytes.first(split), address - 0x1000, abi)) {
    require(eh_frame_part(section, *table).bytes().size() <= section.bytes().size());
    try_finder(section, FdeFinder(section, *table), pc);
    try_finder(section, FdeFinder(section, *table), table->find(pc) ? table->find(pc)->start : 0);
  }
  try_finder(section, FdeFinder(section), pc);
  const auto parts = section.parts(64);
  require(parts.front() == 0 &&
          std::ranges::adjacent_find(parts, std::ranges::greater_equal()) == parts.end());
  try_expression(bytes, section, true);
  return 0;
}
