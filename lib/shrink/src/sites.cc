// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definition (free_ranges()), and the first witness: lib/code's effects. An instruction is free only by
// the complete list of its effects, so that whatever else it may do makes it a site.

#include "sites.h"

#include "sframe/base/budget.h"
#include "sframe/code/instruction.h"

#include <algorithm>

namespace sframe::shrink {

namespace {

using Kind = SiteInstruction::Kind;

constexpr std::uint8_t sp = 7, fp = 6; ///< AMD64's, in DWARF's numbers

/// Frames are set up and removed by few effects: a pop has two, leave three.
Kind kind_of(std::span<const code::Effect> effects) {
  using Effect = code::Effect;
  const auto is = [&](std::size_t i, Effect::Kind kind, std::uint8_t reg, std::uint8_t source) {
    return effects[i].kind == kind && effects[i].reg == reg && effects[i].source == source &&
           effects[i].size == 0;
  };
  const auto pops = [&](std::size_t i) {
    return effects[i].kind == Effect::Kind::load && effects[i].reg != sp && effects[i].source == sp &&
           effects[i].value == 0 && effects[i].size == 0 && is(i + 1, Effect::Kind::add, sp, Effect::none) &&
           effects[i + 1].value == 8;
  };
  const auto by_sign = [&](std::int64_t value) { return value > 0 ? Kind::removal : Kind::setup; };
  if (effects.size() == 3 && is(0, Effect::Kind::set, sp, fp) && effects[0].value == 0 && pops(1) &&
      effects[1].reg == fp)
    return Kind::removal; // leave
  if (effects.size() == 2 && pops(0)) return Kind::removal;
  if (effects.size() != 1) return Kind::site;
  const std::int64_t value = effects[0].value;
  if (is(0, Effect::Kind::add, sp, Effect::none)) return by_sign(value);
  if (is(0, Effect::Kind::set, sp, sp)) return by_sign(value);
  if (is(0, Effect::Kind::set, sp, fp)) return Kind::removal;
  if (is(0, Effect::Kind::set, fp, sp)) return Kind::setup;
  return Kind::site;
}

SiteInstruction classify(const code::Instruction& instruction, std::span<const code::Effect> effects) {
  using code::Flow;
  SiteInstruction out{.address = instruction.address, .length = instruction.length};
  switch (instruction.flow) {
  case Flow::next:
    out.kind = kind_of(effects);
    out.returns = instruction.system_call_register != code::Effect::none;
    return out;
  case Flow::jump:
    out.kind = Kind::jump;
    out.falls_through = false;
    out.target = instruction.target;
    return out;
  case Flow::ret:
    out.kind = Kind::removal;
    out.falls_through = false;
    return out;
  case Flow::branch:
  case Flow::patchable: out.target = instruction.target; return out;
  case Flow::call: out.target = instruction.target; [[fallthrough]];
  case Flow::indirect_call:
  case Flow::trap: out.returns = true; return out;
  case Flow::indirect_jump:
  case Flow::stop: out.falls_through = false; return out;
  case Flow::indirect_branch:
  case Flow::conditional_return: return out;
  }
  return out;
}

/// Whether control reaches an instruction from the one before it alone, at no moment that others choose.
bool follows(const SiteInstruction& before, const SiteInstruction& one) {
  if (!before.falls_through || before.returns) return false;
  switch (one.kind) {
  case Kind::site: return false;
  case Kind::setup: return true;
  case Kind::removal: return before.kind != Kind::setup;
  case Kind::jump: return before.kind == Kind::removal;
  }
  return false;
}

} // namespace

std::optional<std::vector<AddressRange>> free_ranges(std::span<const SiteInstruction> instructions,
                                                     const AddressRange& function) {
  std::vector<std::uint64_t> targets;
  for (const SiteInstruction& one : instructions)
    if (one.target != 0 && function.contains(one.target)) targets.push_back(one.target);
  std::ranges::sort(targets);
  targets.erase(std::ranges::unique(targets).begin(), targets.end());
  std::vector<AddressRange> out;
  auto target = targets.begin();
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const SiteInstruction& one = instructions[i];
    if (target != targets.end() && *target < one.address) return std::nullopt;
    const bool is_target = target != targets.end() && *target == one.address;
    if (is_target) ++target;
    if (i == 0 || is_target || !follows(instructions[i - 1], one)) continue;
    if (!out.empty() && out.back().end() == one.address)
      out.back().size += one.length;
    else
      out.push_back({one.address, one.length});
  }
  if (target != targets.end()) return std::nullopt;
  return out;
}

struct Sites::Reader {
  const elf::Image& image;
  Witness witness;
  std::unique_ptr<code::Decoder> decoder;
  ByteReader* read_bytes;
  std::vector<code::Effect> effects;
  std::vector<SiteInstruction> instructions;
  std::vector<AddressRange> free;

  SiteInstruction read(std::span<const std::byte> bytes, std::uint64_t address, bool by_effects) {
    if (!by_effects) return read_bytes(bytes, address);
    code::Instruction instruction;
    effects.clear();
    return decoder->decode(bytes, address, instruction, effects) ? classify(instruction, effects)
                                                                 : SiteInstruction();
  }

  std::optional<std::vector<AddressRange>> read_function(std::span<const std::byte> bytes,
                                                         const AddressRange& function, bool by_effects) {
    instructions.clear();
    for (std::size_t at = 0; at < bytes.size(); at += instructions.back().length) {
      const SiteInstruction one = read(bytes.subspan(at), function.start + at, by_effects);
      if (one.length == 0 || one.length > bytes.size() - at) return std::nullopt;
      instructions.push_back(one);
    }
    return free_ranges(instructions, function);
  }
};

Sites::Sites(const elf::Image& image, Witness witness)
    : reader_(std::make_unique<Reader>(Reader{.image = image,
                                              .witness = witness,
                                              .decoder = code::make_decoder(*image.abi()),
                                              .read_bytes = find_byte_reader(*image.abi()),
                                              .effects = {},
                                              .instructions = {},
                                              .free = {}})) {}
Sites::~Sites() = default;
Sites::Sites(Sites&&) noexcept = default;
Sites& Sites::operator=(Sites&&) noexcept = default;

bool Sites::are_known(const elf::Image& image) {
  return image.abi() && find_byte_reader(*image.abi());
}

std::span<const AddressRange> Sites::operator()(const AddressRange& function) {
  Reader& reader = *reader_;
  reader.free.clear();
  if (!reader.read_bytes) return {};
  const auto bytes = reader.image.read(function.start, function.size);
  constexpr std::uint64_t bytes_per_step = 4;
  Budget* const budget = reader.image.budget();
  if (!bytes || (budget && !budget->take(Resource::code_steps, 1 + function.size / bytes_per_step)))
    return {};
  auto found = reader.read_function(*bytes, function, false);
  if (!found) return {};
  if (reader.witness == Witness::both && found != reader.read_function(*bytes, function, true)) return {};
  reader.free = std::move(*found);
  return reader.free;
}

} // namespace sframe::shrink
