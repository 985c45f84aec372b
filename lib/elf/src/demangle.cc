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

std::string demangle(std::string_view name) {
  if (!name.starts_with('_') || !fits(name)) return std::string(name);
  return llvm::demangle(name);
}

} // namespace sframe::elf
