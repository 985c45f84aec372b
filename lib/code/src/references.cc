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

/// What the effect puts into its register, or where the word is that it loads, if that is known as a number.
std::optional<std::uint64_t> ReferenceFinder::number_of(const Effect& effect) const {
  using Kind = Effect::Kind;
  const auto offset = static_cast<std::uint64_t>(effect.value);
  const bool is_whole = effect.size == 0 || effect.size == 8;
  if (effect.kind == Kind::add && effect.source == Effect::none && values_[effect.reg])
    return *values_[effect.reg] + offset;
  if ((effect.kind != Kind::set && effect.kind != Kind::load) || !is_whole) return std::nullopt;
  if (effect.source == Effect::none) return offset;
  if (effect.source >= values_.size() || !values_[effect.source]) return std::nullopt;
  return *values_[effect.source] + offset;
}

/// Follows addresses that one instruction, or several, put into registers.
void ReferenceFinder::note_addresses(const AddressSet& wanted, std::vector<Reference>& found) {
  using Kind = Effect::Kind;
  for (const Effect& effect : effects_) {
    if (effect.reg >= values_.size() || effect.kind == Kind::store || effect.kind == Kind::compare) continue;
    const auto value = effect.kind == Kind::load ? std::nullopt : number_of(effect);
    const bool is_set = effect.kind == Kind::set, is_alone = effect.source == Effect::none;
    const bool is_page =
        is_set && is_alone && machine_entry(*abi_).loads_pages && (effect.value & page_mask) == 0;
    const bool is_copy = is_set && !is_alone && effect.value == 0;
    if (value && !is_page && !is_copy && wanted.contains(*value)) found.push_back({*value, false});
    values_[effect.reg] = value;
  }
}

void ReferenceFinder::find_stubs(std::span<const std::byte> bytes, std::uint64_t address,
                                 std::vector<Stub>& found) {
  using Kind = Effect::Kind;
  if (!decoder_) return;
  constexpr std::size_t max_instructions = 8; // of a stub
  const std::uint64_t unit = machine(*abi_).alignment, entry = abi_->plt_entry_size;
  std::vector<std::uint64_t> instructions; // since the last jump
  std::uint8_t loaded = Effect::none;      // the register that a pointer was loaded into last
  std::uint64_t pointer = 0;               // where that is
  Instruction instruction;
  for (std::uint64_t at = 0, next = 0; at < bytes.size(); at = next) {
    effects_.clear();
    if (instructions.empty()) std::ranges::fill(values_, std::nullopt);
    const bool is_code = decoder_->decode(bytes.subspan(at), address + at, instruction, effects_);
    const std::uint64_t entry_end = at - at % entry + entry;
    next = std::min(at + std::max<std::uint64_t>(instruction.length, unit), entry_end);
    if (!is_code || at + instruction.length > entry_end) continue; // data at the end of an entry (s390x)
    instructions.push_back(address + at);
    for (const Effect& effect : effects_) {
      if (effect.reg >= values_.size() || effect.kind == Kind::store || effect.kind == Kind::compare)
        continue;
      const auto number = number_of(effect);
      if (effect.kind == Kind::load && number) {
        loaded = effect.reg;
        pointer = *number;
      } else if (effect.reg == loaded) {
        loaded = Effect::none;
      }
      values_[effect.reg] = effect.kind == Kind::load ? std::nullopt : number;
    }
    if (instruction.flow == Flow::indirect_jump && loaded != Effect::none &&
        instruction.jump_register == loaded)
      for (const std::uint64_t each : instructions) found.push_back({each, pointer});
    if (instruction.flow != Flow::next || instructions.size() == max_instructions) {
      instructions.clear();
      loaded = Effect::none;
    }
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
