// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder::optimize(): which functions are joined to one FDE, and which are split.
//
// Here are Goal::size and Goal::lookup; builder_optimize_rows.cc has the search for Goal::smallest.
//
// An FDE costs an index entry and, in version 3, attributes; a row costs less if its offset from the FDE's
// start is small; functions with equal rows share them. So the cheapest cut of the sorted functions is a
// shortest path: a node is a place where an FDE may start (an atom: a function, or some rows of a large one),
// an edge an FDE. The price of rows that several FDEs share is divided by their number. That number follows
// from the cut, so the search is done again with the numbers of the first one.
//
// Rows are copied as they are encoded; only their offsets change. Words are never interpreted: rows with
// equal bytes in FDEs of one type have equal rules.

#include "builder_optimize.h"
#include "builder_rows.h"
#include "refused.h"
#include "sframe/section.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sframe {

namespace {

/// Rows of an atom, if a function is divided; and the most atoms of a function.
constexpr std::uint32_t rows_per_atom = 8, max_atoms_of_function = 64;
/// Atoms in one FDE: what bounds the search where rows of many functions are equal.
constexpr std::size_t max_atoms_of_fde = 256;

constexpr std::uint32_t no_copy = 0xffffffff;

bool starts_with(std::span<const std::byte> bytes, std::span<const std::byte> beginning) {
  return bytes.size() >= beginning.size() && std::ranges::equal(bytes.first(beginning.size()), beginning);
}

} // namespace

class Builder::Optimizer {
public:
  Optimizer(Builder& builder, const OptimizeOptions& options)
      : builder_(builder), options_(options), version_(*builder.version_),
        max_rows_(std::min(options.max_rows, version_.max_fres)), types_of_runs_(builder.types_of_runs()) {
    uses_of_run_.assign(builder_.runs_.size(), 0);
    for (const Function& function : builder_.functions_) ++uses_of_run_[function.run];
    make_atoms();
  }

  /// A builder with the best FDEs. A third search saves less than 0.1 %.
  Builder run() {
    std::vector<Cut> cuts;
    if (by_row()) {
      cuts = search_rows(atoms_, {.entry_size = version_.entry_size,
                                  .attribute_size = version_.attribute_size,
                                  .max_rows = max_rows_,
                                  .share_rows = builder_.options_.share_rows,
                                  .uses_of_run = uses_of_run_});
    } else {
      cuts = search();
      const std::uint64_t size = count_uses(cuts);
      if (std::vector<Cut> next = search(); count_uses(next) < size) cuts = std::move(next);
    }
    Builder best = make(cuts);
    if (builder_.options_.share_rows) best.share_beginnings();
    return best;
  }

private:
  bool for_size() const { return options_.goal != OptimizeOptions::Goal::lookup; }
  bool by_row() const { return options_.goal == OptimizeOptions::Goal::smallest; }
  const Run& run_of(std::uint32_t function) const {
    return builder_.runs_[builder_.functions_[function].run];
  }

  FdeType type_of(std::uint32_t function) const { return types_of_runs_[builder_.functions_[function].run]; }

  bool can_join(std::uint32_t number) const {
    return for_size() && builder_.may_join(number, options_) && type_of(number - 1) == type_of(number);
  }

  /// Not if another function starts in it: readers find that one, up to its end, and no rows after it.
  bool is_divided(std::uint32_t number) const {
    const Fde& fde = builder_.functions_[number].fde;
    if (fde.pc_type != PcType::inc || fde.signal_frame) return false;
    if (builder_.is_overlapped(number)) return false;
    const Run& run = run_of(number);
    if (by_row()) return run.num_fres >= 2;
    return for_size() ? run.num_fres >= 2 * rows_per_atom && run.fre_type != FreType::addr1
                      : run.num_fres > max_rows_;
  }

  /// The most rows of the function's atoms.
  std::uint32_t atom_rows(std::uint32_t number) const {
    const std::uint32_t rows = run_of(number).num_fres;
    if (!is_divided(number)) return std::max(rows, 1u);
    if (by_row()) return 1;
    if (!for_size()) return std::min(rows_per_atom, max_rows_);
    return std::max(rows_per_atom, (rows + max_atoms_of_function - 1) / max_atoms_of_function);
  }

  /// A number for these rules in FDEs with the function's attributes.
  std::uint32_t rules_of(std::uint32_t number, std::span<const std::byte> body) {
    const bool has_key_b = builder_.functions_[number].fde.pauth_key == PauthKey::b;
    const auto kind = static_cast<std::size_t>(type_of(number)) * 2 + has_key_b;
    const std::string_view bytes(reinterpret_cast<const char*>(body.data()), body.size());
    const auto next = static_cast<std::uint32_t>(rules_.size());
    return rules_.try_emplace(std::pair(kind, bytes), next).first->second;
  }

