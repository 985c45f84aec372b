// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rust's names.

#include "manglings.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

namespace sframe::names {

namespace {

/// Escapes of Rust's compilers before v0 for characters that symbols cannot have: `$LT$` and so on, and
/// `$u7b$` by number. (rust-lang/rust, rustc_symbol_mangling, legacy.)
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

/// One component of a path. Characters that are not an escape stay.
void append_legacy_part(std::string& out, std::string_view part) {
  if (part.starts_with("_$")) part.remove_prefix(1); // only makes the symbol start like a name
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

/// The last component of Rust's names: `h` and 16 digits.
bool is_legacy_hash(std::string_view part) {
  return part.size() == 17 && part[0] == 'h' &&
         part.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

/// Parses a v0 name as LLVM's demangler does, but only counts what that would print: follows a back-reference
/// each time it would be printed, and stops at the limits.
class RustMeasure {
public:
  explicit RustMeasure(std::string_view name) : text_(name.substr(2, name.find('.') - 2)) {}

  /// Nothing if the name is well-formed and within the limits.
  std::optional<NotDemangled> refuses() {
    path(false);
    if (at_ != text_.size()) { // the crate that instantiated it
      prints_ = false;
      path(false);
    }
    if (!failed_ && at_ == text_.size()) return std::nullopt;
    return work_ > max_demangle_work ? NotDemangled::too_long : NotDemangled::malformed;
  }

private:
  /// Nesting of paths, types and constants. Stack: ElfSymbols.DemanglesOnASmallStack.
  static constexpr unsigned max_depth = 192;

  struct Nested {
    explicit Nested(RustMeasure& measure) : measure(measure) {
      measure.cost(8);
      if (++measure.depth_ > max_depth) measure.failed_ = true;
    }
    ~Nested() { --measure.depth_; }
    RustMeasure& measure;
  };

  /// No single printed text is longer than this: " as ", "*const ", a number of 64 bits.
  void cost(std::uint64_t steps) {
    work_ += steps;
    if (work_ > max_demangle_work) failed_ = true;
  }
  void print(std::uint64_t bytes) {
    if (prints_ && !failed_) cost(bytes);
  }

  char look() const { return failed_ || at_ == text_.size() ? '\0' : text_[at_]; }
  char take() {
    if (failed_ || at_ == text_.size()) {
      failed_ = true;
      return '\0';
    }
    return text_[at_++];
  }
  bool take_if(char c) {
    if (look() != c || c == '\0') return false;
    ++at_;
    return true;
  }

  /// A number beyond 64 bits makes the name invalid.
  std::uint64_t base_62() {
    if (take_if('_')) return 0;
    std::uint64_t value = 0;
    while (!failed_ && !take_if('_')) {
      const char c = take();
      std::uint64_t digit = 0;
      if (c >= '0' && c <= '9')
        digit = static_cast<std::uint64_t>(c - '0');
      else if (c >= 'a' && c <= 'z')
        digit = static_cast<std::uint64_t>(c - 'a') + 10;
      else if (c >= 'A' && c <= 'Z')
        digit = static_cast<std::uint64_t>(c - 'A') + 36;
      else
        failed_ = true;
      if (__builtin_mul_overflow(value, 62, &value) || __builtin_add_overflow(value, digit, &value))
        failed_ = true;
    }
    if (__builtin_add_overflow(value, 1, &value)) failed_ = true;
    return value;
  }
  std::uint64_t tagged_base_62(char tag) {
    if (!take_if(tag)) return 0;
    const std::uint64_t value = base_62();
    if (value == UINT64_MAX) failed_ = true;
    return value + 1;
  }

  void identifier() {
    const bool punycode = take_if('u');
    if (look() < '0' || look() > '9') failed_ = true;
    std::uint64_t size = 0;
    if (!take_if('0'))
      while (!failed_ && look() >= '0' && look() <= '9') {
        size = size * 10 + static_cast<std::uint64_t>(take() - '0');
        if (size > max_mangled) failed_ = true;
      }
    take_if('_');
    if (failed_ || size > text_.size() - at_) {
      failed_ = true;
      return;
    }
    at_ += size;
    print(size);
    // Each character is inserted among four bytes for each of the others.
    if (punycode) print(4 * size + size * size / 32);
  }

  template <class F> void back_reference(F follow) {
    const std::uint64_t target = base_62();
    if (failed_ || target >= at_) {
      failed_ = true;
      return;
    }
    if (!prints_) return;
    const std::size_t here = std::exchange(at_, static_cast<std::size_t>(target));
    follow();
    at_ = here;
  }

  void path(bool in_type) {
    const Nested nested(*this);
    print(16);
    switch (take()) {
    case 'C':
      tagged_base_62('s');
      identifier();
      break;
    case 'M':
      implementation(in_type);
      type();
      break;
    case 'X': implementation(in_type); [[fallthrough]];
    case 'Y':
      type();
      path(true);
      break;
    case 'N':
      take();
      path(in_type);
      tagged_base_62('s');
      identifier();
      print(32); // of a closure: braces and a number
      break;
    case 'I':
      path(in_type);
      while (!failed_ && !take_if('E')) {
        print(2);
        generic_argument();
      }
      break;
    case 'B': back_reference([&] { path(in_type); }); break;
    default: failed_ = true; break;
    }
  }

  void implementation(bool in_type) {
    const bool printed = std::exchange(prints_, false);
    tagged_base_62('s');
    path(in_type);
    prints_ = printed;
  }

  void generic_argument() {
    if (take_if('L')) {
      base_62();
      print(24);
    } else if (take_if('K')) {
      constant();
    } else {
      type();
    }
  }

  static bool is_basic(char c) {
    return std::string_view("abcdefhijlmnopstuvxyz").find(c) != std::string_view::npos;
  }

  void type() {
    const Nested nested(*this);
    print(8);
    const char c = look();
    if (is_basic(c)) return static_cast<void>(take());
    if (std::string_view("ASTRQPOFDB").find(c) == std::string_view::npos || failed_) return path(true);
    take();
    switch (c) {
    case 'A':
      type();
      constant();
      break;
    case 'T':
      while (!failed_ && !take_if('E')) {
        print(2);
        type();
      }
      break;
    case 'R':
    case 'Q':
      lifetime();
      type();
      break;
    case 'F': signature(); break;
    case 'D':
      bounds();
      if (look() != 'L') failed_ = true;
      lifetime();
      break;
    case 'B': back_reference([&] { type(); }); break;
    default: type(); break; // S, P, O
    }
  }

  void lifetime() {
    if (!take_if('L')) return;
    base_62();
    print(24);
  }

  /// Bound lifetimes stay in scope up to the end of a signature or of bounds; LLVM's demangler limits their
  /// number by the name's size.
  void binder() {
    const std::uint64_t count = tagged_base_62('G');
    if (count >= text_.size() + 1) failed_ = true;
    if (!failed_ && count != 0) print(6 + 8 * count);
  }

  void signature() {
    binder();
    take_if('U');
    if (take_if('K') && !take_if('C')) identifier();
    print(32);
    while (!failed_ && !take_if('E')) {
      print(2);
      type();
    }
    if (!take_if('u')) type();
  }

  void bounds() {
    binder();
    while (!failed_ && !take_if('E')) {
      print(4);
      path(true);
      while (!failed_ && take_if('p')) {
        print(8);
        identifier();
        type();
      }
    }
  }

  void constant() {
    const Nested nested(*this);
    const char c = take();
    if (c == 'B') return back_reference([&] { constant(); });
    if (!is_basic(c)) failed_ = true;
    if (c == 'p') return;
    take_if('n');
    const std::size_t begin = at_;
    while (!failed_ && !take_if('_')) take();
    print(24 + at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t work_ = 0;
  unsigned depth_ = 0;
  bool prints_ = true;
  bool failed_ = false;
};

} // namespace

Demangled demangle_rust(std::string_view name) {
  if (name.size() > max_mangled) return unexpected(NotDemangled::too_long);
  if (const auto why_not = RustMeasure(name).refuses()) return unexpected(*why_not);
  const std::unique_ptr<char, decltype(&std::free)> text(llvm::rustDemangle(name), &std::free);
  if (!text) return unexpected(NotDemangled::malformed);
  return std::string(text.get());
}

/// Rust's legacy mangling: that of C++'s nested names, with a hash at the end. The hash distinguishes items
/// of the same name, and is left out, as in rustfilt; so is the suffix that LLVM adds to items moved from one
/// object to another. Nothing if the name has no such form.
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

} // namespace sframe::names
