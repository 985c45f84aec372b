// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A symbol is split into what the programmer has named and what the compiler appended, then demangled, then
// folded: one pass over the demangled text with a stack of open brackets. If the brackets do not match, the
// text stays as it is. An example:
//
//   demangled       void f<std::map<std::string, int>>(std::string const&) const
//   for people      f<…>(…)
//   in signatures   f<>

#include "sframe/names/function_names.h"

#include "characters.h"
#include "sframe/names/demangle.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace sframe::names {

namespace {

/// GCC's names for the parts of a coroutine (gcc/cp/coroutines.cc); their parameter is the compiler's own.
constexpr std::string_view coroutine_body = "actor", coroutine_end = "destroy";

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_mangled_cxx(std::string_view symbol) {
  return symbol.starts_with("_Z") || symbol.starts_with("__Z");
}

/// A symbol in two parts: what the programmer has named, and what a compiler has appended (GCC:
/// "f.part.0.cold", "f.lto_priv.1"; Clang: "f.llvm.123", "f.__uniq.123").
std::pair<std::string_view, std::string_view> split_suffix(std::string_view symbol) {
  constexpr std::array<std::string_view, 9> words = {"part", "isra", "constprop", "cold",      "lto_priv",
                                                     "warm", "llvm", "__uniq",    "localalias"};
  std::size_t end = symbol.size();
  for (;;) {
    std::size_t dot = symbol.rfind('.', end - 1);
    if (end == 0 || dot == symbol.npos || dot == 0) break;
    std::string_view word = symbol.substr(dot + 1, end - dot - 1);
    if (!word.empty() && std::ranges::all_of(word, is_digit)) {
      const std::size_t number = dot;
      dot = symbol.rfind('.', number - 1);
      if (dot == symbol.npos || dot == 0) break;
      word = symbol.substr(dot + 1, number - dot - 1);
    }
    const bool is_coroutine = (word == coroutine_body || word == coroutine_end) && is_mangled_cxx(symbol);
    if (!is_coroutine && std::ranges::find(words, word) == words.end()) break;
    end = dot;
  }
  return {symbol.substr(0, end), symbol.substr(end)};
}

/// OCaml: "camlStdlib__List__iter_507" is iter of Stdlib.List; "$2b" is a '+' (ocamlopt, asmcomp). Newer
/// compilers write a '.' before the function. The number distinguishes functions of one name.
std::optional<std::string> ocaml_name(std::string_view symbol, bool with_number) {
  constexpr std::string_view prefix = "caml";
  if (!symbol.starts_with(prefix) || symbol.size() == prefix.size()) return std::nullopt;
  const char first = symbol[prefix.size()];
  if (first < 'A' || first > 'Z') return std::nullopt;
  symbol.remove_prefix(prefix.size());
  if (symbol.find("__") == symbol.npos && symbol.find('.') == symbol.npos) return std::nullopt;
  if (const std::size_t at = symbol.rfind('_'); !with_number && at != symbol.npos && at + 1 < symbol.size() &&
                                                std::ranges::all_of(symbol.substr(at + 1), is_digit))
    symbol = symbol.substr(0, at);
  const auto digit = [](char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string name;
  for (std::size_t i = 0; i < symbol.size(); ++i) {
    if (symbol.substr(i).starts_with("__") && i + 2 < symbol.size()) {
      name += '.';
      ++i;
    } else if (symbol[i] == '$' && i + 2 < symbol.size() && digit(symbol[i + 1]) >= 0 &&
               digit(symbol[i + 2]) >= 0) {
      name += static_cast<char>(digit(symbol[i + 1]) * 16 + digit(symbol[i + 2]));
      i += 2;
    } else {
      name += symbol[i];
    }
  }
  return name;
}

struct Folding {
  std::size_t most_arguments;     ///< characters between < and >; longer ones are folded
  std::string_view arguments;     ///< what folded ones become, with < and >
  std::string_view parameters;    ///< what a parameter list that is not empty becomes
  std::string_view no_parameters; ///< what an empty one becomes
};

constexpr Folding for_people = {24, "<…>", "(…)", "()"};
constexpr Folding for_coroutines = {24, "<…>", "", ""};
constexpr Folding for_signatures = {0, "<>", "", ""};

/// Folds a demangled name in one pass. Brackets that do not match leave the name as it is.
class Folder {
public:
  Folder(std::string_view name, const Folding& folding) : name_(name), folding_(folding) {}

  std::string fold(bool has_return_type) {
    while (at_ < name_.size())
      if (!step()) return std::string(name_);
    if (!open_.empty()) return std::string(name_);
    if (has_return_type && return_type_) out_.erase(0, return_type_);
    return std::move(out_);
  }

private:
  struct Open {
    char bracket;
    std::size_t at;    ///< in out_
    bool is_arguments; ///< of a template, or parameters
  };

  bool step() {
    if (is_operator()) {
      copy_operator();
      return true;
    }
    const char c = name_[at_];
    const char before = out_.empty() ? '\0' : out_.back();
    switch (c) {
    case '<':
      open_.push_back({'>', out_.size(), is_identifier(before) || before == ':' || after_operator_});
      break;
    case '(':
      open_.push_back({')', out_.size(),
                       is_identifier(before) || before == '>' || before == ']' || before == '}' ||
                           before == ')' || before == '\'' || after_operator_});
      break;
    case '[': open_.push_back({']', out_.size(), name_.substr(at_).starts_with("[abi:")}); break;
    case '{': open_.push_back({'}', out_.size(), false}); break;
    case '>':
      if (before == '-') break; // an arrow
      [[fallthrough]];
    case ')':
    case ']':
    case '}': return close(c);
    case ' ':
      if (open_.empty() && !had_operator_) return_type_ = out_.size() + 1;
      break;
    default: break;
    }
    if (c != ' ') after_operator_ = false;
    out_ += c;
    ++at_;
    return true;
  }

  bool close(char c) {
    if (open_.empty() || open_.back().bracket != c) return false;
    const Open open = open_.back();
    open_.pop_back();
    out_ += c;
    ++at_;
    if (!open.is_arguments) return true;
    const std::size_t size = out_.size() - open.at - 2;
    if (c == ']') {
      out_.resize(open.at); // an ABI tag
    } else if (c == '>' && size > folding_.most_arguments) {
      out_.resize(open.at);
      if (out_.ends_with(' ')) out_.pop_back(); // "operator<< <int>"
      out_ += folding_.arguments;
    } else if (c == ')') {
      out_.resize(open.at);
      out_ += size ? folding_.parameters : folding_.no_parameters;
      skip_qualifiers();
    }
    return true;
  }

  /// " const" of a member function.
  void skip_qualifiers() {
    for (bool found = true; found;) {
      found = false;
      for (const std::string_view word : {" const", " volatile", " &&", " &"}) {
        const std::string_view rest = name_.substr(at_);
        const bool ends = rest.size() == word.size() ||
                          (rest.size() > word.size() &&
                           (rest[word.size()] == ' ' || rest.substr(word.size()).starts_with("::")));
        if (!rest.starts_with(word) || !ends) continue;
        at_ += word.size();
        found = true;
      }
    }
  }

  bool is_operator() const {
    constexpr std::string_view word = "operator";
    const std::string_view rest = name_.substr(at_);
    return rest.starts_with(word) && (at_ == 0 || !is_identifier(name_[at_ - 1])) &&
           (rest.size() == word.size() || !is_identifier(rest[word.size()]));
  }

  void copy_operator() {
    constexpr std::size_t word = 8;
    out_ += name_.substr(at_, word);
    at_ += word;
    if (open_.empty()) had_operator_ = true;
    for (const std::string_view symbol :
         {"<=>", "->*", "<<=", ">>=", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"}) {
      if (!name_.substr(at_).starts_with(symbol)) continue;
      out_ += symbol;
      at_ += symbol.size();
      after_operator_ = true;
      return;
    }
    // The other symbols are no brackets: "operator+=(". Of a conversion the type follows.
    while (at_ < name_.size() && std::string_view("+-*/%^&|~!=,").find(name_[at_]) != std::string_view::npos)
      out_ += name_[at_++], after_operator_ = true;
  }

  std::string_view name_;
  const Folding& folding_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<Open> open_;
  std::size_t return_type_ = 0; ///< its size in out_, with the blank
  bool had_operator_ = false;   ///< a blank may be in the name of an operator
  bool after_operator_ = false; ///< its symbol was copied
};

/// Thunks, tables and guards have blanks in their names, and no return type.
bool may_have_return_type(std::string_view symbol) {
  return symbol.starts_with("_Z") && !symbol.starts_with("_ZT") && !symbol.starts_with("_ZG");
}

std::string fold(std::string_view stem, const Folding& folding, Budget* budget) {
  std::string name = demangle(stem, budget);
  if (name == stem) return name; // not mangled: its characters have no meaning
  return Folder(name, folding).fold(may_have_return_type(stem));
}

/// LLVM numbers the lambdas of a function: 'lambda', 'lambda0'. One more in it would change all later ones.
std::string without_lambda_numbers(std::string name) {
  constexpr std::string_view lambda = "'lambda", plain = "{lambda}";
  for (std::size_t at = 0; (at = name.find(lambda, at)) != name.npos; at += plain.size()) {
    std::size_t end = at + lambda.size();
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end < name.size() && name[end] == '\'') name.replace(at, end + 1 - at, plain);
  }
  return name;
}

/// The suffix of a symbol that is a part of a coroutine.
bool is_of_coroutine(std::string_view symbol, std::string_view suffix) {
  return is_mangled_cxx(symbol) && (suffix.starts_with(std::string(".") + std::string(coroutine_body)) ||
                                    suffix.starts_with(std::string(".") + std::string(coroutine_end)));
}

/// Without the version that the linker appends. Manglings have no '@'.
std::string_view mangled_without_version(std::string_view symbol) {
  return is_mangled_cxx(symbol) || symbol.starts_with("_R") ? symbol.substr(0, symbol.find('@')) : symbol;
}

} // namespace

std::string function_name(std::string_view symbol, NameStyle style, Budget* budget) {
  if (style == NameStyle::raw) return std::string(symbol);
  const auto [stem, suffix] = split_suffix(mangled_without_version(symbol));
  if (auto name = ocaml_name(stem, style == NameStyle::full)) return *name + std::string(suffix);
  if (style == NameStyle::full) return demangle(symbol, budget);
  if (is_of_coroutine(stem, suffix))
    return fold(stem, for_coroutines, budget) + " (" + std::string(suffix) + ')';
  const std::string name = fold(stem, for_people, budget);
  return name == stem ? demangle(symbol, budget) : name + std::string(suffix);
}

bool is_ocaml(std::string_view symbol) {
  return ocaml_name(symbol, true).has_value();
}

std::string shortened_name(std::string_view demangled) {
  return Folder(demangled, for_people).fold(false);
}

std::string signature_name(std::string_view symbol, Budget* budget) {
  constexpr std::string_view glibc_internal = "__GI_"; // its name for calls inside the library
  std::string plain(mangled_without_version(symbol));
  if (plain.find('@') != plain.npos) plain = demangle(plain, budget); // removes the version
  std::string_view stem = split_suffix(plain).first;
  if (stem.starts_with(glibc_internal)) stem.remove_prefix(glibc_internal.size());
  if (auto name = ocaml_name(stem, false)) return std::move(*name);
  return without_lambda_numbers(fold(stem, for_signatures, budget));
}

} // namespace sframe::names
