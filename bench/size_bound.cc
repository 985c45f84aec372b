// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// size-bound FILE FUNCTIONS BYTES [OPTION...]: how far an optimized section of BYTES is from the smallest one
// that readers accept. FUNCTIONS is a raw section in the same version, made of FILE by sframe-gen, an FDE for
// each function.
//
//    --max-rows=N      rows of an FDE of several functions: 40; 0: no limit
//    --late=4,2,1      FDEs may start so many bytes before a row, too; the row before is then in two FDEs
//    --v2, --prefixes  version 2; and FDEs may share their first rows, since the index has the number of rows
//    --rounds=N        100
//    --write=SECTION   writes the smallest section found, which sframe-verify can check
//
// The bound holds for all sections
//   - whose FDEs start at rows of FUNCTIONS, cover all its functions with the same rules, and have its marks
//     and FDE types; rows are encoded as there; functions are joined over padding of at most
//     OptimizeOptions::max_gap bytes;
//   - whose FDEs of several functions have at most N rows;
//   - whose FDEs share all of their attributes and rows, or nothing (but for --prefixes).
// It does not hold for sections in which FDEs start elsewhere, runs of bytes overlap in part, or an FDE has a
// row at its end.
//
// How: a section is a path over the rows, an FDE an edge. It costs its entry, and the runs of bytes on the
// path cost once each, however many edges use them. If the cost of each run is divided among all edges that
// could use it, the cheapest path with these prices costs at most as much as the best section, whatever the
// division (linear programming duality: the prices are a feasible solution of the dual of the relaxed
// problem). The division is improved in rounds: edges on the cheapest path get more of their runs' costs. The
// bound is that of the best round.

#include "study.h"

#include "sframe/builder.h"

#include <cmath>
#include <map>

namespace sframe::bench {
namespace {

constexpr std::uint32_t none = ~0u;
constexpr double rounding = 1 - 1e-6; ///< so that rounded parts of a cost are not more than all of it

struct Options {
  std::uint32_t max_rows = 40, rounds = 100;
  bool v2 = false, prefixes = false, verbose = false;
  const char* write = nullptr;
  std::vector<std::uint32_t> late; ///< decreasing: FDEs may start so many bytes before a row, too
};

/// A row of a function: a place where an FDE may start.
struct Element {
  std::uint64_t address;
  std::uint32_t body, function;
  bool joins;   ///< may be in one FDE with the element before
  bool repeats; ///< has the rules of the element before: no row if it is in one FDE with it
};

/// The first `rows` rows from an element on, if others have the same.
struct Use {
  std::uint32_t run;
  float weight; ///< its part of the run's cost, not yet divided by the sum of all
  float average;
};

class Bound {
public:
  Bound(const Study& study, const std::vector<bool>& joins, const Options& options)
      : study_(study), options_(options), limit_(options.max_rows == 0 ? 64 : options.max_rows),
        entry_(options.v2 ? 20 : 16), attributes_(options.v2 ? 0 : 5) {
    make_elements(joins);
    find_runs();
  }

  /// A lower bound of the section's bytes.
  double run() {
    double best = 0, smallest = HUGE_VAL;
    for (std::uint32_t round = 1; round <= options_.rounds; ++round) {
      const bool last = round == options_.rounds;
      if (last) // The average of all divisions is a division, and at least as good as they are on average.
        for (Use& use : uses_) use.weight = use.average;
      find_prices();
      if (round > options_.rounds / 2)
        for (Use& use : uses_) use.average += use.weight;
      best = std::max(best, find_path());
      if (const double size = mark(); size < smallest) {
        smallest = size;
        smallest_ = from_;
      }
      if (options_.verbose) std::fprintf(stderr, "%u: %.0f, best %.0f\n", round, cost_.back(), best);
      const double step = 1.5 / std::sqrt(round);
      if (!last) raise_prices(step);
    }
    return static_cast<double>(fixed_) + best;
  }

