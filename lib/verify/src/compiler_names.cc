// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .comment has strings with a zero byte after each. .go.buildinfo is described in Go's package
// debug/buildinfo: 14 bytes of magic, the size of a pointer, flags; since Go 1.18 (flag 2), the version
// follows at offset 32, as a varint with its length and the text. Before, there were pointers to strings;
// these files have no name here.

#include "compiler_names.h"

#include "sframe/base/text.h"

#include <algorithm>

namespace sframe::verify {

namespace {

constexpr std::size_t max_name = 200; ///< bytes shown of a name

std::string shortened(std::string_view name) {
  return std::string(name.substr(0, max_name)) + (name.size() > max_name ? "..." : "");
}

/// The strings, each once, in the order of the section; at most `limit`.
std::vector<std::string> comments(std::string_view text, std::size_t limit) {
  constexpr std::string_view linker = "Linker: "; // LLD adds itself
  std::vector<std::string> found;
  while (!text.empty() && found.size() < limit) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    if (std::string name = shortened(text.substr(0, end));
        !name.empty() && !name.starts_with(linker) && std::ranges::find(found, name) == found.end())
      found.push_back(std::move(name));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::string go_version(std::string_view info) {
  constexpr std::string_view magic = "\xff Go buildinf:";
  constexpr std::size_t flags = 15, inline_strings = 2, version = 32, more = 0x80;
  if (!info.starts_with(magic) || info.size() <= version || !(info[flags] & inline_strings)) return {};
  const auto length = static_cast<unsigned char>(info[version]); // a version is never as long as `more`
  if (length == 0 || length >= more || length > info.size() - version - 1) return {};
  return "Go " + std::string(info.substr(version + 1, length));
}

std::string_view contents(const elf::Image& image, std::string_view name, elf::Contents& storage) {
  const elf::SectionHeader* const section = image.find_section(name);
  if (!section) return {};
  if (auto read = image.contents(*section)) storage = std::move(*read);
  return as_text(storage.bytes());
}

} // namespace

std::string compiler_of_producer(std::string_view producer) {
  std::size_t end = std::min(producer.find(" -"), producer.size());
  end = std::min(producer.find(';'), end);
  return shortened(producer.substr(0, end));
}

Compiler compiler_of_file(const elf::Image& image) {
  constexpr std::size_t most = 8;
  elf::Contents storage, info;
  Compiler compiler;
  if (std::string version = go_version(contents(image, ".go.buildinfo", info)); !version.empty())
    compiler = {std::move(version), Compiler::From::build_info};
  for (const std::string& comment : comments(contents(image, ".comment", storage), most)) {
    compiler.name += (compiler.name.empty() ? "" : ", ") + comment;
    compiler.from = Compiler::From::comment;
  }
  if (compiler.name.empty()) compiler.name = "unknown";
  return compiler;
}

} // namespace sframe::verify
