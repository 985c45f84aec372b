// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder::optimize() for Goal::smallest: FDEs may start at any row.
//
// A section is a path over the rows, an FDE an edge, as in optimize.cc. A run of rows costs once,
// however many edges use it. To find the best set of runs is hard; so each run's cost is divided among all
// places that could use it, by weights, and the cheapest path with these prices is searched again and again:
// where it uses a run, that place's weight is raised. So runs that many places agree on become cheap there,
// and elsewhere expensive. (The prices are a solution of the dual of the linear program; see
// docs/dev/smaller-sections.md.) At the end, a few FDEs at a time are replaced by cheaper ones, for which
// runs of the others cost nothing.
//
// Only integers, and all in the order of addresses: the result is the same on every machine.

#include "optimize/atoms.h"

#include <algorithm>
#include <utility>

namespace sframe {

namespace {

/// Rows of a run that is searched in several places: longer ones are rarely worth it.
constexpr std::uint32_t max_shared_rows = 64;
/// The search takes time in proportion to this, whatever OptimizeOptions::max_rows is.
constexpr std::uint32_t max_searched_rows = 128;
constexpr std::uint32_t not_shared = 0xffffffff;

/// exp(1.5 / sqrt(round)) in 256ths: what the weights are multiplied by after each round.
constexpr std::uint32_t raises[] = {1147, 739, 609, 542, 501, 472, 451, 435, 422, 411, 402, 395};
constexpr std::uint32_t weight_unit = 64;

/// FDEs that are replaced at a time, by pass. Large numbers find more at first, small ones what they missed.
constexpr std::size_t windows[] = {16, 5, 13, 4, 11, 6};

/// A run that several places have. It has one row more than its parent, and begins with the parent's rows.
struct SharedRun {
  std::uint32_t parent = not_shared;
  std::uint32_t uses = 0;   ///< FDEs of a cut
  std::uint64_t weight = 0; ///< the sum of its places' weights
};

/// The runs of up to `limit` rows that start at two atoms or more. Finds them row by row: places that have
/// the same rows so far are sorted by their next row.
class SharedRuns {
public:
  SharedRuns(std::span<const Atom> atoms, std::span<const std::uint32_t> rules, std::uint32_t limit)
      : longest_(atoms.size()), after_repeats_(atoms.size() + 1, static_cast<std::uint32_t>(atoms.size())) {
    for (auto i = static_cast<std::uint32_t>(atoms.size()); i-- != 0;) {
      const bool adds_none = atoms[i].joins && atoms[i].repeats && atoms[i].rows == 1;
      after_repeats_[i] = adds_none ? after_repeats_[i + 1] : i;
    }
    std::vector<Place> places;
    places.reserve(atoms.size());
    for (std::uint32_t i = 0; i < atoms.size(); ++i)
      if (atoms[i].rows == 1) places.push_back({i, i, 0});
    std::vector<Same> same{{0, static_cast<std::uint32_t>(places.size()), not_shared}};
    for (std::uint32_t rows = 1; rows <= limit && !same.empty(); ++rows)
      add_row(atoms, rules, rows, places, same);
  }

  struct Longest {
    std::uint32_t run = not_shared, rows = 0;
  };
  /// The longest run that starts at the atom and elsewhere.
  Longest longest(std::uint32_t atom) const { return longest_[atom]; }
  SharedRun& operator[](std::uint32_t run) { return runs_[run]; }
  /// The first rows of the longest run.
  std::uint32_t find(std::uint32_t atom, std::uint32_t rows) const {
    const Longest& from = longest_[atom];
    std::uint32_t run = from.run;
    for (std::uint32_t i = from.rows; i != rows; --i) run = runs_[run].parent;
    return run;
  }

private:
  struct Place {
    std::uint32_t atom, next; ///< next: the atom of its next row
    std::uint64_t key;        ///< of that row: what it has, and where
  };
  /// Places that have the same rows so far.
  struct Same {
    std::uint32_t begin, end, run;
  };

  void add_row(std::span<const Atom> atoms, std::span<const std::uint32_t> rules, std::uint32_t rows,
               std::vector<Place>& places, std::vector<Same>& same) {
    std::vector<Same> next;
    std::uint32_t kept = 0;
    for (const Same& group : same) {
      const auto members = std::span(places).subspan(group.begin, group.end - group.begin);
      for (Place& place : members) {
        const Atom& atom = atoms[place.next];
        const std::uint64_t offset = atom.start + atom.last - atoms[place.atom].start;
        place.key = std::uint64_t{rules[place.next]} << 32 | offset;
      }
      std::ranges::sort(members, {}, [](const Place& place) { return std::pair(place.key, place.atom); });
      for (std::uint32_t i = group.begin; i < group.end;) {
        std::uint32_t end = i + 1;
        while (end < group.end && places[end].key == places[i].key) ++end;
        if (end - i < 2) {
          i = end;
          continue;
        }
        const auto run = static_cast<std::uint32_t>(runs_.size());
        runs_.push_back({.parent = group.run, .weight = std::uint64_t{end - i} * weight_unit});
        const std::uint32_t begin = kept;
        for (; i < end; ++i) {
          Place place = places[i];
          longest_[place.atom] = {run, rows};
          const std::uint64_t start = atoms[place.atom].start;
          place.next = after_repeats_[place.next + 1];
          if (place.next == atoms.size()) continue;
          const Atom& atom = atoms[place.next];
          if (atom.joins && atom.rows == 1 && atom.start + atom.size - start <= max_u32)
            places[kept++] = place;
        }
        if (kept - begin < 2)
          kept = begin;
        else
          next.push_back({begin, kept, run});
      }
    }
    same = std::move(next);
  }

