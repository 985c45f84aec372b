// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/code/references.h"

#include "machines.h"

#include "sframe/base/budget.h"
#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::code {

namespace {

/// What a search costs in steps.
constexpr std::uint64_t bytes_per_step = 16, decoded_bytes_per_step = 2;

constexpr std::uint64_t page_mask = 0xfff;

} // namespace

ReferenceFinder::ReferenceFinder(const AbiTraits& abi)
    : abi_(&abi), decoder_(make_decoder(abi)), values_(machine(abi).num_registers) {}

/// False if no four bytes are the distance from their end to an address in `wanted`, as all references of the
/// machine have it.
bool ReferenceFinder::may_refer(std::span<const std::byte> bytes, std::uint64_t address,
                                const AddressSet& wanted) const {
  if (!machine_entry(*abi_).refers_by_distance) return true;
  const std::span<const AddressRange> ranges = wanted.ranges();
  const std::uint64_t first = ranges.front().start, size = ranges.back().end() - first;
  for (std::size_t at = 0; at + sizeof(std::int32_t) <= bytes.size(); ++at) {
    const auto distance = load<std::int32_t>(bytes.data() + at, ByteOrder::little);
    const std::uint64_t target =
        address + at + sizeof distance + static_cast<std::uint64_t>(std::int64_t{distance});
    if (target - first < size && wanted.contains(target)) return true;
  }
  return false;
}

/// Follows addresses that one instruction, or several, put into registers.
void ReferenceFinder::note_addresses(const AddressSet& wanted, std::vector<Reference>& found) {
  using Kind = Effect::Kind;
  for (const Effect& effect : effects_) {
    if (effect.reg >= values_.size() || effect.kind == Kind::store || effect.kind == Kind::compare) continue;
    std::optional<std::uint64_t> value;
    const auto offset = static_cast<std::uint64_t>(effect.value);
    const bool is_whole = effect.size == 0 || effect.size == 8;
    bool is_page = false;
    if (effect.kind == Kind::set && is_whole && effect.source == Effect::none) {
      value = offset;
      is_page = machine_entry(*abi_).loads_pages && (offset & page_mask) == 0;
    } else if (effect.kind == Kind::set && is_whole && effect.source < values_.size()) {
      if (values_[effect.source]) value = *values_[effect.source] + offset;
    } else if (effect.kind == Kind::add && effect.source == Effect::none && values_[effect.reg]) {
      value = *values_[effect.reg] + offset;
    }
    const bool is_copy = effect.kind == Kind::set && effect.source != Effect::none && effect.value == 0;
    if (value && !is_page && !is_copy && wanted.contains(*value)) found.push_back({*value, false});
    values_[effect.reg] = value;
  }
}

void ReferenceFinder::find(std::span<const std::byte> bytes, std::uint64_t address, const AddressSet& wanted,
                           Budget* budget, std::vector<Reference>& found) {
  const auto pay = [&](std::uint64_t steps) {
    return !budget || budget->take(Resource::code_steps, 1 + steps);
  };
  if (!decoder_ || wanted.empty() || !pay(bytes.size() / bytes_per_step)) return;
  if (!may_refer(bytes, address, wanted) || !pay(bytes.size() / decoded_bytes_per_step)) return;
  std::ranges::fill(values_, std::nullopt);
  Instruction instruction;
  for (std::size_t at = 0; at < bytes.size(); at += instruction.length) {
    effects_.clear();
    const bool decoded = decoder_->decode(bytes.subspan(at), address + at, instruction, effects_);
    if (!decoded && instruction.length == 0) break;
    if (decoded) note_addresses(wanted, found);
    if (decoded && instruction.flow == Flow::call && wanted.contains(instruction.target))
      found.push_back({instruction.target, true});
    if (!decoded || instruction.flow != Flow::next) std::ranges::fill(values_, std::nullopt);
  }
}

} // namespace sframe::code
