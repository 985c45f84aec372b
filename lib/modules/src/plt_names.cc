// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "plt_names.h"

#include "sframe/base/budget.h"
#include "sframe/code/references.h"

#include <algorithm>
#include <iterator>

namespace sframe::modules {

namespace {

using Place = elf::Image::RelocatedPlace;

/// What dynamic relocations change by a symbol's name, by address.
std::vector<Place> named_places(const elf::Image& image) {
  constexpr std::size_t longest = 4096;
  std::vector<Place> places;
  for (const elf::SectionHeader& section : image.sections()) {
    if (section.type != elf::sht_rela || !section.allocated()) continue;
    for (const Place& place : image.relocated_places(section, longest))
      if (!place.symbol.empty()) places.push_back(place);
  }
  std::ranges::stable_sort(places, {}, &Place::address);
  return places;
}

/// Where a stub starts. Padding before it leads to its jump, too, but all linkers align stubs to 8 bytes, and
/// need no more than 16 up to the jump (AArch64 with BTI).
std::uint64_t start_of(std::span<const code::Stub> instructions) {
  constexpr std::uint64_t alignment = 8, longest = 16;
  const std::uint64_t jump = instructions.back().address;
  const auto starts = [&](const code::Stub& instruction) {
    return instruction.address % alignment == 0 && jump - instruction.address <= longest;
  };
  const auto start = std::ranges::find_if(instructions, starts);
  return start == instructions.end() ? instructions.front().address : start->address;
}

/// The stubs of one section, each up to the next, or as long as an entry is at least.
std::vector<elf::Symbol> stubs_of(const AbiTraits& abi, std::span<const code::Stub> instructions,
                                  std::uint64_t end, std::span<const Place> places) {
  constexpr std::uint64_t longest_instruction = 16;
  constexpr std::uint8_t type_function = 2;
  std::vector<elf::Symbol> stubs;
  while (!instructions.empty()) {
    const std::uint64_t pointer = instructions.front().pointer;
    const auto next =
        std::ranges::find_if(instructions, [&](const code::Stub& s) { return s.pointer != pointer; });
    const auto own = instructions.first(static_cast<std::size_t>(next - instructions.begin()));
    instructions = instructions.subspan(own.size());
    const auto place = std::ranges::lower_bound(places, pointer, {}, &Place::address);
    if (place == places.end() || place->address != pointer) continue;
    const std::uint64_t start = start_of(own),
                        after = instructions.empty() ? end : instructions.front().address;
    const std::uint64_t size =
        std::max<std::uint64_t>(abi.plt_entry_size, own.back().address - start + longest_instruction);
    stubs.push_back({.address = start,
                     .size = std::min(size, after - start),
                     .name = place->symbol,
                     .type = type_function});
  }
  return stubs;
}

} // namespace

PltNames PltNames::load(const elf::Image& image) {
  PltNames names;
  if (!image.abi()) return names;
  const std::vector<elf::SectionHeader> sections = image.plt_sections();
  if (sections.empty()) return names;
  const std::vector<Place> places = named_places(image);
  code::ReferenceFinder finder(*image.abi());
  std::vector<code::Stub> instructions;
  for (const elf::SectionHeader& plt : sections) {
    if (image.budget() && !image.budget()->take(Resource::section_bytes, plt.size)) break;
    const auto bytes = image.read(plt.address, plt.size);
    if (!bytes) continue;
    instructions.clear();
    finder.find_stubs(*bytes, plt.address, instructions);
    const auto stubs = stubs_of(*image.abi(), instructions, plt.address + plt.size, places);
    names.stubs_.insert(names.stubs_.end(), stubs.begin(), stubs.end());
  }
  std::ranges::stable_sort(names.stubs_, {}, &elf::Symbol::address);
  for (elf::Symbol& stub : names.stubs_)
    stub.name = names.names_.emplace_back(std::string(stub.name) + "@plt");
  return names;
}

std::optional<elf::SymbolTable::Match> PltNames::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(stubs_, address, {}, &elf::Symbol::address);
  if (after == stubs_.begin()) return std::nullopt;
  const elf::Symbol& stub = *std::prev(after);
  const std::uint64_t into = address - stub.address;
  return into < stub.size ? std::optional(elf::SymbolTable::Match{&stub, into}) : std::nullopt;
}

} // namespace sframe::modules
