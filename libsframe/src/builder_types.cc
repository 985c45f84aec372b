// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first step of Builder::optimize() in versions with flexible FDEs: which FDE type each row has.
//
// Functions of different types cannot be joined, and one row that needs a flexible FDE makes all rows of its
// function larger. So default functions between flexible ones may become flexible, and a function may be
// divided into parts of both types, where that costs less than the index entries and attributes that it
// saves. The cheapest choice is the shortest path through two states per row (s390x, where leaf functions
// keep RA and FP in registers: 30 % of the section of a program in Haskell).

#include "sframe/builder.h"

#include "builder_rows.h"
#include "format/decode_words.h"
#include "format/encode_words.h"
#include "format/version.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace sframe {

class Builder::TypeChoice {
public:
  explicit TypeChoice(const Builder& builder)
      : builder_(builder), version_(*builder.version_), types_(builder.types_of_runs()),
        uses_(builder.runs_.size(), 0) {
    for (const Function& function : builder.functions_) ++uses_[function.run];
  }

  /// The most bytes that fewer FDEs can save.
  std::uint64_t limit() const {
    std::uint64_t changes = 0;
    for (std::size_t i = 1; i < builder_.functions_.size(); ++i)
      changes += types_[builder_.functions_[i].run] != types_[builder_.functions_[i - 1].run];
    return changes * fde_cost();
  }

  Builder run() {
    const std::size_t count = builder_.functions_.size();
    for (std::uint32_t i = 0; i < count; ++i) add_function(i);
    choose();
    return make();
  }

private:
  static constexpr std::uint32_t impossible = 1 << 20; ///< more than any row costs
  static constexpr std::uint64_t no_cost = std::numeric_limits<std::uint64_t>::max() / 2;

  /// A place where the type may change: a row, or a function that stays as it is.
  struct Step {
    std::array<std::uint32_t, 2> cost{}; ///< by type, in bytes; impossible: the type cannot hold it
    std::array<bool, 2> changes{};       ///< the cheapest way to this type comes from the other type
    std::uint32_t switch_cost = 0;
  };

  const Run& run_of(std::uint32_t function) const {
    return builder_.runs_[builder_.functions_[function].run];
  }

  std::uint32_t fde_cost() const { return version_.entry_size + version_.attribute_size; }

  /// Other functions' rows stay as they are: those that are shared, and those that never share an FDE.
  bool may_change(std::uint32_t number) const {
    const Fde& fde = builder_.functions_[number].fde;
    const Run& run = run_of(number);
    return fde.pc_type == PcType::inc && !fde.signal_frame && run.num_fres != 0 &&
           uses_[builder_.functions_[number].run] == 1 && !builder_.is_overlapped(number);
  }

  void add_function(std::uint32_t number) {
    const FdeType type = types_[builder_.functions_[number].run];
    const auto own = static_cast<std::size_t>(type);
    const bool joins = builder_.functions_[number].joins;
    if (!may_change(number)) {
      Step& step = steps_.emplace_back();
      step.cost[1 - own] = impossible;
      step.switch_cost = joins ? fde_cost() : 0;
      return;
    }
    const WordMeaning from = builder_.meaning(type), to = builder_.meaning(FdeType(1 - own));
    bool first = true;
    builder_.each_row(run_of(number), [&](const RowBytes& bytes) {
      Step& step = steps_.emplace_back();
      step.cost[own] = static_cast<std::uint32_t>(bytes.body.size());
      step.cost[1 - own] = other_cost(bytes, from, to);
      step.switch_cost = !first || joins ? fde_cost() : 0;
      first = false;
    });
  }

  std::uint32_t other_cost(const RowBytes& bytes, const WordMeaning& from, const WordMeaning& to) const {
    format::Words words;
    if (format::encode_words(builder_.decode_row(bytes, from), to, words)) return impossible;
    return 1u + words.count * words.size;
  }

  /// Fills in Step::changes, then chosen_.
  void choose() {
    std::array<std::uint64_t, 2> total{};
    for (Step& step : steps_) {
      const std::array<std::uint64_t, 2> before = total;
      for (const std::size_t type : {0u, 1u}) {
        step.changes[type] = before[1 - type] + step.switch_cost < before[type];
        total[type] = std::min({before[type], before[1 - type] + step.switch_cost, no_cost}) +
                      (step.cost[type] == impossible ? no_cost / 2 : step.cost[type]);
      }
    }
    chosen_.resize(steps_.size());
    std::size_t type = total[1] < total[0];
    for (std::size_t i = steps_.size(); i-- != 0;) {
      chosen_[i] = static_cast<std::uint8_t>(type);
      if (steps_[i].changes[type]) type = 1 - type;
    }
  }