  /// The section of the smallest path that was found, made by the library.
  std::vector<std::byte> section() const {
    Builder builder({.version = options_.v2 ? VersionNumber::v2 : VersionNumber::v3,
                     .abi = study_.abi->id,
                     .share_rows = true});
    const auto add = [&](const Fde& fde, std::span<const FrameRow> rows) {
      if (!builder.add(fde, rows)) fail("a row that cannot be written");
    };
    const auto row = [&](std::uint64_t offset, std::uint32_t body) {
      FrameRow result = study_.rules[body];
      result.offset = static_cast<std::uint32_t>(offset);
      return result;
    };
    const auto fde_of = [](const StudyFunction& f, std::uint64_t start, std::uint64_t end) {
      return Fde{start,
                 static_cast<std::uint32_t>(end - start),
                 f.is_mask() ? PcType::mask : PcType::inc,
                 static_cast<std::uint8_t>(f.rep_size()),
                 f.is_signal(),
                 f.marks & 0x20 ? PauthKey::b : PauthKey::a};
    };
    std::vector<FrameRow> rows;
    for (const StudyFunction& f : study_.functions) {
      if (!stays(f)) continue;
      rows.clear();
      for (const StudyRow& r : f.rows) rows.push_back(row(r.offset, r.body));
      add(fde_of(f, f.start, f.end()), rows);
    }
    for (auto end = static_cast<std::uint32_t>(elements_.size()); end != 0;) {
      const std::uint32_t first = smallest_[end].first;
      const Element &e = elements_[first], &last = elements_[end - 1];
      const bool inside = end != elements_.size() && elements_[end].function == last.function;
      rows.clear();
      for (std::uint32_t i = first; i < end; ++i)
        if (i == first || !elements_[i].repeats)
          rows.push_back(row(elements_[i].address - e.address, elements_[i].body));
      const StudyFunction& f = study_.functions[last.function];
      add(fde_of(f, e.address, inside ? elements_[end].address : f.end()), rows);
      end = first;
    }
    auto bytes = builder.finish(0);
    if (!bytes) fail(std::string("the section cannot be written: ") + message(bytes.error().reason));
    return std::move(*bytes);
  }

private:
  std::uint32_t body_size(const Element& e) const {
    return static_cast<std::uint32_t>(study_.bodies[e.body].size());
  }
  static std::uint32_t width(std::uint64_t offset) { return offset < 256 ? 1 : offset < 65536 ? 2 : 4; }

  static bool stays(const StudyFunction& f) { return f.is_mask() || f.rows.empty(); }

  void make_elements(const std::vector<bool>& joins) {
    std::map<std::pair<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>, int> kept;
    for (const StudyFunction& f : study_.functions) {
      if (stays(f)) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> key;
        std::uint32_t size = attributes_;
        for (const StudyRow& row : f.rows) {
          key.emplace_back(row.offset, row.body);
          size += 1 + static_cast<std::uint32_t>(study_.bodies[row.body].size());
        }
        fixed_ += entry_ + (kept[{f.marks, key}]++ == 0 ? size : 0);
        continue;
      }
      for (const StudyRow& row : f.rows) {
        const bool first = &row == &f.rows.front();
        const auto number = static_cast<std::uint32_t>(&f - study_.functions.data());
        const bool joined = !first || joins[number];
        if (!first)
          for (const std::uint32_t late : options_.late)
            if (row.offset - late > (&row)[-1].offset && row.offset > late)
              elements_.push_back({f.start + row.offset - late, (&row)[-1].body, number, true, true});
        elements_.push_back({f.start + row.offset, row.body, number, joined,
                             first && joined && elements_.back().body == row.body});
      }
    }
  }

