// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's sizes are read once, in order. Where the compiler's prologue saves registers is proved at the
// first address with a frame: all others have them in the same place, since Go's compiler saves them once and
// restores them in front of the last change of SP. In assembly with another prologue, or none, each row has
// the CFA by the table and the rest by the code; where these differ about the CFA, there is no row.

#include "sframe/tables/go.h"

#include "go_code.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace sframe::tables {

namespace {

using Missing = GoRow::Missing;

constexpr std::int32_t largest_frame = std::numeric_limits<std::int32_t>::max() / 2;

struct Rules {
  Rule ra, fp;
};
/// The rules by the layout of Go's frames at an address, where SP is so many bytes below its value at entry.
using RulesAt = std::function<std::optional<Rules>(std::uint64_t address, std::uint32_t size)>;

/// Collects the rows of a function.
class GoRowMaker {
public:
  GoRowMaker(const AbiTraits& abi, const elf::GoFrames& frames, const elf::GoFunction& function,
             std::vector<GoRow>& rows)
      : abi_(abi), frames_(frames), function_(function), rows_(rows) {}

  void leave_out(AddressRange range, Missing why) {
    if (range.size == 0) return;
    if (!rows_.empty() && rows_.back().missing == why && rows_.back().range.end() == range.start)
      rows_.back().range.size += range.size;
    else
      rows_.push_back({range, {}, why});
  }
  void add(AddressRange range, std::uint32_t size, Rule ra, Rule fp);
  /// By the table for the CFA, by the code for the rest.
  void add_by_code(std::span<const elf::GoFrameSize> sizes, GoCode& code, const RulesAt& rules_at);
  /// Of a function that changes to another stack: by the code alone.
  void add_switch(AddressRange all, GoCode& code);
  /// The rules at a function's entry.
  Rule entry_ra() const { return abi_.fixed_ra_offset ? Rule::fixed() : Rule::same(); }
  /// True if what is saved at `place` is in a frame of `size`, of which the prologue made `first`.
  bool is_in_frame(Rule place, std::uint32_t size, std::uint32_t first) const {
    return size >= first || place.kind != Rule::Kind::stored ||
           abi_.entry_cfa_offset + static_cast<std::int32_t>(size) >= -place.offset;
  }

private:
  const AbiTraits& abi_;
  const elf::GoFrames& frames_;
  const elf::GoFunction& function_;
  std::vector<GoRow>& rows_;
};

/// What was pushed for the call of an injected function is in no table: its caller's SP is above that.
void GoRowMaker::add(AddressRange range, std::uint32_t size, Rule ra, Rule fp) {
  if (!range.size) return;
  const std::int32_t more = function_.is_injected ? frames_.injected_size : 0;
  for (Rule* const rule : {&ra, &fp})
    if (rule->base == Rule::cfa_base) rule->offset -= more;
  const Rule cfa = Rule::value(abi_.sp, static_cast<std::int32_t>(size) + abi_.entry_cfa_offset + more);
  rows_.push_back({range, {.offset = 0, .cfa = cfa, .ra = ra, .fp = fp}});
}

void GoRowMaker::add_by_code(std::span<const elf::GoFrameSize> sizes, GoCode& code, const RulesAt& rules_at) {
  const auto cfa_of = [&](std::uint32_t size) {
    return Rule::value(abi_.sp, static_cast<std::int32_t>(size) + abi_.entry_cfa_offset);
  };
  auto instructions = code.instructions(function_, [&](std::uint64_t address) -> std::optional<FrameRow> {
    const auto at =
        std::ranges::find_if(sizes, [&](const elf::GoFrameSize& one) { return one.range.contains(address); });
    const auto rules = at != sizes.end() ? rules_at(address, at->size) : std::nullopt;
    if (!rules) return std::nullopt;
    return FrameRow{.offset = 0, .cfa = cfa_of(at->size), .ra = rules->ra, .fp = rules->fp};
  });
  for (const auto& [range, size] : sizes) {
    std::uint64_t begin = range.start;
    // What no path leads to, as over a jump table, has the frame that the table says. Without one, the return
    // address may be elsewhere than in its register.
    const auto add_unreached = [&, size = size](std::uint64_t end) {
      const bool is_sure = size != 0 || abi_.fixed_ra_offset != 0;
      if (const auto rules = is_sure ? rules_at(begin, size) : std::nullopt)
        add({begin, end - begin}, size, rules->ra, rules->fp);
      else
        leave_out({begin, end - begin}, Missing::frame_layout);
    };
    const auto skip = [&] { instructions = instructions.subspan(1); };
    while (!instructions.empty() && instructions.front().range.start < range.start) skip();
    for (; !instructions.empty() && instructions.front().range.start < range.end(); skip()) {
      const auto& [at, row, has_left_stack] = instructions.front();
      add_unreached(at.start);
      const AddressRange part{at.start, std::min(at.end(), range.end()) - at.start};
      if (has_left_stack) // which the table does not show on s390x, for `ADD $n, Rx, R15`
        leave_out(part, Missing::stack_switch);
      else if (row && row->cfa == cfa_of(size) && !row->ra_signed && row->fp.kind != Rule::Kind::undefined)
        add(part, size, row->ra, row->fp);
      else
        leave_out(part, Missing::frame_layout);
      begin = part.end();
    }
    add_unreached(range.end());
  }
}

/// mcall and morestack call, on the system stack, functions that never return: it ends there.
void GoRowMaker::add_switch(AddressRange all, GoCode& code) {
  const bool ends_stack =
      function_.name == "runtime.mcall" || function_.name.starts_with("runtime.morestack");
  std::uint64_t begin = all.start;
  for (const auto& [at, row, has_left_stack] : code.instructions(function_, {})) {
    if (at.start < begin || at.end() > all.end()) continue;
    leave_out(AddressRange::between(begin, at.start), Missing::stack_switch);
    begin = at.end();
    if (row && !row->ra_signed && row->fp.kind != Rule::Kind::undefined)
      rows_.push_back({at, *row});
    else if (ends_stack && has_left_stack)
      rows_.push_back({at, FrameRow::outermost(0)});
    else
      leave_out(at, Missing::stack_switch);
  }
  leave_out(AddressRange::between(begin, all.end()), Missing::stack_switch);
}

} // namespace

