// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder::optimize() for Goal::size and Goal::lookup: the cheapest cut of a list of atoms.
//
// It is a shortest path: a node is a place between atoms, an edge an FDE. Nodes have sums over the atoms
// before them, so that the cost of an edge follows from its two nodes.

#include "optimize/atoms.h"

#include <algorithm>

namespace sframe {

namespace {

/// A place before an atom, or after the last one. Sums and addresses count from the first of the atoms that
/// could be in one FDE.
struct Node {
  std::uint64_t cost = no_cost; ///< of the cheapest path
  std::uint64_t body = 0;       ///< bytes of rows without their offsets, as if all atoms were in one FDE
  std::uint64_t last = 0;       ///< address of the last row
  std::uint32_t rows = 0;
  std::uint32_t from = 0; ///< the path's last edge begins there
};

class Search {
public:
  Search(std::span<const Atom> atoms, const SearchOptions& options, const Uses& uses)
      : atoms_(atoms), options_(options), uses_(uses), nodes_(atoms.size() + 1) {}

  std::vector<Cut> run() {
    const auto count = static_cast<std::uint32_t>(atoms_.size());
    nodes_[0].cost = 0;
    for (std::uint32_t begin = 0, end; begin < count; begin = end) {
      for (end = begin + 1; end < count && atoms_[end].joins;) ++end;
      search({begin, end});
    }
    std::vector<Cut> cuts;
    for (std::uint32_t end = count; end != 0; end = nodes_[end].from) cuts.push_back({nodes_[end].from, end});
    std::ranges::reverse(cuts);
    return cuts;
  }

private:
  std::uint64_t address(std::uint32_t atom) const { return atoms_[atom].start - base_; }

  void sum_up(Cut range) {
    base_ = atoms_[range.first].start;
    Node* node = &nodes_[range.first];
    node->body = node->last = node->rows = 0; // the end of the atoms before had theirs
    for (std::uint32_t i = range.first; i < range.end; ++i) {
      const Atom& atom = atoms_[i];
      const Node& before = *node++;
      node->body = before.body + atom.body - (atom.repeats ? atom.first_body : 0u);
      node->rows = before.rows + atom.rows - atom.repeats;
      node->last = atom.rows > atom.repeats ? address(i) + atom.last : before.last;
    }
  }

  /// Atoms that may all be in one FDE, as far as their kinds and places allow it.
  void search(Cut range) {
    sum_up(range);
    std::uint32_t own_end = range.first; // of the function's atoms
    std::uint32_t fits_end = range.first;
    for (std::uint32_t first = range.first; first < range.end; ++first) {
      const Atom& atom = atoms_[first];
      if (first == own_end)
        while (++own_end < range.end && !atoms_[own_end].starts_function) {
        }
      while (fits_end < range.end && atoms_[fits_end].end() - atom.start <= max_u32) ++fits_end;
      const std::uint32_t limit = std::min(fits_end, first + max_atoms_of_fde);
      relax(first, limit, own_end);
    }
  }

  /// An edge's beginning: the same for all its ends.
  struct Begin {
    std::uint64_t cost; ///< with the index entry
    std::uint64_t body; ///< to be subtracted from the sums
    std::uint64_t start, least_last;
    std::uint32_t rows; ///< to be subtracted from the sums
    std::uint32_t atom;

    std::uint64_t run_cost(const Node& end) const {
      const auto last = static_cast<std::uint32_t>(std::max(end.last, least_last) - start);
      return run_size(end.body - body, end.rows - rows, last) * cost_unit;
    }
    void reach(Node& end, std::uint64_t run_cost) const {
      if (cost + run_cost >= end.cost) return;
      end.cost = cost + run_cost;
      end.from = atom;
    }
  };

  /// Notes which nodes up to `limit` are reached best by an edge from `first`, the function of which ends at
  /// `own_end`.
  void relax(std::uint32_t first, std::uint32_t limit, std::uint32_t own_end) {
    const Atom& atom = atoms_[first];
    const Node& node = nodes_[first];
    const std::uint64_t start = address(first);
    // The sums leave out a first row that repeats the one before, but an FDE begins with it.
    const Begin begin{.cost = node.cost + std::uint64_t{options_.entry_size} * cost_unit,
                      .body = node.body - (atom.repeats ? atom.first_body : 0u) - options_.attribute_size,
                      .start = start,
                      .least_last = start + atom.last,
                      .rows = node.rows - atom.repeats,
                      .atom = first};
    Node* const nodes = nodes_.data();
    const Node* const end =
        reach_all(begin, nodes + first + 1, nodes + (options_.keep_functions ? own_end : first + 1),
                  nodes + limit, options_.max_rows);
    if (!atom.shared) return;
    const auto share = [&](std::uint32_t to, std::uint32_t uses) {
      begin.reach(nodes[to], begin.run_cost(nodes[to]) / uses);
    };
    const std::uint32_t uses = uses_.of_runs()[atom.run];
    if (atom.starts_function && nodes + own_end < end && uses > 1) share(own_end, uses);
    uses_.each_group(atoms_, first, static_cast<std::uint32_t>(end - nodes) - 1, share);
  }

  /// Edges to nodes [end, limit], of more than max_rows only up to `any_rows`. Returns the first that none
  /// leads to.
  static const Node* reach_all(Begin begin, Node* end, const Node* any_rows, const Node* limit,
                               std::uint32_t max_rows) {
    for (; end <= any_rows && end <= limit; ++end) begin.reach(*end, begin.run_cost(*end));
    for (; end <= limit && end->rows - begin.rows <= max_rows; ++end) begin.reach(*end, begin.run_cost(*end));
    return end;
  }

  std::span<const Atom> atoms_;
  const SearchOptions& options_;
  const Uses& uses_;
  std::vector<Node> nodes_;
  std::uint64_t base_ = 0; ///< address of the first atom of the sums
};

} // namespace

std::vector<Cut> search(std::span<const Atom> atoms, const SearchOptions& options, const Uses& uses) {
  return Search(atoms, options, uses).run();
}

std::uint32_t Uses::add(std::span<const Atom> atoms, Cut cut) {
  Key key(atoms[cut.first]);
  for (std::uint32_t i = cut.first; i < cut.end; ++i) {
    if (!atoms[i].shared) return 1;
    if (i != cut.first) key.add(atoms[i]);
  }
  const std::uint32_t uses = ++of_groups_[key.value()];
  if (uses == 2) beginnings_.set(place_of(atoms[cut.first]));
  return uses;
}

} // namespace sframe