  void make_atoms() {
    atoms_.reserve(builder_.functions_.size());
    std::span<const std::byte> last_body;
    for (std::uint32_t number = 0; number < builder_.functions_.size(); ++number) {
      const Function& function = builder_.functions_[number];
      const std::uint32_t most = atom_rows(number);
      const bool shared = builder_.options_.share_rows && uses_of_run_[function.run] > 1;
      const auto key = [&](std::uint32_t row) { return mix(std::uint64_t{function.run} << 32 | row, most); };
      Atom* atom = &atoms_.emplace_back(Atom{.start = function.fde.start,
                                             .key = key(0),
                                             .size = function.fde.size,
                                             .function = number,
                                             .run = function.run,
                                             .shared = shared});
      const bool joins = can_join(number);
      const Run& run = run_of(number);
      std::uint32_t row_number = 0, at = 0;
      builder_.each_row(run, [&](const RowBytes& row) {
        const std::uint64_t address = function.fde.start + row.offset;
        if (atom->rows == most) {
          const auto into = static_cast<std::uint32_t>(address - atom->start);
          const std::uint32_t rest = atom->size - into;
          atom->size = into;
          atom = &atoms_.emplace_back(Atom{.start = address,
                                           .key = key(row_number),
                                           .size = rest,
                                           .function = number,
                                           .run = function.run,
                                           .first_row = row_number,
                                           .at = at,
                                           .shared = shared,
                                           .joins = true});
        }
        if (row_number == 0) {
          // Without a row at its start, it would get the one before.
          atom->joins = joins && row.offset == 0;
          atom->repeats = atom->joins && std::ranges::equal(row.body, last_body);
        }
        const auto size = static_cast<std::uint32_t>(row.body.size());
        if (atom->rows++ == 0) {
          atom->first_body = size;
          if (by_row()) atom->rules = rules_of(number, row.body);
        }
        atom->body += size;
        atom->last = static_cast<std::uint32_t>(address - atom->start);
        last_body = row.body;
        at += (1u << static_cast<std::uint32_t>(run.fre_type)) + size;
        ++row_number;
      });
    }
  }

  /// The cost of a group's rows, if they are used as often as in the last cut.
  std::uint64_t price(const Group& group, Cut cut) const {
    const std::uint64_t bytes = group.run_bytes() * cost_unit;
    if (!group.shared()) return bytes;
    if (is_whole(atoms_, cut)) return bytes / std::max(1u, uses_of_run_[atoms_[cut.first].run]);
    if (uses_of_groups_.empty()) return bytes;
    const auto known = uses_of_groups_.find(group.key());
    return known == uses_of_groups_.end() ? bytes : bytes / known->second;
  }

  /// The cheapest cut of all atoms.
  std::vector<Cut> search() const {
    const auto count = static_cast<std::uint32_t>(atoms_.size());
    std::vector<std::uint64_t> cost(count + 1, no_cost);
    std::vector<std::uint32_t> from(count + 1, 0);
    cost[0] = 0;
    for (std::uint32_t first = 0; first < count; ++first) {
      Group group(version_.attribute_size, atoms_[first]);
      const std::uint64_t before = cost[first] + std::uint64_t{version_.entry_size} * cost_unit;
      const auto limit = static_cast<std::uint32_t>(std::min<std::size_t>(count, first + max_atoms_of_fde));
      for (std::uint32_t end = first + 1;; ++end) {
        const std::uint64_t total = before + price(group, {first, end});
        if (total < cost[end]) {
          cost[end] = total;
          from[end] = first;
        }
        if (end == limit) break;
        const Atom& next = atoms_[end];
        if (!next.joins || !group.fits(next)) break;
        group.add(next);
        // A function that has more rows than the limit may keep them.
        if (group.rows() > max_rows_ && !(for_size() && next.function == atoms_[first].function)) break;
      }
    }
    std::vector<Cut> cuts;
    for (std::uint32_t end = count; end != 0; end = from[end]) cuts.push_back({from[end], end});
    std::ranges::reverse(cuts);
    return cuts;
  }

  Group group_of(Cut cut) const {
    Group group(version_.attribute_size, atoms_[cut.first]);
    for (std::uint32_t i = cut.first + 1; i < cut.end; ++i) group.add(atoms_[i]);
    return group;
  }

