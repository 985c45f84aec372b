// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes has the bytes from one state to another, Sequence chooses among the ways. The bytes of an
// instruction are those of DWARF 5, section 7.24.

#include "encoder.h"

#include "sframe/base/leb128.h"
#include "sframe/bytes.h"
#include "sframe/cfi/opcodes.h"

#include <algorithm>
#include <optional>

namespace sframe::shrink {

using namespace cfi;

namespace {

/// Ways that cost more than the best one by this are not followed: no remembered state saves as much.
constexpr std::uint32_t max_detour = 16;
constexpr std::size_t max_ways = 8;
/// Bytes of changes that are kept. libLLVM has less than 1 MiB of them.
constexpr std::size_t max_kept = std::size_t{16} << 20;

/// `offset` divided by a CIE's factor; nothing if that is not exact.
std::optional<std::int64_t> divided(std::int64_t offset, std::int64_t factor) {
  if (factor == -1) // the lowest number has no counterpart, and wraps, as it does when it is read
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(offset));
  if (offset % factor != 0) return std::nullopt;
  return offset / factor;
}

/// DW_CFA_advance_loc in its shortest form.
std::uint32_t advance_size(std::uint64_t units) {
  if (units == 0) return 0;
  return units < 0x40          ? 1
         : units < 0x100       ? 2
         : units < 0x10000     ? 3
         : units <= 0xffffffff ? 5
                               : Changes::impossible;
}

void append_advance(std::vector<std::byte>& out, std::uint64_t units, ByteOrder order) {
  const std::uint32_t size = advance_size(units);
  if (size == 0) return;
  if (size == 1) return out.push_back(static_cast<std::byte>(cfa_advance_loc | units));
  const std::uint8_t opcode = size == 2 ? cfa_advance_loc1 : size == 3 ? cfa_advance_loc2 : cfa_advance_loc4;
  out.push_back(static_cast<std::byte>(opcode));
  out.resize(out.size() + size - 1);
  store_sized(out.data() + out.size() - (size - 1), units, size - 1, order);
}

std::size_t uleb_size(std::uint64_t value) {
  std::size_t size = 1;
  while (value >>= 7) ++size;
  return size;
}

} // namespace

std::span<const std::byte> Changes::bytes(std::uint32_t from, std::uint32_t to) {
  const Place place = find(from, to);
  return std::span(bytes_).subspan(place.at, place.size == impossible ? 0 : place.size);
}

Changes::Place Changes::find(std::uint32_t from, std::uint32_t to) {
  if (from == to) return {};
  if (bytes_.size() > max_kept || places_.size() > max_kept / 16) {
    bytes_.clear();
    places_.clear();
  }
  const auto [entry, added] = places_.try_emplace(std::uint64_t{from} << 32 | to);
  if (!added) return entry->second;
  const std::size_t at = bytes_.size();
  const bool possible = append(states_[from], states_[to]);
  if (!possible) bytes_.resize(at);
  entry->second = {static_cast<std::uint32_t>(at),
                   possible ? static_cast<std::uint32_t>(bytes_.size() - at) : impossible};
  return entry->second;
}

bool Changes::append(const State& from, const State& to) {
  if (!append_cfa(from.cfa, to.cfa)) return false;
  if (from.ra_signed != to.ra_signed) put(cfa_window_save);
  auto old = from.rules.begin();
  auto wanted = to.rules.begin();
  while (old != from.rules.end() || wanted != to.rules.end()) {
    const bool goes = wanted == to.rules.end() || (old != from.rules.end() && old->first < wanted->first);
    if (goes) {
      // Only then do all readers mean the same by it.
      if (initial_.rule(old->first).kind != RegisterRule::Kind::unspecified) return false;
      if (old->first < 0x40) {
        put(static_cast<std::uint8_t>(cfa_restore | old->first));
      } else {
        put(cfa_restore_extended);
        append_uleb(bytes_, old->first);
      }
      ++old;
      continue;
    }
    const bool is_there = old != from.rules.end() && old->first == wanted->first;
    if (!(is_there && old->second == wanted->second) && !append_rule(wanted->first, wanted->second))
      return false;
    if (is_there) ++old;
    ++wanted;
  }
  return true;
}

void Changes::append_expression(std::uint64_t number) {
  const auto expression = states_.expression(number);
  append_uleb(bytes_, expression.size());
  bytes_.insert(bytes_.end(), expression.begin(), expression.end());
}

/// An offset changes on its own only where the rule is of a register: readers disagree about the others.
bool Changes::append_cfa(const CfaRule& from, const CfaRule& to) {
  if (from == to) return true;
  if (to.kind == CfaRule::Kind::expression) {
    put(cfa_def_cfa_expression);
    append_expression(static_cast<std::uint64_t>(to.offset));
    return true;
  }
  const bool has_register = from.kind == CfaRule::Kind::register_offset;
  if (has_register && from.offset == to.offset) {
    put(cfa_def_cfa_register);
    append_uleb(bytes_, to.number);
    return true;
  }
  const bool only_offset = has_register && from.number == to.number;
  // The form with a sign is divided by the CIE's factor.
  const std::int64_t factor = cie_.data_alignment;
  std::vector<std::byte> factored;
  if (const auto quotient = divided(to.offset, factor)) append_sleb(factored, *quotient);
  const bool is_plain =
      to.offset >= 0 &&
      (factored.empty() || uleb_size(static_cast<std::uint64_t>(to.offset)) <= factored.size());
  if (!is_plain && factored.empty()) return false;
  if (is_plain)
    put(only_offset ? cfa_def_cfa_offset : cfa_def_cfa);
  else
    put(only_offset ? cfa_def_cfa_offset_sf : cfa_def_cfa_sf);
  if (!only_offset) append_uleb(bytes_, to.number);
  if (is_plain)
    append_uleb(bytes_, static_cast<std::uint64_t>(to.offset));
  else
    bytes_.insert(bytes_.end(), factored.begin(), factored.end());
  return true;
}