  /// Numbers the runs of 1 to limit_ rows that start at two elements or more: runs_ and, by element, uses_.
  void find_runs() {
    struct Open {
      std::uint32_t element, next, run; ///< next: the element after its rows
    };
    const auto count = static_cast<std::uint32_t>(elements_.size());
    std::vector<Open> open(count);
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> levels; // element, run
    for (std::uint32_t i = 0; i < count; ++i) open[i] = {i, i, none};
    std::vector<std::uint32_t> lengths(count, 0);
    common_.assign(count, 1);
    for (std::uint32_t rows = 1; rows <= limit_ && !open.empty(); ++rows) {
      struct Key {
        std::uint64_t run_and_body, offset;
        bool operator==(const Key&) const = default;
      };
      const auto hash = [](const Key& key) {
        return (key.run_and_body ^ (key.offset << 17)) * 0x9e3779b97f4a7c15 >> 16;
      };
      std::unordered_map<Key, std::pair<std::uint32_t, std::uint32_t>, decltype(hash)> found(open.size(),
                                                                                             hash);
      std::vector<std::pair<std::uint32_t, std::uint32_t>*> slots;
      for (Open& at : open) {
        const Element &first = elements_[at.element], &e = elements_[at.next];
        const std::uint64_t start = at.run == none ? marks(first) : at.run;
        auto& slot = found[{start << 32 | e.body, e.address - first.address}];
        ++slot.first;
        slots.push_back(&slot);
      }
      std::vector<Open> rest;
      levels.emplace_back();
      for (std::size_t i = 0; i < open.size(); ++i) {
        auto& [users, run] = *slots[i];
        if (users < 2) continue;
        Open at = open[i];
        const Element& e = elements_[at.next];
        const std::uint64_t offset = e.address - elements_[at.element].address;
        if (run == 0) {
          run = static_cast<std::uint32_t>(runs_.size() + 1);
          runs_.push_back({});
          Run& added = runs_.back();
          added.bodies = body_size(e) + (at.run == none ? 0 : runs_[at.run].bodies);
          // Version 2: what this row adds to the run that has one row less.
          added.cost = options_.prefixes ? body_size(e) + width(offset)
                                         : attributes_ + added.bodies + rows * width(offset);
        }
        at.run = run - 1;
        levels.back().emplace_back(at.element, at.run);
        lengths[at.element] = rows;
        if (rows == limit_) common_[at.element] = users;
        do ++at.next;
        while (at.next < count && elements_[at.next].joins && elements_[at.next].repeats);
        if (at.next < count && elements_[at.next].joins) rest.push_back(at);
      }
      open = std::move(rest);
    }
    first_use_.assign(count + 1, 0);
    for (std::uint32_t i = 0; i < count; ++i) first_use_[i + 1] = first_use_[i] + lengths[i];
    uses_.resize(first_use_[count]);
    for (std::size_t rows = 0; rows < levels.size(); ++rows)
      for (const auto& [element, run] : levels[rows]) uses_[first_use_[element] + rows] = {run, 1, 0};
  }
  std::uint64_t marks(const Element& e) const { return 0x80000000u | study_.functions[e.function].marks; }

  void find_prices() {
    for (Run& run : runs_) run.sum = 0;
    for (const Use& use : uses_) runs_[use.run].sum += use.weight;
    for (Use& use : uses_) {
      Run& run = runs_[use.run];
      use.weight = static_cast<float>(use.weight / run.sum); // so that they never grow large
    }
  }

