// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definition (free_ranges()), and the first witness: lib/code's effects. An instruction is free only by
// the complete list of its effects, so that whatever else it may do makes it a site.

#include "sites.h"

#include "sframe/base/budget.h"
#include "sframe/code/instruction.h"

#include <algorithm>
#include <array>

namespace sframe::shrink {

namespace {

using Kind = SiteInstruction::Kind;

/// Those that set up and remove frames have few effects: a pop has two, leave three, a load of two words that
/// moves SP three.
class Effects {
public:
  Effects(std::span<const code::Effect> effects, const AbiTraits& abi)
      : effects_(effects), sp_(static_cast<std::uint8_t>(abi.sp)), fp_(static_cast<std::uint8_t>(abi.fp)) {}

  Kind kind() const {
    if (effects_.empty()) return Kind::site;
    if (effects_.size() == 2 && pushes()) return Kind::push;
    if (effects_.size() == 3 && sets(0, sp_, fp_) && effects_[0].value == 0 && effects_[1].reg == fp_ &&
        pops(1))
      return Kind::removal; // leave
    const auto moved_up = sp_moved_up();
    if (moved_up && pops(0)) return *moved_up > 0 ? Kind::removal : Kind::setup;
    if (effects_.size() == 1 && sets(0, sp_, fp_)) return Kind::removal;
    if (effects_.size() == 1 && sets(0, fp_, sp_)) return Kind::setup;
    return computes() ? Kind::plain : Kind::site;
  }

private:
  using Effect = code::Effect;

  bool is(std::size_t i, Effect::Kind kind, std::uint8_t reg, std::uint8_t source) const {
    const Effect& one = effects_[i];
    return one.kind == kind && one.reg == reg && one.source == source && one.size == 0;
  }
  bool sets(std::size_t i, std::uint8_t reg, std::uint8_t source) const {
    return is(i, Effect::Kind::set, reg, source);
  }
  /// What the last effect adds to SP, if that is all of it.
  std::optional<std::int64_t> sp_moved_up() const {
    const std::size_t last = effects_.size() - 1;
    if (!sets(last, sp_, sp_) && !is(last, Effect::Kind::add, sp_, Effect::none)) return std::nullopt;
    return effects_[last].value;
  }
  /// Whether all from the `first` on load words that the last removes.
  bool pops(std::size_t first) const {
    constexpr std::int64_t word = 8;
    const auto end = sp_moved_up();
    if (!end) return false;
    for (std::size_t i = first; i + 1 < effects_.size(); ++i) {
      const Effect& one = effects_[i];
      if (!is(i, Effect::Kind::load, one.reg, sp_) || one.reg == sp_) return false;
      if (one.value < 0 || one.value > *end - word) return false;
    }
    return true;
  }

  bool pushes() const {
    constexpr std::int64_t word = 8;
    const Effect& stored = effects_[0];
    return is(0, Effect::Kind::store, stored.reg, sp_) && stored.value == -word && sp_moved_up() == -word;
  }
  /// Whether all is sums of registers and constants. What is loaded has another effect, at least a clobber.
  bool computes() const {
    return std::ranges::all_of(effects_, [](const Effect& effect) {
      return effect.kind == Effect::Kind::set || effect.kind == Effect::Kind::add;
    });
  }