  std::vector<SharedRun> runs_;
  std::vector<Longest> longest_;
  std::vector<std::uint32_t> after_repeats_; ///< by atom: the first from it on that adds a row
};

class RowSearch {
public:
  RowSearch(std::span<const Atom> atoms, const RowSearchOptions& options)
      : atoms_(atoms), options_(options), limit_(std::min(options.max_rows, max_searched_rows)),
        runs_(atoms, options.rules, options.share_rows ? std::min(limit_, max_shared_rows) : 0),
        cost_(atoms.size() + 1), from_(atoms.size() + 1), uses_of_whole_(options.uses_of_run.size()) {}

  std::vector<Cut> run() {
    std::vector<Fde> best;
    std::uint64_t smallest = no_cost, last = no_cost, before = no_cost;
    for (std::uint32_t round = 0; round < std::size(raises); ++round) {
      std::size_t raised = 0;
      search(all(), [&](std::uint32_t first, std::uint32_t rows) { load_weights(first, rows, raised); });
      std::vector<Fde> path = path_of(all());
      const std::uint64_t size = use(path);
      unuse(path);
      if (!options_.share_rows) return cuts_of(path);
      raise_weights(path, raises[round]);
      if (size < smallest) {
        smallest = size;
        best = std::move(path);
      }
      const bool rises = std::exchange(last, size) <= size;
      if (round == 2 && rises) break;
      if (round % 3 == 2 && std::exchange(before, smallest) - smallest < least_gain(smallest)) break;
    }
    improve(best, smallest);
    return cuts_of(best);
  }

private:
  /// An edge.
  struct Fde {
    Cut cut;
    std::uint32_t rows;
  };
  /// The weight of a place that is not weight_unit: the first rows of the longest run that starts there.
  struct Raised {
    std::uint32_t first, rows, weight;
    auto place() const { return std::pair(first, rows); }
  };
  /// What part of a run's cost a place pays.
  struct Part {
    std::uint64_t weight, sum;
  };

  Cut all() const { return {0, static_cast<std::uint32_t>(atoms_.size())}; }

  static std::vector<Cut> cuts_of(std::span<const Fde> fdes) {
    std::vector<Cut> cuts;
    cuts.reserve(fdes.size());
    for (const Fde& fde : fdes) cuts.push_back(fde.cut);
    return cuts;
  }

  /// Sets parts_ to those of the runs that start at atom `first`, which have up to `rows` rows. Called in
  /// order; `raised` counts the raised_ passed.
  void load_weights(std::uint32_t first, std::uint32_t rows, std::size_t& raised) {
    std::uint32_t run = runs_.longest(first).run;
    for (std::uint32_t i = rows; i != 0; --i) {
      const SharedRun& shared = runs_[run];
      parts_[i] = {weight_unit, shared.weight};
      run = shared.parent;
    }
    while (raised < raised_.size() && raised_[raised].first < first) ++raised;
    for (; raised < raised_.size() && raised_[raised].first == first; ++raised)
      parts_[raised_[raised].rows].weight = raised_[raised].weight;
  }

  /// Same, if runs that are used cost nothing.
  void load_uses(std::uint32_t first, std::uint32_t rows) {
    std::uint32_t run = runs_.longest(first).run;
    for (std::uint32_t i = rows; i != 0; --i) {
      const SharedRun& shared = runs_[run];
      parts_[i] = {shared.uses == 0, 1};
      run = shared.parent;
    }
  }

  /// The cheapest path from each atom of the range to its start: cost_ and from_.
  template <class Load> void search(Cut range, const Load& load) {
    cost_[range.first] = 0;
    std::fill(cost_.begin() + range.first + 1, cost_.begin() + range.end + 1, no_cost);
    for (std::uint32_t first = range.first; first < range.end; ++first) {
      const std::uint32_t shared = runs_.longest(first).rows;
      load(first, shared);
      const std::uint64_t before = cost_[first] + std::uint64_t{options_.entry_size} * cost_unit;
      Group group(options_.attribute_size, atoms_[first]);
      for (std::uint32_t end = first + 1;; ++end) {
        const std::uint32_t rows = group.rows();
        std::uint64_t price = group.run_bytes() * cost_unit;
        if (rows <= shared && rows != 0) {
          price = price * parts_[rows].weight / parts_[rows].sum;
        } else if (options_.share_rows && atoms_[first].shared && is_whole(atoms_, {first, end})) {
          price /= options_.uses_of_run[atoms_[first].run];
        }
        if (before + price < cost_[end] && (rows <= limit_ || is_whole(atoms_, {first, end}))) {
          cost_[end] = before + price;
          from_[end] = {{first, end}, rows};
        }
        if (end == range.end) break;
        const Atom& next = atoms_[end];
        if (!next.joins || !group.fits(next)) break;
        group.add(next);
        // A function that has more rows than the limit may keep them.
        if ((group.rows() > limit_ || end - first >= max_atoms_of_fde) &&
            !(atoms_[first].starts_function && next.function == atoms_[first].function))
          break;
      }
    }
  }

