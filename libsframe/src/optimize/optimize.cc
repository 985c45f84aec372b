// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder::optimize(): which functions are joined to one FDE, and which are split.
//
// search.cc has the search for Goal::size and Goal::lookup, search_rows.cc that
// for Goal::smallest.
//
// An FDE costs an index entry and, in version 3, attributes; a row costs less if its offset from the FDE's
// start is small; functions with equal rows share them. So the cheapest cut of the sorted functions is a
// shortest path (search.cc): a node is a place where an FDE may start (an atom: a function,
// or some rows of a large one), an edge an FDE. The price of rows that several FDEs share is divided by their
// number. That number follows from the cut, so the search is done again with the numbers of the first one.
//
// Rows are copied as they are encoded; only their offsets change. Words are never interpreted: rows with
// equal bytes in FDEs of one type have equal rules.

#include "builder_rows.h"
#include "optimize/atoms.h"
#include "sframe/section.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>

namespace sframe {

namespace {

/// Rows of an atom, if a function is divided; and the most atoms of a function.
constexpr std::uint32_t rows_per_atom = 8, max_atoms_of_function = 64;
/// Functions that are searched at a time: no FDE has functions of two pieces. That costs an FDE in some
/// thousand, memory for one piece, and pieces may be searched at the same time.
constexpr std::uint32_t functions_of_piece = 8192;
/// Larger sections are searched once, which costs up to 0.3 % of their size, and saves a fifth of the time.
constexpr std::size_t max_pieces_searched_again = 4;
/// How far in front of a function its gap is announced to OptimizeOptions::expect.
constexpr std::uint32_t functions_ahead = 16;

constexpr std::uint32_t no_copy = 0xffffffff;

bool starts_with(std::span<const std::byte> bytes, std::span<const std::byte> beginning) {
  return bytes.size() >= beginning.size() && std::ranges::equal(bytes.first(beginning.size()), beginning);
}

} // namespace

/// Fills in Function::joins of the sorted functions, in their order and as far as they are needed.
class Builder::Joins {
public:
  Joins(Builder& builder, const OptimizeOptions& options) : builder_(builder), options_(options) {}

  /// Those of functions [0, end). May be called by several threads at the same time.
  void find(std::uint32_t end) {
    const std::lock_guard lock(mutex_);
    LargeVector<Function>& functions = builder_.functions_;
    for (; next_ < end; ++next_) {
      if (options_.expect && next_ + functions_ahead < functions.size()) {
        const Fde& ahead = functions[next_ + functions_ahead].fde;
        options_.expect(ahead.start + ahead.size);
      }
      functions[next_].joins = builder_.may_join(next_, options_);
    }
  }

private:
  Builder& builder_;
  const OptimizeOptions& options_;
  std::mutex mutex_;
  std::uint32_t next_ = 0; ///< the first function that is not known
};

class Builder::Optimizer {
public:
  /// `joins` are of the builder; null where they are known or not needed.
  Optimizer(const Builder& builder, const OptimizeOptions& options, Joins* joins)
      : builder_(builder), options_(options), joins_(joins), version_(*builder.version_),
        max_rows_(std::min(options.max_rows, version_.max_fres)), types_of_runs_(builder.types_of_runs()),
        uses_(builder.runs_.size()) {
    for (const Function& function : builder.functions_) uses_.add_function(function.run);
  }

  /// A builder with the best FDEs.
  Builder run() {
    if (by_row())
      search_by_row();
    else
      search_pieces();
    Builder best = make();
    if (builder_.options_.share_rows) best.share_beginnings();
    return best;
  }

private:
  /// A part of the sorted functions.
  struct Piece {
    std::vector<Atom> atoms;
    std::vector<Cut> cuts;
  };
  /// Functions [first, end).
  struct Functions {
    std::uint32_t first, end;
  };

  bool for_size() const { return options_.goal != OptimizeOptions::Goal::lookup; }
  bool by_row() const { return options_.goal == OptimizeOptions::Goal::smallest; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(builder_.functions_.size()); }
  const Run& run_of(std::uint32_t function) const {
    return builder_.runs_[builder_.functions_[function].run];
  }

  FdeType type_of(std::uint32_t function) const { return types_of_runs_[builder_.functions_[function].run]; }