  Builder make() {
    Builder out(builder_.options_);
    out.reserve(builder_.functions_.size(), builder_.encoded_.size());
    std::size_t at = 0; // in steps_
    std::vector<FrameRow> rows;
    for (std::uint32_t number = 0; number < builder_.functions_.size(); ++number) {
      const Function& function = builder_.functions_[number];
      const Run& run = run_of(number);
      const std::uint32_t steps = may_change(number) ? run.num_fres : 1;
      const std::span<const std::uint8_t> chosen(chosen_.data() + at, steps);
      at += steps;
      const FdeType type = types_[function.run];
      if (std::ranges::all_of(chosen, [&](std::uint8_t c) { return FdeType{c} == type; })) {
        out.functions_.push_back({function.fde, out.copy_run(builder_, run), function.joins});
        out.num_fres_ += run.num_fres;
        continue;
      }
      builder_.decode_run(run, type, rows);
      for (std::size_t first = 0, last; first < rows.size(); first = last) {
        last = first + 1;
        while (last < rows.size() && chosen[last] == chosen[first]) ++last;
        add_part(function, rows, first, last, FdeType{chosen[first]}, out);
      }
    }
    return out;
  }

  /// Adds rows [first, last) of a function as one of their own.
  void add_part(const Function& function, std::span<FrameRow> rows, std::size_t first, std::size_t last,
                FdeType type, Builder& out) const {
    const std::uint32_t begin = first == 0 ? 0 : rows[first].offset;
    const std::uint32_t end = last == rows.size() ? function.fde.size : rows[last].offset;
    for (FrameRow& row : rows.subspan(first, last - first)) row.offset -= begin;
    Fde fde = function.fde;
    fde.start += begin;
    fde.size = end - begin;
    const auto run = out.encode_rows(fde, rows.subspan(first, last - first), type);
    // What was encoded before can be encoded again.
    out.functions_.push_back({fde, out.add_run(*run), first != 0 || function.joins});
    out.num_fres_ += run->num_fres;
  }

  const Builder& builder_;
  const format::Version& version_;
  std::vector<FdeType> types_;      ///< by run
  std::vector<std::uint32_t> uses_; ///< by run
  std::vector<Step> steps_;
  std::vector<std::uint8_t> chosen_; ///< type of each step
};

/// A row that was encoded with this meaning.
FrameRow Builder::decode_row(const RowBytes& bytes, const WordMeaning& meaning) const {
  const EncodedRow encoded{.offset = bytes.offset,
                           .info = std::to_integer<std::uint8_t>(bytes.body[0]),
                           .words = bytes.body.data() + 1,
                           .byte_order = order_};
  FrameRow row;
  ErrorKind fault{};
  format::decode_words(encoded, meaning, row, fault); // succeeds: add() encoded it
  return row;
}

/// Sets `rows` to those of the run.
void Builder::decode_run(const Run& run, FdeType type, std::vector<FrameRow>& rows) const {
  const WordMeaning how = meaning(type);
  rows.clear();
  each_row(run, [&](const RowBytes& row) { rows.push_back(decode_row(row, how)); });
}

/// Adds the run, which ends encoded_, for an FDE that optimize() forms. It becomes that of a default FDE if
/// no row needs a flexible one: in parts of functions, and where rows became flexible only to be joined.
std::uint32_t Builder::add_run_of_needed_type(const Fde& fde, const Run& run, FdeType type) {
  if (type == FdeType::standard || run.num_fres == 0) return add_run(run);
  decode_run(run, type, scratch_);
  auto standard = encode_rows(fde, scratch_, FdeType::standard);
  if (!standard) return add_run(run);
  encoded_.erase(encoded_.begin() + static_cast<std::ptrdiff_t>(run.at),
                 encoded_.begin() + static_cast<std::ptrdiff_t>(standard->at));
  standard->at = run.at;
  return add_run(*standard);
}

/// The same functions, sorted as these, some with other types or divided; nothing if that cannot save 1 %.
std::optional<Builder> Builder::with_best_types() const {
  if (!version_->has_flex) return std::nullopt;
  TypeChoice choice(*this);
  if (choice.limit() * 100 < size()) return std::nullopt;
  return choice.run();
}

} // namespace sframe