std::optional<GoTable> GoTable::load(const elf::Image& image) {
  if (!image.abi()) return std::nullopt;
  auto functions = elf::GoFunctions::open(image);
  if (!functions || !functions->has_frames() || !functions->frames().are_known) return std::nullopt;
  return GoTable(image, std::move(*functions));
}

GoTable::GoTable(const elf::Image& image, elf::GoFunctions functions)
    : image_(&image), functions_(std::make_unique<elf::GoFunctions>(std::move(functions))),
      code_(std::make_unique<GoCode>(image, *functions_)) {}
GoTable::GoTable(GoTable&&) noexcept = default;
GoTable& GoTable::operator=(GoTable&&) noexcept = default;
GoTable::~GoTable() = default;

/// Readers look up the address that a handler returns to minus 1: padding.
void GoTable::add_restorer(std::uint64_t number, AddressRange range, GoRows& rows) const {
  std::vector<elf::GoFrameSize> before;
  if (const auto function = number ? functions_->at(number - 1) : std::nullopt) {
    (void)functions_->frame_sizes(*function, image_->budget(), before);
    if (!before.empty() && before.back().range.end() < range.start) range = {range.start - 1, range.size + 1};
  }
  const std::uint16_t sp = image_->abi()->sp;
  const auto& saved = functions_->frames().interrupted;
  rows.signal = true;
  rows.rows.push_back({range,
                       {.offset = 0,
                        .cfa = Rule::stored(sp, saved.sp),
                        .ra = Rule::stored(sp, saved.pc),
                        .fp = Rule::stored(sp, saved.fp)}});
}

bool GoTable::rows(std::uint64_t number, GoRows& rows) {
  rows.rows.clear();
  const auto function = functions_->at(number);
  if (!function) return true;
  rows.signal = function->is_injected;
  std::vector<elf::GoFrameSize> sizes;
  const bool in_budget = functions_->frame_sizes(*function, image_->budget(), sizes);
  if (sizes.empty()) return in_budget;
  const AddressRange all{function->extent.start, sizes.back().range.end() - function->extent.start};
  if (function->is_top ||
      (function->is_assembly && function->extent.start == code_->continuation_of_start())) {
    rows.rows.push_back({all, FrameRow::outermost(0)});
    return in_budget;
  }
  const auto first = std::ranges::find_if(sizes, [](const elf::GoFrameSize& one) { return one.size != 0; });
  if (const auto& saved = functions_->frames().interrupted; function->is_restorer && saved.sp) {
    add_restorer(number, all, rows);
    return in_budget;
  }
  GoRowMaker maker(*image_->abi(), functions_->frames(), *function, rows.rows);
  const auto is_odd = [](const elf::GoFrameSize& one) {
    return one.size > largest_frame || one.size % 8 != 0;
  };
  if (std::ranges::any_of(sizes, is_odd)) {
    maker.leave_out(all, Missing::frame_layout);
    return in_budget;
  }
  if (function->sets_sp) {
    maker.add_switch(all, *code_);
    return in_budget;
  }
  const auto saved = first != sizes.end() ? code_->saved(*function, *first) : std::nullopt;
  const auto rules_at = [&](std::uint64_t address, std::uint32_t size) -> std::optional<Rules> {
    if (size == 0) return Rules{maker.entry_ra(), Rule::same()};
    if (!saved || !maker.is_in_frame(saved->ra, size, first->size) ||
        !maker.is_in_frame(saved->fp, size, first->size))
      return std::nullopt;
    return Rules{saved->ra, address < saved->from ? Rule::same() : saved->fp};
  };
  if (function->is_assembly) {
    maker.add_by_code(sizes, *code_, rules_at);
    return in_budget;
  }
  for (auto at = sizes.begin(); at != sizes.end(); ++at) {
    const auto [range, size] = *at;
    if (size == 0 && at > first && code_->computes_fp(range.start)) {
      maker.leave_out(range, Missing::frame_layout);
      continue;
    }
    const std::uint64_t middle = saved ? std::clamp(saved->from, range.start, range.end()) : range.end();
    for (const auto& part :
         {AddressRange::between(range.start, middle), AddressRange::between(middle, range.end())}) {
      if (const auto rules = rules_at(part.start, size))
        maker.add(part, size, rules->ra, rules->fp);
      else
        maker.leave_out(part, Missing::frame_layout);
    }
  }
  return in_budget;
}

} // namespace sframe::tables