  bool can_join(std::uint32_t number) const {
    return for_size() && builder_.functions_[number].joins && type_of(number - 1) == type_of(number);
  }

  /// Not if another function starts in it: readers find that one, up to its end, and no rows after it.
  bool is_divided(std::uint32_t number) const {
    const Run& run = run_of(number);
    const bool is_large = by_row()     ? run.num_fres >= 2
                          : for_size() ? run.num_fres >= 2 * rows_per_atom && run.fre_type != FreType::addr1
                                       : run.num_fres > max_rows_;
    const Fde& fde = builder_.functions_[number].fde;
    return is_large && fde.pc_type == PcType::inc && !fde.signal_frame && !builder_.is_overlapped(number);
  }

  /// The most rows of the function's atoms.
  std::uint32_t atom_rows(std::uint32_t number) const {
    const std::uint32_t rows = run_of(number).num_fres;
    if (!is_divided(number)) return std::max(rows, 1u);
    if (by_row()) return 1;
    if (!for_size()) return std::min(rows_per_atom, max_rows_);
    return std::max(rows_per_atom, (rows + max_atoms_of_function - 1) / max_atoms_of_function);
  }

  std::vector<Atom> make_atoms(Functions functions) const {
    std::size_t count = 0;
    for (std::uint32_t number = functions.first; number < functions.end; ++number) {
      const std::uint32_t most = atom_rows(number);
      count += std::max(1u, (run_of(number).num_fres + most - 1) / most);
    }
    std::vector<Atom> atoms;
    atoms.reserve(count);
    for (std::uint32_t number = functions.first; number < functions.end; ++number)
      make_atoms(number, number != functions.first, atoms);
    return atoms;
  }

  /// Adds those of a function.
  void make_atoms(std::uint32_t number, bool may_join, std::vector<Atom>& atoms) const {
    const Function& function = builder_.functions_[number];
    const Run& run = run_of(number);
    const bool shared = builder_.options_.share_rows && uses_.of_runs()[function.run] > 1;
    Atom atom{.start = function.fde.start,
              .size = function.fde.size,
              .function = number,
              .run = function.run,
              .at = 0,
              .rows = 0,
              .body = 0,
              .last = 0,
              .first_body = 0,
              .starts_function = true,
              .shared = shared,
              .joins = false,
              .repeats = false};
    if (run.num_fres == 0) {
      atoms.push_back(atom);
      return;
    }
    const RowBytes first = builder_.row_at(run, 0);
    // Without a row at its start, it would get the one before.
    atom.joins = may_join && first.offset == 0 && can_join(number);
    atom.repeats = atom.joins && std::ranges::equal(first.body, builder_.last_row(run_of(number - 1)).body);
    const std::uint32_t most = atom_rows(number);
    if (run.num_fres <= most) {
      atom.rows = run.num_fres;
      atom.body = run.size - version_.attribute_size - run.num_fres * run.offset_size();
      atom.first_body = static_cast<std::uint8_t>(first.body.size());
      atom.last = builder_.last_row(run).offset;
      atoms.push_back(atom);
      return;
    }
    builder_.each_row(run, [&](const RowBytes& row) {
      const auto body = static_cast<std::uint32_t>(row.body.size());
      if (atom.rows == most) {
        const std::uint64_t address = function.fde.start + row.offset;
        const auto into = static_cast<std::uint32_t>(address - atom.start);
        const std::uint32_t rest = atom.size - into;
        atom.size = into;
        atoms.push_back(atom);
        atom.start = address;
        atom.size = rest;
        atom.at = row.at;
        atom.rows = atom.body = 0;
        atom.starts_function = atom.repeats = false;
        atom.joins = true;
      }
      if (atom.rows++ == 0) atom.first_body = static_cast<std::uint8_t>(body);
      atom.body += body;
      atom.last = static_cast<std::uint32_t>(function.fde.start + row.offset - atom.start);
    });
    atoms.push_back(atom);
  }

  void for_each_piece(const std::function<void(std::size_t)>& work) const {
    if (options_.for_each) return options_.for_each(pieces_.size(), work);
    for (std::size_t i = 0; i < pieces_.size(); ++i) work(i);
  }