  /// The cost of the cheapest path.
  double find_path() {
    const auto count = static_cast<std::uint32_t>(elements_.size());
    cost_.assign(count + 1, HUGE_VAL);
    from_.assign(count + 1, {0, 0});
    // The cheapest path whose last FDE has more than limit_ rows and can get more, by the width of offsets.
    std::vector<double> open[2] = {std::vector<double>(count + 1, HUGE_VAL),
                                   std::vector<double>(count + 1, HUGE_VAL)};
    std::vector<std::uint32_t> open_from[2] = {std::vector<std::uint32_t>(count + 1),
                                               std::vector<std::uint32_t>(count + 1)};
    cost_[0] = 0;
    std::vector<std::uint32_t> kept; // since the last place where no FDE can go on
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i == 0 || !elements_[i].joins) kept.clear();
      if (!elements_[i].repeats || kept.empty()) kept.push_back(i);
      for (const int wide : {0, 1})
        if (open[wide][i] < cost_[i]) {
          cost_[i] = open[wide][i];
          from_[i] = {open_from[wide][i], 0};
        }
      extend_long(i, kept, open, open_from);
      const double before = cost_[i] + entry_;
      const std::uint64_t address = elements_[i].address;
      const std::uint32_t shared = first_use_[i + 1] - first_use_[i];
      std::uint32_t bodies = 0, rows = 0;
      double price = 0, first_rows = 0;
      for (std::uint32_t end = i; end < count; ++end) {
        const Element& e = elements_[end];
        if (end != i && !e.joins) break;
        const bool crosses = e.function != elements_[i].function;
        if (end == i || !e.repeats) {
          if (rows == limit_) break;
          ++rows;
          bodies += body_size(e);
          const std::uint32_t bytes = width(e.address - address);
          if (rows <= shared) {
            const Use& use = uses_[first_use_[i] + rows - 1];
            const double part = runs_[use.run].cost * rounding * static_cast<double>(use.weight);
            price = options_.prefixes ? price + part : part;
            if (options_.prefixes) first_rows = price, bodies = 0; // the rest is not shared
          } else {
            price = first_rows + attributes_ + bodies + (options_.prefixes ? rows - shared : rows) * bytes;
          }
        }
        if (before + price < cost_[end + 1]) {
          cost_[end + 1] = before + price;
          from_[end + 1] = {i, rows};
        }
        if (rows == limit_ && (end == i || !e.repeats) && !(crosses && options_.max_rows != 0)) {
          // All users of a longer run have these rows: it is used by at most as many.
          const std::uint64_t offset = e.address - address;
          const int wide = offset > 255;
          const double total =
              before +
              (options_.prefixes ? price : (attributes_ + bodies + rows * (wide + 1.0)) / common_[i]);
          if (total < open[wide][end + 1]) {
            open[wide][end + 1] = total;
            open_from[wide][end + 1] = i;
          }
        }
      }
    }
    return cost_[count];
  }

  /// Element i as a row of an FDE that has limit_ rows before it. Its cost is divided by the number of places
  /// that have the same last limit_ rows.
  void extend_long(std::uint32_t i, const std::vector<std::uint32_t>& kept, std::vector<double> (&open)[2],
                   std::vector<std::uint32_t> (&open_from)[2]) {
    const Element& e = elements_[i];
    if (!e.joins) return;
    for (const int wide : {0, 1}) {
      if (open[wide][i] == HUGE_VAL) continue;
      if (options_.max_rows != 0 && elements_[open_from[wide][i]].function != e.function) continue;
      double total = open[wide][i];
      if (!e.repeats)
        total +=
            (body_size(e) + wide + 1.0) / (kept.size() >= limit_ ? common_[kept[kept.size() - limit_]] : 1);
      if (total < open[wide][i + 1]) {
        open[wide][i + 1] = total;
        open_from[wide][i + 1] = open_from[wide][i];
      }
    }
  }

  /// Sets used_ to what the path uses. Returns the size of its section; not with prefixes, since bytes cannot
  /// be the first ones of any number of runs. Runs of more than limit_ rows count as not shared.
  double mark() {
    used_.clear();
    std::vector<bool> seen(runs_.size());
    double size = 0;
    for (auto end = static_cast<std::uint32_t>(elements_.size()); end != 0;) {
      const auto [first, rows] = from_[end];
      const std::uint32_t shared = first_use_[first + 1] - first_use_[first];
      if (options_.prefixes) {
        for (std::uint32_t row = 0; row < std::min(rows, shared); ++row)
          used_.push_back(first_use_[first] + row);
      } else {
        const bool is_shared = rows != 0 && rows <= shared;
        if (is_shared) used_.push_back(first_use_[first] + rows - 1);
        if (!is_shared || !seen[uses_[used_.back()].run]) size += run_size(first, end);
        if (is_shared) seen[uses_[used_.back()].run] = true;
        size += entry_;
      }
      end = first;
    }
    return size;
  }
  double run_size(std::uint32_t first, std::uint32_t end) const {
    std::uint32_t bodies = 0, rows = 0, last = 0;
    for (std::uint32_t i = first; i < end; ++i)
      if (i == first || !elements_[i].repeats) ++rows, bodies += body_size(elements_[i]), last = i;
    return attributes_ + bodies + rows * width(elements_[last].address - elements_[first].address);
  }

  void raise_prices(double step) {
    const auto factor = static_cast<float>(std::exp(step));
    for (const std::uint32_t use : used_) uses_[use].weight *= factor;
  }

  struct Run {
    double sum = 0;
    std::uint32_t bodies = 0, cost = 0;
  };

  const Study& study_;
  const Options options_;
  const std::uint32_t limit_, entry_, attributes_;
  std::uint64_t fixed_ = 28; ///< the header, and functions that stay as they are
  std::vector<Element> elements_;
  std::vector<Run> runs_;
  std::vector<Use> uses_;
  std::vector<std::uint32_t> first_use_; ///< by element
  std::vector<std::uint32_t> common_;    ///< by element: places with the same limit_ rows
  std::vector<double> cost_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> from_;     ///< element, rows; 0 rows: more than limit_
  std::vector<std::pair<std::uint32_t, std::uint32_t>> smallest_; ///< from_ of the smallest section
  std::vector<std::uint32_t> used_;
};

/// Bits per symbol of the last of `symbols`, if the ones before it are known.
class Entropy {
public:
  void add(std::uint64_t context, std::uint64_t symbol) {
    ++pairs_[{context, symbol}];
    ++contexts_[context];
    ++count_;
  }
  /// Bytes of all symbols, if the frequencies are known.
  double bytes() const {
    double bits = 0;
    for (const auto& [pair, n] : pairs_)
      bits -= static_cast<double>(n) *
              std::log2(static_cast<double>(n) / static_cast<double>(contexts_.at(pair.first)));
    return bits / 8;
  }
  double bits_each() const { return count_ == 0 ? 0 : 8 * bytes() / static_cast<double>(count_); }

private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> pairs_;
  std::map<std::uint64_t, std::uint64_t> contexts_;
  std::uint64_t count_ = 0;
};

