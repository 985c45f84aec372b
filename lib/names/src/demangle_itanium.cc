// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++ names. LLVM's parser and nodes are templates and virtual functions, so the limits are enforced from
// inside: the parser's recursive functions count their depth, the arena tracks the depth of each node's tree,
// and the output buffer checks each node before it is printed.

#include "manglings.h"

#include <llvm/Demangle/ItaniumDemangle.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace sframe::names {

namespace {

using namespace llvm::itanium_demangle;

// Stack: ElfSymbols.DemanglesOnASmallStack measures what these limits need.
constexpr unsigned max_parse_depth = 256; ///< nested types, expressions, names...
constexpr unsigned max_print_depth = 512; ///< nodes in nodes
constexpr unsigned max_tree_depth = 1024; ///< nested nodes that only query each other

/// Memory for the nodes of one name. Linear in the name's size, as the parser is.
class NodeArena {
public:
  void reset() {}

  template <class T, class... Args> T* makeNode(Args&&... args) {
    std::uint32_t below = 0;
    ((below = std::max(below, depth_of(args))), ...);
    if constexpr (std::is_same_v<T, ForwardTemplateReference>) ++forward_references_;
    deepest_ = std::max(deepest_, below + 1);
    auto* const depth = static_cast<std::uint32_t*>(allocate(header_size + sizeof(T)));
    *depth = below + 1;
    return new (reinterpret_cast<char*>(depth) + header_size) T(std::forward<Args>(args)...);
  }
  void* allocateNodeArray(std::size_t count) { return allocate(sizeof(Node*) * count); }

  /// The longest path in the tree. The target of a forward reference is unknown when it is made: it may be
  /// any node, but a path goes through each reference once.
  std::uint64_t tree_depth() const { return std::uint64_t(deepest_) * (1 + forward_references_); }

private:
  static constexpr std::size_t header_size = 16; ///< holds the depth
  static constexpr std::size_t chunk_size = std::size_t(1) << 15;

  template <class T> static std::uint32_t depth_of(const T& argument) {
    if constexpr (std::is_same_v<T, NodeArray>) {
      std::uint32_t deepest = 0;
      for (const Node* node : argument) deepest = std::max(deepest, depth_of(node));
      return deepest;
    } else if constexpr (std::is_convertible_v<const T&, const Node*>) {
      const Node* const node = argument;
      return node ? *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(node) - header_size)
                  : 0;
    } else {
      return 0;
    }
  }

  void* allocate(std::size_t size) {
    size = (size + 15) & ~std::size_t(15);
    if (size > left_) {
      left_ = std::max(size, chunk_size);
      next_ = chunks_.emplace_back(new Unit[left_ / sizeof(Unit)])[0].bytes;
    }
    left_ -= size;
    return std::exchange(next_, next_ + size);
  }

  struct alignas(16) Unit {
    char bytes[16];
  };
  std::array<Unit, 128> first_;
  std::vector<std::unique_ptr<Unit[]>> chunks_;
  char* next_ = first_[0].bytes;
  std::size_t left_ = sizeof first_;
  std::uint32_t deepest_ = 0;
  std::uint32_t forward_references_ = 0;
};

/// LLVM's parser with a limit: all recursion goes through one of these functions, except for what
/// hidden_nesting() counts.
class Parser : public AbstractManglingParser<Parser, NodeArena> {
  using Base = AbstractManglingParser<Parser, NodeArena>;

public:
  explicit Parser(std::string_view name)
      : Base(name.data(), name.data() + name.size()), steps_(64 + 16 * name.size()) {}