  void search_pieces() {
    const SearchOptions options{.entry_size = version_.entry_size,
                                .attribute_size = version_.attribute_size,
                                .max_rows = max_rows_,
                                .keep_functions = for_size()};
    pieces_.resize((count() + functions_of_piece - 1) / functions_of_piece);
    for_each_piece([&](std::size_t i) {
      const auto first = static_cast<std::uint32_t>(i * functions_of_piece);
      const Functions functions{first, std::min(count() - first, functions_of_piece) + first};
      if (joins_) joins_->find(functions.end);
      pieces_[i].atoms = make_atoms(functions);
      pieces_[i].cuts = search(pieces_[i].atoms, options, uses_);
    });
    // Without sharing, the numbers of uses do not matter.
    if (!builder_.options_.share_rows || pieces_.size() > max_pieces_searched_again) return;
    // The numbers of uses follow from the cuts. A third search saves less than 0.1 %.
    const std::uint64_t size = count_uses();
    std::vector<std::vector<Cut>> before(pieces_.size());
    for_each_piece([&](std::size_t i) {
      before[i] = std::exchange(pieces_[i].cuts, search(pieces_[i].atoms, options, uses_));
    });
    if (count_uses() < size) return;
    for (std::size_t i = 0; i < pieces_.size(); ++i) pieces_[i].cuts = std::move(before[i]);
  }

  void search_by_row() {
    Piece& all = pieces_.emplace_back();
    all.atoms = make_atoms({0, count()});
    std::map<std::pair<std::size_t, std::string_view>, std::uint32_t> numbers;
    std::vector<std::uint32_t> rules;
    rules.reserve(all.atoms.size());
    for (const Atom& atom : all.atoms) {
      const Run& run = builder_.runs_[atom.run];
      const auto body = run.num_fres ? builder_.row_at(run, atom.at).body : std::span<const std::byte>();
      const bool has_key_b = builder_.functions_[atom.function].fde.pauth_key == PauthKey::b;
      const auto kind = static_cast<std::size_t>(type_of(atom.function)) * 2 + has_key_b;
      const std::string_view bytes(reinterpret_cast<const char*>(body.data()), body.size());
      const auto next = static_cast<std::uint32_t>(numbers.size());
      rules.push_back(numbers.try_emplace(std::pair(kind, bytes), next).first->second);
    }
    all.cuts = search_rows(all.atoms, {.entry_size = version_.entry_size,
                                       .attribute_size = version_.attribute_size,
                                       .max_rows = max_rows_,
                                       .share_rows = builder_.options_.share_rows,
                                       .rules = rules,
                                       .uses_of_run = uses_.of_runs()});
  }

  /// Replaces the numbers of uses by those of the cuts. Returns the size of their section, without the
  /// header.
  std::uint64_t count_uses() {
    uses_ = Uses(builder_.runs_.size());
    std::uint64_t size = 0;
    for (const Piece& piece : pieces_) {
      for (const Cut& cut : piece.cuts) {
        const std::uint32_t uses = is_whole(piece.atoms, cut) ? uses_.add_function(piece.atoms[cut.first].run)
                                                              : uses_.add(piece.atoms, cut);
        size += version_.entry_size;
        if (uses == 1) size += Group(version_.attribute_size, piece.atoms, cut).run_bytes();
      }
    }
    return size;
  }

  /// A builder with an FDE per cut. Atoms are freed.
  Builder make() {
    Builder out(builder_.options_);
    std::size_t num_cuts = 0;
    for (const Piece& piece : pieces_) num_cuts += piece.cuts.size();
    out.reserve(num_cuts, builder_.encoded_.size());
    std::vector<std::uint32_t> copies(builder_.runs_.size(), no_copy); // by run
    for (Piece& piece : pieces_) {
      for (const Cut& cut : piece.cuts) {
        const Atom &first = piece.atoms[cut.first], &last = piece.atoms[cut.end - 1];
        Function function = builder_.functions_[first.function];
        if (is_whole(piece.atoms, cut)) {
          std::uint32_t& copy = copies[function.run];
          if (copy == no_copy) {
            const Run run = out.copy_bytes(builder_, builder_.runs_[function.run]);
            copy = out.add_run_of_needed_type(function.fde, run, type_of(first.function));
          }
          function.run = copy;
        } else {
          function.fde.start = first.start;
          function.fde.size = static_cast<std::uint32_t>(last.end() - first.start);
          const Run run = join(function.fde, piece.atoms, cut, out);
          function.run = out.add_run_of_needed_type(function.fde, run, type_of(first.function));
        }
        out.functions_.push_back(function);
        out.num_fres_ += out.runs_[function.run].num_fres;
      }
      piece = {};
    }
    return out;
  }