/// What the symbols of a section would cost if each took its entropy. No bound: a better model is possible,
/// and the frequencies themselves cost nothing here.
void print_entropy(const Study& study) {
  Entropy bodies, bodies_after, deltas, deltas_before, runs, gaps;
  std::map<std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::uint32_t> numbers;
  std::uint64_t end = study.functions.front().start;
  for (const StudyFunction& f : study.functions) {
    gaps.add(0, f.start - end);
    end = f.start;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> key{{f.marks, 0}};
    for (const StudyRow& row : f.rows) key.emplace_back(row.offset, row.body);
    const auto [known, added] =
        numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers.size()));
    runs.add(0, known->second);
    if (!added) continue;
    StudyRow before{0, none};
    for (const StudyRow& row : f.rows) {
      const std::uint64_t both = (std::uint64_t{before.body} << 32) + row.body;
      bodies.add(0, row.body);
      bodies_after.add(before.body, row.body);
      deltas.add(0, row.offset - before.offset);
      deltas_before.add(both, row.offset - before.offset);
      before = row;
    }
    bodies.add(0, none); // the end
    bodies_after.add(before.body, none);
  }
  std::printf("entropy, bits: body %.2f, after the body before %.2f; delta %.2f, with both bodies %.2f; "
              "run %.2f; start %.2f\n",
              bodies.bits_each(), bodies_after.bits_each(), deltas.bits_each(), deltas_before.bits_each(),
              runs.bits_each(), gaps.bits_each());
  std::printf("entropy, bytes: order 0 %.0f, order 1 %.0f (an entry for each function, each run once)\n",
              bodies.bytes() + deltas.bytes() + runs.bytes() + gaps.bytes(),
              bodies_after.bytes() + deltas_before.bytes() + runs.bytes() + gaps.bytes());
}

} // namespace
} // namespace sframe::bench

int main(int argc, char** argv) {
  using namespace sframe::bench;
  Options options;
  std::vector<const char*> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text.starts_with("--max-rows="))
      options.max_rows = static_cast<std::uint32_t>(std::strtoul(argv[i] + 11, nullptr, 10));
    else if (text.starts_with("--rounds="))
      options.rounds = static_cast<std::uint32_t>(std::strtoul(argv[i] + 9, nullptr, 10));
    else if (text.starts_with("--write="))
      options.write = argv[i] + 8;
    else if (text.starts_with("--late=")) {
      for (const char* at = argv[i] + 6; *at != 0;) {
        char* end = nullptr;
        options.late.push_back(static_cast<std::uint32_t>(std::strtoul(at + 1, &end, 10)));
        at = end;
      }
    } else if (text == "--v2")
      options.v2 = true;
    else if (text == "--prefixes")
      options.v2 = options.prefixes = true;
    else if (text == "--verbose")
      options.verbose = true;
    else
      words.push_back(argv[i]);
  }
  if (words.size() != 3 || options.rounds < 4)
    fail("usage: size-bound FILE FUNCTIONS BYTES [--max-rows=N] [--rounds=N] [--v2] [--write=SECTION] "
         "[--verbose]");
  const StudyFile file(words[0]);
  const Study functions(words[1]);
  const double ours = std::strtod(words[2], nullptr);
  if (functions.functions.empty()) fail("no functions");
  Bound bound(functions, file.joins(functions), options);
  const double least = bound.run();
  const auto cfi = static_cast<double>(file.cfi_size());
  std::printf("version %d%s, %u rows: %.0f bytes (%.1f %% of CFI), bound %.0f (%.1f %%), distance %.1f %%",
              options.v2 ? 2 : 3, options.prefixes ? " with shared first rows" : "", options.max_rows, ours,
              100 * ours / cfi, std::ceil(least), 100 * least / cfi, 100 * (ours - least) / ours);
  std::vector<std::byte> bytes;
  if (!options.prefixes) {
    bytes = bound.section();
    const auto size = static_cast<double>(bytes.size());
    std::printf("; found %.0f (%.1f %%), distance %.1f %%", size, 100 * size / cfi,
                100 * (size - least) / size);
  }
  std::printf("\n");
  print_entropy(functions);
  if (!options.write) return 0;
  std::ofstream out(options.write, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return out.good() ? 0 : 2;
}