  std::vector<Fde> path_of(Cut range) const {
    std::vector<Fde> path;
    for (std::uint32_t end = range.end; end != range.first; end = from_[end].cut.first)
      path.push_back(from_[end]);
    std::ranges::reverse(path);
    return path;
  }

  std::uint64_t bytes_of(const Fde& fde) const {
    return Group(options_.attribute_size, atoms_, fde.cut).run_bytes();
  }

  /// How often the FDE's rows are used, if several FDEs may have them.
  std::uint32_t* uses_of(const Fde& fde) {
    if (!options_.share_rows) return nullptr;
    if (fde.rows != 0 && fde.rows <= runs_.longest(fde.cut.first).rows)
      return &runs_[runs_.find(fde.cut.first, fde.rows)].uses;
    const Atom& first = atoms_[fde.cut.first];
    return first.shared && is_whole(atoms_, fde.cut) ? &uses_of_whole_[first.run] : nullptr;
  }

  /// Counts the uses by these FDEs. Returns the bytes that they add to the section.
  std::uint64_t use(std::span<const Fde> fdes) {
    std::uint64_t size = fdes.size() * std::uint64_t{options_.entry_size};
    for (const Fde& fde : fdes) {
      std::uint32_t* const uses = uses_of(fde);
      if (!uses || (*uses)++ == 0) size += bytes_of(fde);
    }
    return size;
  }
  /// The reverse.
  std::uint64_t unuse(std::span<const Fde> fdes) {
    std::uint64_t size = fdes.size() * std::uint64_t{options_.entry_size};
    for (const Fde& fde : fdes) {
      std::uint32_t* const uses = uses_of(fde);
      if (!uses || --*uses == 0) size += bytes_of(fde);
    }
    return size;
  }

  void raise_weights(std::span<const Fde> path, std::uint32_t factor) {
    std::vector<Raised> all;
    all.reserve(raised_.size() + path.size());
    auto old = raised_.begin();
    for (const Fde& fde : path) {
      if (fde.rows == 0 || fde.rows > runs_.longest(fde.cut.first).rows) continue;
      Raised raised{fde.cut.first, fde.rows, weight_unit};
      while (old != raised_.end() && old->place() < raised.place()) all.push_back(*old++);
      if (old != raised_.end() && old->place() == raised.place()) raised.weight = (old++)->weight;
      const std::uint32_t more = static_cast<std::uint32_t>(
          (std::min<std::uint64_t>(std::uint64_t{raised.weight} * factor / 256, max_u32) - raised.weight));
      raised.weight += more;
      runs_[runs_.find(raised.first, raised.rows)].weight += more;
      all.push_back(raised);
    }
    all.insert(all.end(), old, raised_.end());
    raised_ = std::move(all);
  }

  /// Replaces some FDEs at a time by cheaper ones. `size` is theirs.
  void improve(std::vector<Fde>& fdes, std::uint64_t size) {
    use(fdes);
    for (const std::size_t some : windows) {
      const std::uint64_t before = size;
      std::vector<Fde> out;
      out.reserve(fdes.size());
      for (std::size_t begin = 0, end; begin < fdes.size(); begin = end) {
        end = std::min(fdes.size(), begin + some);
        const auto old = std::span(fdes).subspan(begin, end - begin);
        const Cut range{old.front().cut.first, old.back().cut.end};
        const std::uint64_t removed = unuse(old);
        search(range, [&](std::uint32_t first, std::uint32_t rows) { load_uses(first, rows); });
        const std::vector<Fde> path = path_of(range);
        const std::uint64_t added = use(path);
        if (added < removed) {
          size = size - removed + added;
          out.insert(out.end(), path.begin(), path.end());
        } else {
          unuse(path);
          use(old);
          out.insert(out.end(), old.begin(), old.end());
        }
      }
      fdes = std::move(out);
      if (before - size < least_gain(size)) break;
    }
  }

  std::span<const Atom> atoms_;
  const RowSearchOptions& options_;
  std::uint32_t limit_;
  SharedRuns runs_;
  std::vector<Raised> raised_; ///< sorted by place
  Part parts_[max_shared_rows + 1] = {};
  std::vector<std::uint64_t> cost_;          ///< of the cheapest path to an atom
  std::vector<Fde> from_;                    ///< its last FDE
  std::vector<std::uint32_t> uses_of_whole_; ///< by run of a function
};

} // namespace

std::vector<Cut> search_rows(std::span<const Atom> atoms, const RowSearchOptions& options) {
  return RowSearch(atoms, options).run();
}

} // namespace sframe