  /// Replaces the numbers of uses by those of the cut. Returns the size of its section, without the header.
  std::uint64_t count_uses(std::span<const Cut> cuts) {
    std::ranges::fill(uses_of_run_, 0u);
    uses_of_groups_.clear();
    std::uint64_t size = cuts.size() * std::uint64_t{version_.entry_size};
    for (const Cut& cut : cuts) {
      const Group group = group_of(cut);
      std::uint32_t uses = 1;
      if (is_whole(atoms_, cut))
        uses = ++uses_of_run_[atoms_[cut.first].run];
      else if (group.shared())
        uses = ++uses_of_groups_[group.key()];
      if (uses == 1 || !builder_.options_.share_rows) size += group.run_bytes();
    }
    std::erase_if(uses_of_groups_, [](const auto& entry) { return entry.second == 1; });
    return size;
  }

  /// A builder with an FDE per cut.
  Builder make(std::span<const Cut> cuts) const {
    Builder out(builder_.options_);
    out.reserve(cuts.size(), builder_.encoded_.size());
    std::vector<RowBytes> rows;
    std::vector<std::uint32_t> copies(builder_.runs_.size(), no_copy); // by run
    for (const Cut& cut : cuts) {
      const Atom &first = atoms_[cut.first], &last = atoms_[cut.end - 1];
      Function function = builder_.functions_[first.function];
      if (is_whole(atoms_, cut)) {
        std::uint32_t& copy = copies[function.run];
        if (copy == no_copy) copy = out.copy_run(builder_, builder_.runs_[function.run]);
        function.run = copy;
      } else {
        function.fde.start = first.start;
        function.fde.size = static_cast<std::uint32_t>(last.start + last.size - first.start);
        rows.clear();
        collect_rows(cut, rows);
        function.run = out.add_run(encode(function.fde, type_of(first.function), rows, out));
      }
      out.functions_.push_back(function);
      out.num_fres_ += out.runs_[function.run].num_fres;
    }
    return out;
  }

  /// Adds the rows of the atoms, with offsets from the first one.
  void collect_rows(Cut cut, std::vector<RowBytes>& rows) const {
    const std::uint64_t start = atoms_[cut.first].start;
    for (std::uint32_t i = cut.first; i < cut.end; ++i) {
      const Atom& atom = atoms_[i];
      bool left_out = i != cut.first && atom.repeats;
      builder_.each_row(run_of(atom.function), atom.at, atom.rows, [&](const RowBytes& row) {
        if (std::exchange(left_out, false)) return;
        const std::uint64_t address = builder_.functions_[atom.function].fde.start + row.offset;
        rows.push_back({static_cast<std::uint32_t>(address - start), row.body});
      });
    }
  }

  /// Appends the rows to out.encoded_.
  Run encode(const Fde& fde, FdeType type, std::span<const RowBytes> rows, Builder& out) const {
    EncodedFde attributes{fde};
    attributes.num_fres = static_cast<std::uint32_t>(rows.size());
    attributes.fre_type = format::fre_type_for(rows.back().offset);
    attributes.fde_type = type;
    const std::uint32_t width = 1u << static_cast<std::uint32_t>(attributes.fre_type);
    std::uint64_t size = version_.attribute_size;
    for (const RowBytes& row : rows) size += width + row.body.size();
    std::vector<std::byte>& bytes = out.encoded_;
    const std::uint64_t at = bytes.size();
    bytes.resize(at + size);
    std::byte* to = bytes.data() + at;
    version_.codec.write_attributes(to, builder_.order_, attributes);
    to += version_.attribute_size;
    for (const RowBytes& row : rows) {
      format::store_field(to, row.offset, width, builder_.order_);
      to = std::ranges::copy(row.body, to + width).out;
    }
    return {at & Run::max_at, attributes.fre_type, static_cast<std::uint32_t>(bytes.size() - at),
            attributes.num_fres};
  }

  Builder& builder_;
  const OptimizeOptions& options_;
  const format::Version& version_;
  std::uint32_t max_rows_;
  std::vector<FdeType> types_of_runs_;
  std::vector<Atom> atoms_;
  std::map<std::pair<std::size_t, std::string_view>, std::uint32_t> rules_; ///< for rules_of()
  // How often rows are used: by all functions, then in the last cut.
  std::vector<std::uint32_t> uses_of_run_;                          ///< by FDEs that are one function
  std::unordered_map<std::uint64_t, std::uint32_t> uses_of_groups_; ///< by others; only more than 1
};