bool Changes::append_offset(std::uint32_t reg, std::int64_t offset, std::uint8_t plain,
                            std::uint8_t with_sign) {
  const auto quotient = divided(offset, cie_.data_alignment);
  if (!quotient) return false;
  const std::int64_t factored = *quotient;
  if (factored >= 0 && plain == cfa_offset_extended && reg < 0x40) {
    put(static_cast<std::uint8_t>(cfa_offset | reg));
  } else {
    put(factored >= 0 ? plain : with_sign);
    append_uleb(bytes_, reg);
  }
  if (factored >= 0)
    append_uleb(bytes_, static_cast<std::uint64_t>(factored));
  else
    append_sleb(bytes_, factored);
  return true;
}

bool Changes::append_rule(std::uint32_t reg, const RegisterRule& rule) {
  using Kind = RegisterRule::Kind;
  const auto with_register = [&](std::uint8_t opcode) {
    put(opcode);
    append_uleb(bytes_, reg);
  };
  switch (rule.kind) {
  case Kind::unspecified: return false;
  case Kind::undefined: with_register(cfa_undefined); return true;
  case Kind::same: with_register(cfa_same_value); return true;
  case Kind::offset: return append_offset(reg, rule.offset, cfa_offset_extended, cfa_offset_extended_sf);
  case Kind::val_offset: return append_offset(reg, rule.offset, cfa_val_offset, cfa_val_offset_sf);
  case Kind::reg:
    with_register(cfa_register);
    append_uleb(bytes_, rule.number);
    return true;
  case Kind::expression:
  case Kind::val_expression:
    with_register(rule.kind == Kind::expression ? cfa_expression : cfa_val_expression);
    append_expression(static_cast<std::uint64_t>(rule.offset));
    return true;
  }
  return false;
}

Sequence::Sequence(Changes& changes, const ModelCie& cie, ByteOrder order)
    : changes_(changes), cie_(cie), order_(order) {}

void Sequence::start(std::uint64_t address) {
  nodes_.clear();
  live_.clear();
  address_ = address;
  state_ = cie_.state;
  add({.to = state_});
  add({.cost = 1, .remembered = state_, .to = state_, .remembers = true});
}

void Sequence::append(const Function& function, std::span<const Step> steps) {
  for (const Step& one : steps) step(function.start + one.offset, one.state);
}

void Sequence::step(std::uint64_t address, std::uint32_t state) {
  if (state == state_) return;
  const std::uint64_t units = (address - address_) / cie_.code_alignment;
  const std::uint32_t moved = advance_size(units);
  const std::uint32_t changed = changes_.size(state_, state);
  next_.clear();
  for (const std::uint32_t number : live_) {
    const Node& before = nodes_[number];
    Node node{.before = number,
              .cost = before.cost + moved + changed,
              .remembered = before.remembered,
              .from = state_,
              .to = state,
              .advance = units,
              .way = Way::direct};
    consider(node);
    if (before.remembered == none) continue;
    node.from = before.remembered;
    node.cost = before.cost + moved + 2 + changes_.size(before.remembered, state);
    node.way = Way::kept;
    consider(node);
    node.cost -= 1;
    node.remembered = none;
    node.way = Way::restored;
    consider(node);
  }
  keep_best();
  address_ = address;
  state_ = state;
}

/// Adds a candidate and, if nothing is remembered there, one that remembers the new state.
void Sequence::consider(Node node) {
  if (node.cost >= Changes::impossible) return;
  const auto offer = [&](const Node& one) {
    const auto same = std::ranges::find(next_, one.remembered, &Node::remembered);
    if (same == next_.end())
      next_.push_back(one);
    else if (one.cost < same->cost)
      *same = one;
  };
  offer(node);
  if (node.remembered != none) return;
  node.remembered = node.to;
  node.remembers = true;
  ++node.cost;
  offer(node);
}

void Sequence::keep_best() {
  std::ranges::sort(next_, {}, &Node::cost);
  live_.clear();
  for (const Node& node : next_)
    if (live_.size() < max_ways && node.cost <= next_.front().cost + max_detour) add(node);
}

void Sequence::add(const Node& node) {
  live_.push_back(static_cast<std::uint32_t>(nodes_.size()));
  nodes_.push_back(node);
}

std::uint32_t Sequence::size() const {
  return live_.empty() ? Changes::impossible : nodes_[live_.front()].cost;
}

std::vector<std::byte> Sequence::bytes() const {
  std::vector<std::uint32_t> path;
  for (std::uint32_t at = live_.front(); at != none; at = nodes_[at].before) path.push_back(at);
  std::ranges::reverse(path);
  std::vector<std::byte> out;
  for (const std::uint32_t number : path) {
    const Node& node = nodes_[number];
    append_advance(out, node.advance, order_);
    if (node.way == Way::restored || node.way == Way::kept)
      out.push_back(static_cast<std::byte>(cfa_restore_state));
    if (node.way == Way::kept) out.push_back(static_cast<std::byte>(cfa_remember_state));
    if (node.way != Way::start) {
      const auto changed = changes_.bytes(node.from, node.to);
      out.insert(out.end(), changed.begin(), changed.end());
    }
    if (node.remembers) out.push_back(static_cast<std::byte>(cfa_remember_state));
  }
  return out;
}

} // namespace sframe::shrink
