// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emulated/registers.h"

#include "emulated/connection.h"

#include "sframe/bytes.h"

#include <algorithm>
#include <charconv>

namespace sframe::process::emulated {

namespace {

constexpr std::uint16_t pc = unwind::Registers::count;
constexpr std::size_t word = 8;
constexpr std::uint32_t largest_register = 4096; ///< bytes

/// The value of an attribute in the text of a tag; empty if it is missing.
std::string_view attribute(std::string_view tag, std::string_view name) {
  for (std::size_t at = 0; (at = tag.find(name, at)) != std::string_view::npos; at += name.size()) {
    const bool starts = at > 0 && (tag[at - 1] == ' ' || tag[at - 1] == '\n' || tag[at - 1] == '\t');
    std::string_view rest = tag.substr(at + name.size());
    if (!starts || rest.size() < 2 || rest[0] != '=' || (rest[1] != '"' && rest[1] != '\'')) continue;
    const std::size_t end = rest.find(rest[1], 2);
    return end == std::string_view::npos ? std::string_view() : rest.substr(2, end - 2);
  }
  return {};
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Removes the text up to the end of the next tag, and returns what is in the tag. Empty: there is none.
std::string_view take_tag(std::string_view& xml) {
  for (;;) {
    const std::size_t start = xml.find('<');
    if (start == std::string_view::npos) return xml = {};
    xml.remove_prefix(start + 1);
    if (xml.starts_with("!--")) {
      const std::size_t end = xml.find("-->");
      xml = end == std::string_view::npos ? std::string_view() : xml.substr(end);
      continue;
    }
    const std::size_t end = std::min(xml.find('>'), xml.size());
    const std::string_view tag = xml.substr(0, end);
    xml.remove_prefix(end);
    if (!tag.empty()) return tag;
  }
}

} // namespace

RegisterLayout::RegisterLayout(const Guest& guest, const AbiTraits& abi, const unwind::UnwindAbi& unwind)
    : guest_(guest), abi_(abi), unwind_(unwind) {}

Result<void> RegisterLayout::add(std::string_view xml, std::vector<std::string>& includes) {
  for (std::string_view tag; !(tag = take_tag(xml)).empty();) {
    if (tag.starts_with("xi:include ")) {
      if (includes.size() == most_files) return fail("a target description of too many files");
      includes.emplace_back(attribute(tag, "href"));
    }
    if (!tag.starts_with("reg ")) continue;
    if (described_.size() == most_registers) return fail("a target description of too many registers");
    const auto bits = number(attribute(tag, "bitsize"));
    if (!bits || *bits == 0 || *bits / 8 > largest_register)
      return fail("a target description with a register of unknown size");
    const std::string_view at = attribute(tag, "regnum");
    if (const auto given = number(at))
      next_ = *given;
    else if (!at.empty())
      return fail("a target description with a malformed number");
    described_.push_back({std::string(attribute(tag, "name")), next_++, (*bits + 7) / 8});
  }
  return {};
}

Result<void> RegisterLayout::finish() {
  std::ranges::stable_sort(described_, {}, &Described::number);
  std::size_t offset = 0;
  for (const Described& described : described_) {
    const auto name = std::ranges::find(unwind_.register_names, described.name);
    const auto dwarf = static_cast<std::uint16_t>(name - unwind_.register_names.begin());
    const bool is_pc = described.name == guest_.pc;
    const bool is_known = is_pc || (name != unwind_.register_names.end() && dwarf < pc);
    if (is_known && described.size == word) places_.push_back({is_pc ? pc : dwarf, described.number, offset});
    offset += described.size;
  }
  for (const std::uint16_t needed : {pc, abi_.sp, abi_.fp})
    if (std::ranges::find(places_, needed, &Place::dwarf) == places_.end())
      return fail("a target description without pc, stack pointer or frame pointer");
  return {};
}

Result<unwind::Registers> RegisterLayout::parse(std::string_view digits) const {
  unwind::Registers registers;
  std::size_t missing = 0;
  for (const Place& place : places_) {
    const std::string_view text = digits.substr(std::min(digits.size(), place.offset * 2), word * 2);
    const auto found = value(text);
    const bool is_needed = place.dwarf == pc || place.dwarf == abi_.sp || place.dwarf == abi_.fp;
    missing += !found && is_needed;
    if (!found) continue;
    if (place.dwarf == pc)
      registers.pc = *found;
    else
      registers.set(place.dwarf, *found);
  }
  if (missing) return fail("registers that are too short or malformed");
  return registers;
}

std::optional<std::uint64_t> RegisterLayout::value(std::string_view digits) const {
  const auto bytes = from_hex(digits);
  if (!bytes || bytes->size() != word) return std::nullopt;
  return load<std::uint64_t>(std::as_bytes(std::span(*bytes)).data(), abi_.byte_order);
}

std::vector<RegisterLayout::Separate> RegisterLayout::separate(std::size_t bytes_of_g) const {
  std::vector<Separate> result;
  for (const Place& place : places_)
    if (place.offset + word > bytes_of_g) result.push_back({place.dwarf, place.number});
  return result;
}

} // namespace sframe::process::emulated