  std::span<const Effect> effects_;
  std::uint8_t sp_, fp_;
};

bool authenticates(std::span<const code::Effect> effects) {
  return std::ranges::any_of(
      effects, [](const code::Effect& effect) { return effect.kind == code::Effect::Kind::authenticate; });
}

SiteInstruction classify(const code::Instruction& instruction, std::span<const code::Effect> effects,
                         const AbiTraits& abi) {
  using code::Flow;
  SiteInstruction out{.address = instruction.address, .length = instruction.length};
  switch (instruction.flow) {
  case Flow::next:
    out.kind = Effects(effects, abi).kind();
    if (instruction.is_nop || instruction.marks_start) out.kind = Kind::plain;
    out.returns = instruction.system_call_register != code::Effect::none || instruction.system_call >= 0;
    return out;
  case Flow::jump:
    out.kind = Kind::jump;
    out.falls_through = false;
    out.target = instruction.target;
    return out;
  case Flow::ret:
    if (!authenticates(effects)) out.kind = Kind::removal; // otherwise it may fault
    out.falls_through = false;
    return out;
  case Flow::branch:
    if (effects.empty()) out.kind = Kind::plain;
    [[fallthrough]];
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
  case Kind::site:
  case Kind::push:
  case Kind::plain: return false;
  case Kind::setup: return true;
  case Kind::removal: return before.kind != Kind::setup;
  case Kind::jump: return before.kind == Kind::removal;
  }
  return false;
}

bool is_free(const SiteInstruction& before, const SiteInstruction& one, bool is_target, Level level) {
  if (level == Level::faults) return one.kind != Kind::site && !before.returns;
  return !is_target && follows(before, one);
}

/// What two decoders read of an instruction, as one that has what is least free. False if they contradict
/// each other.
bool merge(SiteInstruction& one, const SiteInstruction& other) {
  if (one.address != other.address || one.length != other.length || one.target != other.target) return false;
  if (one.kind != other.kind) one.kind = Kind::site;
  one.falls_through &= other.falls_through;
  one.returns |= other.returns;
  return true;
}

/// A second decoder, for all byte orders of a machine.
struct MachineReader {
  std::uint16_t machine; ///< e_machine
  ByteReader* read;
};
constexpr std::array readers{MachineReader{62, &read_amd64}, MachineReader{183, &read_aarch64},
                             MachineReader{22, &read_s390x}};

} // namespace

ByteReader* find_byte_reader(const AbiTraits& abi) {
  const auto* const found = std::ranges::find(readers, abi.machine, &MachineReader::machine);
  return found == readers.end() ? nullptr : found->read;
}

std::optional<std::vector<AddressRange>> free_ranges(std::span<const SiteInstruction> instructions,
                                                     const AddressRange& function, Level level) {
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
    if (i == 0 || !is_free(instructions[i - 1], one, is_target, level)) continue;
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
  Level level;
  std::unique_ptr<code::Decoder> decoder;
  ByteReader* read_bytes;
  std::vector<code::Effect> effects;
  std::vector<SiteInstruction> instructions, others;
  std::vector<AddressRange> free;

  SiteInstruction read(std::span<const std::byte> bytes, std::uint64_t address, bool by_effects) {
    if (!by_effects) return read_bytes(bytes, address);
    code::Instruction instruction;
    effects.clear();
    return decoder->decode(bytes, address, instruction, effects)
               ? classify(instruction, effects, *image.abi())
               : SiteInstruction();
  }

  /// False if the function is not understood.
  bool read(std::span<const std::byte> bytes, std::uint64_t address, bool by_effects,
            std::vector<SiteInstruction>& out) {
    out.clear();
    for (std::size_t at = 0; at < bytes.size(); at += out.back().length) {
      const SiteInstruction one = read(bytes.subspan(at), address + at, by_effects);
      if (one.length == 0 || one.length > bytes.size() - at) return false;
      out.push_back(one);
    }
    return true;
  }

  /// Reads the function with one decoder or both. False if it is not understood, or they contradict.
  bool read(std::span<const std::byte> bytes, std::uint64_t address) {
    if (!read(bytes, address, false, instructions)) return false;
    if (witness == Witness::bytes) return true;
    return read(bytes, address, true, others) && instructions.size() == others.size() &&
           std::ranges::equal(instructions, others, merge);
  }
};

Sites::Sites(const elf::Image& image, Witness witness, Level level)
    : reader_(std::make_unique<Reader>(Reader{.image = image,
                                              .witness = witness,
                                              .level = level,
                                              .decoder = code::make_decoder(*image.abi()),
                                              .read_bytes = find_byte_reader(*image.abi()),
                                              .effects = {},
                                              .instructions = {},
                                              .others = {},
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
  if (!reader.read(*bytes, function.start)) return {};
  if (auto found = free_ranges(reader.instructions, function, reader.level)) reader.free = std::move(*found);
  return reader.free;
}

} // namespace sframe::shrink
