// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runs.h"

#include "sframe/base/address_ranges.h"

#include <algorithm>
#include <utility>

namespace sframe::jit {

void Garbage::reserve(std::size_t more) {
  if (what.capacity() - what.size() < more) what.reserve(std::max(2 * what.size(), what.size() + more));
}

const ListedCode* last_before(const ListedRun& run, std::uint64_t address) noexcept {
  const std::span entries(run.entries, run.count);
  return last_not_above(entries, address, &ListedCode::start);
}

namespace {

void copy(ListedCode& to, const ListedCode& from) {
  to.start = from.start;
  to.rows.store(from.rows.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to.name = from.name;
  to.size = from.size;
}

bool overlap(const ListedCode& a, const ListedCode& b) {
  return a.start - b.start < b.size || b.start - a.start < a.size;
}

} // namespace

/// One run of those from number `first` on and the new code.
Runs::Run Runs::merge(std::size_t first, const NewCode* code) const {
  ListedCode added;
  std::vector<const ListedCode*> order;
  std::size_t most = 1;
  for (std::size_t i = first; i < runs_.size(); ++i) most += runs_[i].count;
  order.reserve(most);
  if (code) {
    copy(added, {code->start, code->rows, code->name, code->size});
    order.push_back(&added);
  }
  const auto by_start = [](const ListedCode* a, const ListedCode* b) { return a->start < b->start; };
  for (std::size_t i = runs_.size(); i-- > first;) { // short runs first
    const auto middle = static_cast<std::ptrdiff_t>(order.size());
    for (std::size_t j = 0; j < runs_[i].count; ++j) {
      const ListedCode& one = runs_[i].entries[j];
      if (one.rows.load(std::memory_order_relaxed) && !(code && overlap(one, added))) order.push_back(&one);
    }
    std::inplace_merge(order.begin(), order.begin() + middle, order.end(), by_start);
  }
  Run made{std::shared_ptr<ListedCode[]>(new ListedCode[order.size()]), order.size(), 0};
  for (std::size_t i = 0; i < order.size(); ++i) copy(made.entries[i], *order[i]);
  return made;
}

void Runs::prepare(std::size_t kept, const NewCode* code, Garbage& garbage, std::size_t more) {
  Prepared made{kept, merge(kept, code), std::make_shared<ListedTable>()};
  ListedTable& table = *made.table;
  const auto list = [&](const Run& run) { table.runs[table.count++] = {run.entries.get(), run.count}; };
  for (std::size_t i = 0; i < kept; ++i) list(runs_[i]);
  if (made.run.count) list(made.run);
  runs_.reserve(kept + 1);
  garbage.reserve(runs_.size() - kept + 1 + more);
  prepared_ = std::move(made);
}

bool Runs::are_most_dropped() const {
  constexpr std::size_t few = 32;
  std::size_t count = 0, dropped = 0;
  for (const Run& run : runs_) {
    count += run.count;
    dropped += run.dropped;
  }
  return dropped > few + count / 2 || (count && dropped == count);
}

void Runs::prepare(const NewCode& code, Garbage& garbage, std::size_t more) {
  std::size_t kept = are_most_dropped() ? 0 : runs_.size();
  for (std::size_t merged = 1; kept && runs_[kept - 1].count < 2 * merged; --kept)
    merged += runs_[kept - 1].count;
  prepare(kept, &code, garbage, more);
}

bool Runs::prepare_compact(Garbage& garbage) {
  if (!are_most_dropped()) return false;
  prepare(0, nullptr, garbage, 0);
  return true;
}

void Runs::commit(ListedRegistry& registry, Garbage& garbage) noexcept {
  registry.table.store(prepared_.table.get(), std::memory_order_seq_cst);
  for (std::size_t i = prepared_.kept; i < runs_.size(); ++i)
    garbage.put(std::move(runs_[i].entries), runs_[i].count * sizeof(ListedCode));
  if (table_) garbage.put(std::move(table_), sizeof(ListedTable));
  runs_.resize(prepared_.kept);
  if (prepared_.run.count) runs_.push_back(std::move(prepared_.run));
  table_ = std::move(prepared_.table);
  prepared_ = {};
}

Runs::Run& Runs::run_of(std::uint64_t start, ListedCode*& found) noexcept {
  for (Run& run : runs_) {
    const ListedCode* const entry = last_before({run.entries.get(), run.count}, start);
    if (!entry || entry->start != start || !entry->rows.load(std::memory_order_relaxed)) continue;
    found = &run.entries[static_cast<std::size_t>(entry - run.entries.get())];
    return run;
  }
  std::unreachable();
}

ListedCode& Runs::entry(std::uint64_t start) noexcept {
  ListedCode* found = nullptr;
  run_of(start, found);
  return *found;
}

void Runs::drop(std::uint64_t start) noexcept {
  ListedCode* found = nullptr;
  ++run_of(start, found).dropped;
  found->rows.store(nullptr, std::memory_order_seq_cst);
}

std::size_t Runs::memory() const {
  std::size_t bytes = table_ ? sizeof(ListedTable) : 0;
  for (const Run& run : runs_) bytes += run.count * sizeof(ListedCode);
  return bytes;
}

} // namespace sframe::jit
