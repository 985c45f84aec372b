// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the searches of Builder::optimize() have in common: atoms, which FDEs are made of, and what an FDE of
// some of them costs. optimize.cc makes the atoms, and FDEs of the result; search.cc
// is the search for Goal::size and Goal::lookup, search_rows.cc that for Goal::smallest.

#pragma once

#include "format/version.h"
#include "refused.h"
#include "sframe/builder.h"
#include "sframe/number_hash.h"
#include "sframe/optimize.h"

#include <bit>
#include <bitset>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace sframe {

/// Costs are in bytes times this, since prices are divided.
constexpr std::uint64_t cost_unit = 1024;
constexpr std::uint64_t no_cost = std::numeric_limits<std::uint64_t>::max();

/// Atoms in one FDE: what bounds the searches where rows of many functions are equal.
constexpr std::uint32_t max_atoms_of_fde = 256;

/// What another search has to save to be worth it.
constexpr std::uint64_t least_gain(std::uint64_t size) {
  return size / 1024;
}

/// Rows of a function, all or some. There are about as many as functions, so small ones save memory.
struct Atom {
  std::uint64_t start;    ///< of its addresses
  std::uint32_t size;     ///< bytes of code
  std::uint32_t function; ///< number in the sorted functions
  std::uint32_t run;      ///< the function's
  std::uint32_t at;       ///< where its first row begins, from the run's first row
  std::uint32_t rows;
  std::uint32_t body;       ///< bytes of rows without their offsets
  std::uint32_t last;       ///< the last row's address from `start`
  std::uint8_t first_body;  ///< the first row's share of `body`
  bool starts_function : 1; ///< has the function's first row, or the function has none
  bool shared : 1;          ///< other functions have the same run
  bool joins : 1;           ///< may be in one FDE with the atom before
  bool repeats : 1;         ///< the first row's rules are those of the last row before

  std::uint64_t end() const { return start + size; }
};

/// An FDE to be: atoms [first, end).
struct Cut {
  std::uint32_t first, end;
};

/// The bytes of attributes and `rows` rows, the last of which is at offset `last`.
constexpr std::uint64_t run_size(std::uint64_t attributes_and_bodies, std::uint64_t rows,
                                 std::uint32_t last) {
  return attributes_and_bodies + (rows << static_cast<std::uint32_t>(format::fre_type_for(last)));
}

/// An FDE to which atoms are added one by one.
class Group {
public:
  Group(std::uint32_t attribute_size, const Atom& first)
      : start_(first.start), bytes_(std::uint64_t{attribute_size} + first.body), rows_(first.rows),
        last_(first.last) {}
  Group(std::uint32_t attribute_size, std::span<const Atom> atoms, Cut cut)
      : Group(attribute_size, atoms[cut.first]) {
    for (std::uint32_t i = cut.first + 1; i < cut.end; ++i) add(atoms[i]);
  }

  void add(const Atom& next) {
    rows_ += next.rows - next.repeats;
    bytes_ += next.body - (next.repeats ? next.first_body : 0u);
    if (next.rows > next.repeats) last_ = static_cast<std::uint32_t>(next.start + next.last - start_);
  }

  /// False if it would be larger than an FDE can be.
  bool fits(const Atom& next) const { return next.end() - start_ <= max_u32; }
  std::uint32_t rows() const { return rows_; }
  /// The offset of its last row.
  std::uint32_t last() const { return last_; }
  /// Bytes of attributes and rows.
  std::uint64_t run_bytes() const { return run_size(bytes_, rows_, last_); }

private:
  std::uint64_t start_, bytes_;
  std::uint32_t rows_, last_;
};

/// True if these atoms are one function.
inline bool is_whole(std::span<const Atom> atoms, Cut cut) {
  const Atom &first = atoms[cut.first], &last = atoms[cut.end - 1];
  return first.starts_function && first.function == last.function &&
         (cut.end == atoms.size() || atoms[cut.end].starts_function);
}

/// How many FDEs have the same rows: the same atoms, or atoms that are the same rows of one run. Equal rows
/// of different runs are found only when the FDEs are written.
class Uses {
public:
  explicit Uses(std::size_t runs) : of_runs_(runs, 0) {}

  /// Another FDE that is one function with this run. Returns how many there are.
  std::uint32_t add_function(std::uint32_t run) { return ++of_runs_[run]; }
  /// Another FDE of these atoms. Returns how many have its rows, as far as is known.
  std::uint32_t add(std::span<const Atom> atoms, Cut cut);

  /// FDEs that are one function, by run.
  std::span<const std::uint32_t> of_runs() const { return of_runs_; }
  /// Calls f(end, uses) for the FDEs of atoms [first, end) that are no function and have several uses; `end`
  /// is at most `limit`.
  template <class F>
  void each_group(std::span<const Atom> atoms, std::uint32_t first, std::uint32_t limit, F&& f) const {
    if (of_groups_.empty() || !atoms[first].shared || !beginnings_[place_of(atoms[first])]) return;
    Key key(atoms[first]);
    for (std::uint32_t end = first + 1;; key.add(atoms[end++])) {
      const auto known = of_groups_.find(key.value());
      if (known != of_groups_.end() && known->second > 1) f(end, known->second);
      if (end == limit || !atoms[end].shared) return;
    }
  }

private:
  static constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (std::rotl(hash, 23) + value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
  }
  /// A hash of which atoms these are, and where.
  class Key {
  public:
    explicit Key(const Atom& first) : start_(first.start), value_(of(first)) {}
    void add(const Atom& next) { value_ = mix(mix(value_, of(next)), next.start - start_); }
    std::uint64_t value() const { return value_; }
    static std::uint64_t of(const Atom& atom) {
      return mix(std::uint64_t{atom.run} << 32 | atom.at, atom.rows);
    }

  private:
    std::uint64_t start_, value_;
  };
  std::size_t place_of(const Atom& first) const { return Key::of(first) % beginnings_.size(); }

  std::vector<std::uint32_t> of_runs_;
  std::unordered_map<std::uint64_t, std::uint32_t, NumberHash>
      of_groups_;                   ///< FDEs that are no function, by Key
  std::bitset<1 << 14> beginnings_; ///< hashes of the first atoms of groups that have several uses
};

/// For Goal::size and Goal::lookup.
struct SearchOptions {
  std::uint32_t entry_size, attribute_size; ///< of the version
  std::uint32_t max_rows;                   ///< of an FDE
  bool keep_functions;                      ///< a function that has more rows may keep them
};
/// The cheapest cut of `atoms`, if their rows have these uses.
std::vector<Cut> search(std::span<const Atom> atoms, const SearchOptions& options, const Uses& uses);

/// For Goal::smallest: a cut of `atoms`, most of which have one row.
struct RowSearchOptions {
  std::uint32_t entry_size, attribute_size; ///< of the version
  std::uint32_t max_rows;                   ///< of an FDE that is no whole function
  bool share_rows;
  std::span<const std::uint32_t> rules; ///< of atoms: equal if FDE type, key and the first row's body are
  std::span<const std::uint32_t> uses_of_run; ///< how many functions have it
};
std::vector<Cut> search_rows(std::span<const Atom> atoms, const RowSearchOptions& options);

} // namespace sframe