  /// Appends the rows of an FDE to out.encoded_, with offsets from its start.
  Run join(const Fde& fde, std::span<const Atom> atoms, Cut cut, Builder& out) const {
    const Group group(version_.attribute_size, atoms, cut);
    EncodedFde attributes{fde};
    attributes.num_fres = group.rows();
    attributes.fre_type = format::fre_type_for(group.last());
    attributes.fde_type = type_of(atoms[cut.first].function);
    LargeVector<std::byte>& bytes = out.encoded_;
    const std::uint64_t at = bytes.size();
    std::byte* to = extend(bytes, group.run_bytes());
    version_.codec.write_attributes(to, builder_.order_, attributes);
    to += version_.attribute_size;
    Run joined{at & Run::max_at, attributes.fre_type, 0, static_cast<std::uint32_t>(group.run_bytes()),
               attributes.num_fres};
    for (std::uint32_t i = cut.first; i < cut.end; ++i) {
      const Atom& atom = atoms[i];
      const Run& run = builder_.runs_[atom.run];
      const std::uint64_t distance = builder_.functions_[atom.function].fde.start - fde.start;
      bool left_out = i != cut.first && atom.repeats;
      builder_.each_row(run, atom.at, atom.rows, [&](const RowBytes& row) {
        if (std::exchange(left_out, false)) return;
        format::store_field(to, static_cast<std::uint32_t>(distance + row.offset), joined.offset_size(),
                            builder_.order_);
        to = std::ranges::copy(row.body, to + joined.offset_size()).out;
        joined.last_body = row.body.size() & Run::max_body;
      });
    }
    return joined;
  }

  const Builder& builder_;
  const OptimizeOptions& options_;
  Joins* joins_;
  const format::Version& version_;
  std::uint32_t max_rows_;
  std::vector<FdeType> types_of_runs_;
  Uses uses_; ///< by all functions, then in the last cuts
  std::vector<Piece> pieces_;
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
  LargeVector<std::byte> kept;
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

/// Sorts by address, and what is at the same one by all that it is.
void Builder::sort_functions() {
  std::ranges::stable_sort(functions_, [&](const Function& a, const Function& b) {
    if (a.fde.start != b.fde.start) return a.fde.start < b.fde.start;
    if (a.fde.size != b.fde.size) return a.fde.size < b.fde.size;
    return std::ranges::lexicographical_compare(run_bytes(runs_[a.run]), run_bytes(runs_[b.run]));
  });
}

void Builder::optimize(const OptimizeOptions& options) {
  if (functions_.empty() || options.max_rows == 0) return;
  table_ = {}; // made again when it is needed
  if (options.goal == OptimizeOptions::Goal::lookup) {
    sort_functions();
    *this = Optimizer(*this, options, nullptr).run();
    return;
  }
  OptimizeOptions for_size = options;
  for_size.goal = OptimizeOptions::Goal::size;
  // Few bytes can be the rows of many functions, to which the search by row would take time in proportion.
  const bool by_row = options.goal == OptimizeOptions::Goal::smallest && num_fres_ <= size();
  if (options_.share_rows) share_beginnings(); // as in a section that was optimized before
  for (bool changed = true; changed;) {
    sort_functions();
    Joins joins(*this, options);
    Builder optimized = Optimizer(*this, for_size, &joins).run();
    Builder* rows = this;
    auto retyped = with_best_types();
    if (retyped) {
      Builder other = Optimizer(*retyped, for_size, nullptr).run();
      if (other.size() < optimized.size()) {
        optimized = std::move(other);
        rows = &*retyped;
      }
    }
    changed = optimized.size() < size();
    if (by_row && (!options.may_search || options.may_search(rows->num_fres_))) {
      Builder smallest = Optimizer(*rows, options, nullptr).run();
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