/// Where the index has the number of rows (V1 and V2), a run can be the beginning of another one.
void Builder::share_beginnings() {
  if (version_->attribute_size != 0) return;
  const auto type_and_bytes_less = [&](std::uint32_t a, std::uint32_t b) {
    const Run &x = runs_[a], &y = runs_[b];
    if (x.fre_type != y.fre_type) return x.fre_type < y.fre_type;
    return std::ranges::lexicographical_compare(run_bytes(x), run_bytes(y));
  };
  std::vector<std::uint32_t> order(runs_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, type_and_bytes_less);
  holders_.resize(runs_.size());
  for (std::size_t i = order.size(); i-- != 0;) {
    const std::uint32_t run = order[i];
    holders_[run] = run;
    if (i + 1 == order.size()) continue;
    // What begins with these bytes comes next in this order.
    const Run& next = runs_[order[i + 1]];
    if (next.fre_type == runs_[run].fre_type && starts_with(run_bytes(next), run_bytes(runs_[run])))
      holders_[run] = holders_[order[i + 1]];
  }
  std::vector<std::byte> kept;
  for (std::uint32_t i = 0; i < runs_.size(); ++i) {
    if (holders_[i] != i) continue;
    const auto bytes = run_bytes(runs_[i]);
    runs_[i].at = kept.size() & Run::max_at;
    kept.insert(kept.end(), bytes.begin(), bytes.end());
  }
  for (std::uint32_t i = 0; i < runs_.size(); ++i) runs_[i].at = runs_[holders_[i]].at;
  encoded_ = std::move(kept);
}

/// The FDE type of each run, which versions without flexible FDEs do not store.
std::vector<FdeType> Builder::types_of_runs() const {
  std::vector<FdeType> types;
  types.reserve(runs_.size());
  EncodedFde attributes;
  for (const Run& run : runs_) {
    if (version_->attribute_size != 0)
      version_->codec.read_attributes(run_bytes(run).data(), order_, attributes);
    types.push_back(attributes.fde_type);
  }
  return types;
}

/// True if the function's rows may be in one FDE with those of the function before, as far as their marks and
/// places allow it. Functions are sorted.
bool Builder::may_join(std::uint32_t number, const OptimizeOptions& options) const {
  if (number == 0) return false;
  const Function &before = functions_[number - 1], &function = functions_[number];
  const Fde &a = before.fde, &b = function.fde;
  if (a.pc_type != PcType::inc || b.pc_type != PcType::inc || a.signal_frame || b.signal_frame ||
      a.pauth_key != b.pauth_key || a.size == 0 || b.size == 0)
    return false;
  const std::uint64_t distance = b.start - a.start;
  if (distance < a.size || distance - a.size > OptimizeOptions::max_gap) return false;
  if (runs_[before.run].num_fres == 0 || runs_[function.run].num_fres == 0) return false;
  const AddressRange gap{a.start + a.size, distance - a.size};
  return options.may_join ? options.may_join(gap) : gap.empty();
}

/// True if the next function starts in this one.
bool Builder::is_overlapped(std::uint32_t number) const {
  return number + 1 != functions_.size() &&
         functions_[number + 1].fde.start - functions_[number].fde.start < functions_[number].fde.size;
}

void Builder::optimize(const OptimizeOptions& options) {
  if (functions_.empty() || options.max_rows == 0) return;
  const auto sort = [&] {
    std::ranges::stable_sort(functions_, [&](const Function& a, const Function& b) {
      if (a.fde.start != b.fde.start) return a.fde.start < b.fde.start;
      if (a.fde.size != b.fde.size) return a.fde.size < b.fde.size;
      return std::ranges::lexicographical_compare(run_bytes(runs_[a.run]), run_bytes(runs_[b.run]));
    });
  };
  if (options.goal == OptimizeOptions::Goal::lookup) {
    sort();
    *this = Optimizer(*this, options).run();
    return;
  }
  OptimizeOptions for_size = options;
  for_size.goal = OptimizeOptions::Goal::size;
  // Few bytes can be the rows of many functions, to which the search by row would take time in proportion.
  const bool by_row = options.goal == OptimizeOptions::Goal::smallest && num_fres_ <= size();
  for (bool changed = true; changed;) {
    sort();
    Builder optimized = Optimizer(*this, for_size).run();
    Builder* rows = this;
    auto retyped = with_best_types(for_size);
    if (retyped) {
      Builder other = Optimizer(*retyped, for_size).run().with_needed_types();
      if (other.size() < optimized.size()) {
        optimized = std::move(other);
        rows = &*retyped;
      }
    }
    changed = optimized.size() < size();
    if (by_row) {
      Builder smallest = Optimizer(*rows, options).run();
      if (rows != this) smallest = smallest.with_needed_types();
      const std::uint64_t best = std::min(size(), optimized.size());
      // So that a few searches reach a fixed point.
      if (smallest.size() < best - (options.repeat ? least_gain(best) : 0)) {
        optimized = std::move(smallest);
        changed = true;
      }
    }
    if (changed) *this = std::move(optimized);
    changed = changed && options.repeat;
  }
}

} // namespace sframe
