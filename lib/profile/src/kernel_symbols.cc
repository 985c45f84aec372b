// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/profile/kernel_symbols.h"

#include "sframe/base/proc_text.h"
#include "sframe/bytes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <utility>

namespace sframe::profile {

namespace {

struct SymbolLine {
  std::uint64_t address = 0;
  std::string_view name;
};

/// A symbol of code.
std::optional<SymbolLine> line_of(std::string_view text) {
  SymbolLine line;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, line.address, 16);
  if (error != std::errc() || end - at < 4 || at[0] != ' ' || at[2] != ' ') return std::nullopt;
  if (!std::string_view("tTwW").contains(at[1]) || line.address == 0) return std::nullopt;
  line.name = std::string_view(at + 3, end);
  line.name = line.name.substr(0, line.name.find('\t'));
  return line;
}

} // namespace

Result<KernelSymbols> KernelSymbols::read() {
  KernelSymbols symbols = parse(read_proc_file("/proc/kallsyms"));
  if (symbols.empty()) return fail("/proc/kallsyms has no addresses for this user (kernel.kptr_restrict)");
  return symbols;
}

KernelSymbols KernelSymbols::parse(std::string text) {
  KernelSymbols symbols;
  symbols.text_ = std::move(text);
  const std::string_view all = symbols.text_;
  if (all.size() > 0xffff'ffff) return {};
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    if (const auto line = line_of(all.substr(at, end - at)))
      symbols.symbols_.push_back({line->address, static_cast<std::uint32_t>(line->name.data() - all.data()),
                                  static_cast<std::uint32_t>(line->name.size())});
    at = end + 1;
  }
  // Of several at an address, the first one counts.
  std::ranges::stable_sort(symbols.symbols_, {}, &Symbol::address);
  return symbols;
}

std::optional<KernelSymbols::Match> KernelSymbols::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (after == symbols_.begin()) return std::nullopt;
  const auto at = std::ranges::lower_bound(symbols_, std::prev(after)->address, {}, &Symbol::address);
  constexpr std::uint64_t longest = std::uint64_t{1} << 20; // of a function
  if (address - at->address >= longest) return std::nullopt;
  return Match{std::string_view(text_).substr(at->name, at->size), address - at->address};
}

std::optional<std::uint64_t> KernelSymbols::address_of(std::string_view name) const {
  const auto at = std::ranges::find_if(symbols_, [&](const Symbol& symbol) {
    return std::string_view(text_).substr(symbol.name, symbol.size) == name;
  });
  return at == symbols_.end() ? std::nullopt : std::optional(at->address);
}

/// Notes of ELF: sizes of name and contents, type; 3 is NT_GNU_BUILD_ID.
std::vector<std::byte> kernel_build_id() {
  const std::string notes = read_proc_file("/sys/kernel/notes");
  const auto bytes = std::as_bytes(std::span(notes));
  constexpr ByteOrder order = std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;
  const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  for (std::size_t at = 0; bytes.size() - at >= 12;) {
    const auto word = [&](std::size_t index) {
      return load<std::uint32_t>(bytes.data() + at + 4 * index, order);
    };
    const std::size_t name = padded(word(0)), size = word(1);
    const bool is_id = word(2) == 3 && word(0) == 4;
    at += 12;
    if (bytes.size() - at < name || bytes.size() - at - name < size) break;
    const auto contents = bytes.subspan(at + name, size);
    if (is_id && notes.compare(at, 4, std::string("GNU\0", 4)) == 0)
      return {contents.begin(), contents.end()};
    at += std::min(name + padded(size), bytes.size() - at);
  }
  return {};
}

} // namespace sframe::profile
