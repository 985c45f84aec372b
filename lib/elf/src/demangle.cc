// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names as programmers write them, through LLVM's demanglers. Those trust their input: a C++ name may refer
// back to its own parts (S0_, T_), each reference may double the text, and a hundred characters can ask for
// more text than there is memory. So a C++ name is parsed first, and what it would print is added up over the
// tree, each shared node once. (Itanium C++ ABI, section 5.1; Rust's v0 mangling has the same trait, RFC
// 2603.)

#include "sframe/elf/symbols.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Demangle/ItaniumDemangle.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace sframe::elf {

namespace {

using namespace llvm::itanium_demangle;

constexpr std::size_t max_mangled = 8192;        ///< also bounds the demangler's recursion
constexpr std::uint64_t max_demangled = 1 << 18; ///< bytes
constexpr unsigned max_back_references = 24;     ///< Rust and D names, which are not measured

class NodeAllocator {
public:
  void reset() {}
  template <class T, class... Args> T* makeNode(Args&&... args) {
    return new (memory_.Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  void* allocateNodeArray(std::size_t count) {
    return memory_.Allocate(sizeof(Node*) * count, alignof(Node*));
  }

private:
  llvm::BumpPtrAllocator memory_;
};

/// Adds up the text that a tree prints, roughly: no less than half of it.
class Measure {
public:
  std::uint64_t operator()(const Node* node) {
    if (!node) return 0;
    if (auto known = sizes_.find(node); known != sizes_.end()) return known->second;
    sizes_[node] = 0; // a cycle (a forward reference to a part that contains it) ends here
    std::uint64_t size = 16;
    node->visit([&](const auto* actual) { size = add(size, children(actual)); });
    return sizes_[node] = size;
  }

private:
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) { return std::min(a + b, max_demangled + 1); }

  template <class T> std::uint64_t children(const T* node) {
    std::uint64_t size = 0;
    node->match([&](const auto&... fields) { ((size = add(size, field(fields))), ...); });
    return size;
  }
  std::uint64_t children(const ForwardTemplateReference* node) { return (*this)(node->Ref); }

  std::uint64_t field(const Node* node) { return (*this)(node); }
  std::uint64_t field(Node* node) { return (*this)(node); } // or the template below would be the better match
  std::uint64_t field(NodeArray nodes) {
    std::uint64_t size = 0;
    for (const Node* node : nodes) size = add(size, (*this)(node));
    return size;
  }
  std::uint64_t field(std::string_view text) { return text.size(); }
  template <class T> std::uint64_t field(const T&) { return 8; } // numbers, kinds, qualifiers

  llvm::DenseMap<const Node*, std::uint64_t> sizes_;
};

bool is_itanium(std::string_view name) {
  const std::size_t underscores = name.find_first_not_of('_');
  return underscores >= 1 && underscores <= 4 && name.substr(underscores).starts_with('Z');
}

bool fits(std::string_view name) {
  if (name.size() > max_mangled) return false;
  if (!is_itanium(name))
    return std::ranges::count(name, name.starts_with("_R") ? 'B' : 'Q') <= max_back_references;
  ManglingParser<NodeAllocator> parser(name.data(), name.data() + name.size());
  const Node* tree = parser.parse();
  return tree && Measure()(tree) <= max_demangled;
}

} // namespace

namespace {

/// What Rust's compilers up to v0 made of characters that symbols cannot have: `$LT$` and so on, and `$u7b$` by
/// number. (rust-lang/rust, rustc_symbol_mangling, legacy.)
std::optional<std::string> legacy_character(std::string_view escape) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"}, {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};
  for (const auto& [code, text] : names)
    if (escape == code) return std::string(text);
  std::uint32_t number = 0;
  const char* const end = escape.data() + escape.size();
  if (escape.size() < 2 || escape.size() > 7 || escape[0] != 'u') return std::nullopt;
  if (const auto [last, error] = std::from_chars(escape.data() + 1, end, number, 16);
      last != end || error != std::errc())
    return std::nullopt;
  char text[4];
  char* to = text;
  if (number < 0x20 || number == 0x7f || !llvm::ConvertCodePointToUTF8(number, to)) return std::nullopt;
  return std::string(text, to);
}

/// One part of a path. Characters that are no escape stay.
void append_legacy_part(std::string& out, std::string_view part) {
  if (part.starts_with("_$")) part.remove_prefix(1); // only so that the symbol starts like a name
  while (!part.empty()) {
    const std::size_t end = part.find('$', 1);
    const auto escaped = part[0] == '$' && end != part.npos ? legacy_character(part.substr(1, end - 1))
                                                            : std::optional<std::string>();
    if (escaped) {
      out += *escaped;
      part.remove_prefix(end + 1);
    } else if (part.starts_with("..")) {
      out += "::";
      part.remove_prefix(2);
    } else {
      out += part[0];
      part.remove_prefix(1);
    }
  }
}

/// The last part of Rust's names: `h` and 16 digits.
bool is_legacy_hash(std::string_view part) {
  return part.size() == 17 && part[0] == 'h' &&
         part.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

/// Rust's mangling of before v0: that of C++'s nested names, with a hash at the end. The hash tells apart what
/// has one name, and is left out, as rustfilt does; so is the suffix that LLVM gives to what it moves
/// from one object to another. Nothing where the name is none of these.
std::optional<std::string> demangle_legacy_rust(std::string_view name) {
  if (!name.starts_with("_ZN")) return std::nullopt;
  name.remove_prefix(3);
  std::string text;
  std::string_view last;
  while (!name.empty() && name[0] != 'E') {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), size);
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    if (error != std::errc() || size == 0 || size > name.size()) return std::nullopt;
    if (!last.empty()) {
      if (!text.empty()) text += "::";
      append_legacy_part(text, last);
    }
    last = name.substr(0, size);
    name.remove_prefix(size);
  }
  if (name.empty() || text.empty() || !is_legacy_hash(last)) return std::nullopt;
  name.remove_prefix(1);
  if (const std::size_t moved = name.find(".llvm."); moved != name.npos) name = name.substr(0, moved);
  if (!name.empty() && name[0] != '.') return std::nullopt;
  if (!name.empty()) text += " (" + std::string(name) + ")";
  return text;
}

/// The name without the version that linkers append: "name@VERSION", "name@@VERSION".
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.find('@', 1);
  if (at == name.npos) return name;
  const std::string_view version = name.substr(std::min(name.find_first_not_of('@', at), name.size()));
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-' || c == '+' || c == ':';
  };
  const bool is_version = !version.empty() && version != "plt" && std::ranges::all_of(version, fits);
  return is_version ? name.substr(0, at) : name;
}

} // namespace

std::string demangle(std::string_view name) {
  name = without_version(name);
  if (!name.starts_with('_') || name.size() > max_mangled) return std::string(name);
  if (auto rust = demangle_legacy_rust(name)) return *rust;
  if (!fits(name)) return std::string(name);
  return llvm::demangle(name);
}

} // namespace sframe::elf