  Node* parseType() {
    return nested([&] { return Base::parseType(); });
  }
  Node* parseQualifiedType() {
    return nested([&] { return Base::parseQualifiedType(); });
  }
  Node* parseExpr() {
    return nested([&] { return Base::parseExpr(); });
  }
  Node* parseBracedExpr() {
    return nested([&] { return Base::parseBracedExpr(); });
  }
  Node* parseTemplateArg() {
    return nested([&] { return Base::parseTemplateArg(); });
  }
  Node* parseName(NameState* state = nullptr) {
    return nested([&] { return Base::parseName(state); });
  }
  Node* parseEncoding(bool parameters = true) {
    return nested([&] { return Base::parseEncoding(parameters); });
  }

private:
  template <class F> Node* nested(F parse) {
    if (depth_ == max_parse_depth || steps_ == 0) return nullptr;
    --steps_;
    ++depth_;
    Node* const node = parse();
    --depth_;
    return node;
  }

  unsigned depth_ = 0;
  std::size_t steps_; ///< steps left; the parser does not backtrack, so this is a second line of defence
};

/// How often the parser may recurse without calling Parser: once for a template parameter declaration in
/// another (Tp, Tt, Tn), and for a vendor's type with an argument (u4nameI...E).
std::size_t hidden_nesting(std::string_view name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char next = name[i + 1];
    count += (name[i] == 'T' && (next == 'p' || next == 't' || next == 'n')) ||
             (name[i] == 'u' && next >= '0' && next <= '9');
  }
  return count;
}

/// The output buffer of nodes, which stops at the limits. Never grows.
class Printer final : public OutputBuffer {
public:
  explicit Printer(std::uint64_t tree_depth)
      : OutputBuffer(static_cast<char*>(std::malloc(max_demangled + slack)), max_demangled + slack),
        question_cost_(tree_depth) {}
  ~Printer() override { std::free(getBuffer()); }

  Demangled print(const Node& name) {
    if (!getBuffer()) throw std::bad_alloc();
    name.print(*this);
    if (stopped_ || getCurrentPosition() > max_demangled) return unexpected(NotDemangled::too_long);
    return std::string(std::string_view(*this));
  }

  void printLeft(const Node& node) override {
    if (!enter(node)) return;
    OutputBuffer::printLeft(node);
    --depth_;
  }
  void printRight(const Node& node) override {
    if (!enter(node)) return;
    OutputBuffer::printRight(node);
    --depth_;
  }
  void notifyInsertion(std::size_t, std::size_t) override { work_ += getCurrentPosition(); }
  void notifyDeletion(std::size_t before, std::size_t now) override {
    work_ += before > counted_ ? before - counted_ : 0;
    counted_ = now;
  }

private:
  /// Between two nodes, at most one identifier or an array of numbers is printed.
  static constexpr std::size_t slack = 4 * max_mangled;

  bool enter(const Node& node) {
    const std::size_t here = getCurrentPosition();
    if (here > counted_) work_ += here - counted_;
    counted_ = here;
    work_ += 4;
    // The print functions query such a node, and it passes the queries on.
    if (node.getRHSComponentCache() == Node::Cache::Unknown || node.getArrayCache() == Node::Cache::Unknown ||
        node.getFunctionCache() == Node::Cache::Unknown)
      work_ += question_cost_;
    if (here > max_demangled || work_ > max_demangle_work || depth_ == max_print_depth) stopped_ = true;
    if (!stopped_) {
      ++depth_;
      return true;
    }
    if (here > max_demangled) setCurrentPosition(max_demangled); // discard what callers add meanwhile
    return false;
  }

  std::uint64_t question_cost_;
  std::uint64_t work_ = 0;
  std::size_t counted_ = 0; ///< position up to which the text is counted in work_
  unsigned depth_ = 0;
  bool stopped_ = false;
};

} // namespace

Demangled demangle_itanium(std::string_view name) {
  constexpr std::size_t max_hidden_nesting = 96;
  const auto malformed = unexpected(NotDemangled::malformed);
  if (name.size() > max_mangled || hidden_nesting(name) > max_hidden_nesting) return malformed;
  Parser parser(name);
  const Node* const tree = parser.parse();
  if (!tree || parser.ASTAllocator.tree_depth() > max_tree_depth) return malformed;
  return Printer(parser.ASTAllocator.tree_depth()).print(*tree);
}

} // namespace sframe::names
