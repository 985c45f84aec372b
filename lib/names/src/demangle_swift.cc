// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Swift's mangling since 4.2 (swift/docs/ABI/Mangling.rst: "Declaration Contexts", "Identifiers",
// "Entities"). A symbol has the entity's context from the outside in, its name, labels, types, and operators
// after all of them. Only the context and the name are read: "main.Point.scaled", without parameters. They
// suffice to find a function, and need no types. What the operators make of the entity is read from the
// symbol's end. A name with anything else before the entity's name stays as it is.

#include "characters.h"
#include "manglings.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sframe::names {

namespace {

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

/// "S" and a letter: types of the standard library ("Known types").
struct KnownType {
  char letter;
  std::string_view name;
};
constexpr KnownType known_types[] = {
    {'a', "Array"},
    {'b', "Bool"},
    {'D', "Dictionary"},
    {'d', "Double"},
    {'f', "Float"},
    {'h', "Set"},
    {'i', "Int"},
    {'J', "Character"},
    {'N', "ClosedRange"},
    {'n', "Range"},
    {'O', "ObjectIdentifier"},
    {'P', "UnsafePointer"},
    {'p', "UnsafeMutablePointer"},
    {'q', "Optional"},
    {'R', "UnsafeBufferPointer"},
    {'r', "UnsafeMutableBufferPointer"},
    {'S', "String"},
    {'s', "Substring"},
    {'u', "UInt"},
    {'V', "UnsafeRawPointer"},
    {'v', "UnsafeMutableRawPointer"},
    {'W', "UnsafeRawBufferPointer"},
    {'w', "UnsafeMutableRawBufferPointer"},
};

/// The last operators of a symbol, and what they are called.
struct Ending {
  std::string_view operators, before, after; ///< texts before and after the entity's name
  bool names_entity;                         ///< false: the entity has no name of its own
};
constexpr Ending endings[] = {
    {"F", "", "", true},
    {"FZ", "static ", "", true},
    {"vg", "", ".getter", true},
    {"vgZ", "static ", ".getter", true},
    {"vs", "", ".setter", true},
    {"vsZ", "static ", ".setter", true},
    {"vM", "", ".modify", true},
    {"vr", "", ".read", true},
    {"vw", "", ".willset", true},
    {"vW", "", ".didset", true},
    {"fC", "", ".__allocating_init", false},
    {"fc", "", ".init", false},
    {"fD", "", ".__deallocating_deinit", false},
    {"fd", "", ".deinit", false},
};

class SwiftReader {
public:
  explicit SwiftReader(std::string_view text) : rest_(text) {}

  std::optional<std::string> read() {
    std::string before = thunks();
    before += closures();
    const Ending* const ending = find_ending();
    // The generic signature of an extension cannot be told from the entity's name and types.
    if (!ending || rest_.find("lE") != rest_.npos || !context()) return std::nullopt;
    if (ending->names_entity) {
      if (!identifier()) return std::nullopt;
    } else if (path_.size() < 2) {
      return std::nullopt; // a module has no initializer
    }
    before += ending->before;
    for (const std::string& part : path_) before += (&part == path_.data() ? "" : ".") + part;
    const bool is_plain_init = ending->operators == "fC" && kind_ != 'C';
    return before += is_plain_init ? ".init" : ending->after;
  }

private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool take_end(std::string_view text) {
    if (!rest_.ends_with(text)) return false;
    rest_.remove_suffix(text.size());
    return true;
  }

  /// What the compiler made around a function: parts of it, and others that call it.
  std::string thunks() {
    std::string text;
    for (unsigned tries = 4; tries > 0; --tries) {
      if (take_end("TA")) {
        text += "partial apply for ";
      } else if (take_end("Tm")) {
        text += "merged ";
      } else if (take_end("Tg5") || take_end("TG5") || take_end_from("Tf")) {
        text += "specialized ";
        end_at_function(rest_.size()); // the types for which it was specialized are after it
      } else if (const std::size_t part = async_part()) {
        rest_.remove_suffix(part);
        text += "async part of ";
      } else {
        break;
      }
    }
    return text;
  }

  /// Takes the last `start` and all after it, if that is a pass's digit and what it did to the arguments.
  bool take_end_from(std::string_view start) {
    const std::size_t at = rest_.rfind(start);
    if (at == rest_.npos) return false;
    const std::string_view rest = rest_.substr(at + start.size());
    const auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '_'; };
    if (rest.size() < 2 || !is_digit(rest.front()) || !std::ranges::all_of(rest, fits)) return false;
    rest_ = rest_.substr(0, at);
    return true;
  }

  /// Cuts what follows the last operator of a function before `end`.
  void end_at_function(std::size_t end) {
    const std::size_t function = rest_.rfind('F', end);
    rest_ = function == rest_.npos ? std::string_view() : rest_.substr(0, function + 1);
  }

  /// "TY0_" or "TQ1_": the size of that at the end, else 0.
  std::size_t async_part() const {
    if (!rest_.ends_with('_')) return 0;
    std::size_t at = rest_.size() - 1;
    while (at > 0 && is_digit(rest_[at - 1])) --at;
    const bool is_part = at >= 2 && rest_[at - 2] == 'T' && (rest_[at - 1] == 'Y' || rest_[at - 1] == 'Q');
    return is_part ? rest_.size() - at + 2 : 0;
  }

  /// "fU_" is the first closure in a function, "fU0_" the second; their types precede them.
  std::string closures() {
    std::string text;
    if (!rest_.ends_with('_')) return text;
    std::size_t at = rest_.size() - 1;
    while (at > 0 && is_digit(rest_[at - 1])) --at;
    constexpr std::size_t most_digits = 6;
    const std::size_t digits = rest_.size() - 1 - at;
    const bool is_closure = at >= 2 && rest_[at - 2] == 'f' && (rest_[at - 1] == 'U' || rest_[at - 1] == 'u');
    if (!is_closure || digits > most_digits) return text;
    std::size_t number = 1;
    if (digits) number = static_cast<std::size_t>(std::stoul(std::string(rest_.substr(at, digits)))) + 2;
    text = rest_[at - 1] == 'u' ? "implicit closure #" : "closure #";
    text += std::to_string(number) + " in ";
    const std::string_view all = rest_.substr(0, at - 2);
    end_at_function(at - 2);
    if (all.substr(rest_.size()).find("fU") != all.npos) rest_ = {}; // a closure in a closure
    return text;
  }

  const Ending* find_ending() {
    const Ending* longest = nullptr;
    for (const Ending& ending : endings)
      if (rest_.ends_with(ending.operators) &&
          (!longest || ending.operators.size() > longest->operators.size()))
        longest = &ending;
    if (longest) rest_.remove_suffix(longest->operators.size());
    return longest;
  }

  /// The module and the types around the entity.
  bool context() {
    if (take("s")) {
      path_.emplace_back("Swift");
    } else if (take("So")) {
      path_.emplace_back("__C");
    } else if (rest_.starts_with('S') && rest_.size() > 1) {
      const auto known = std::ranges::find(known_types, rest_[1], &KnownType::letter);
      if (known == std::end(known_types)) return false;
      rest_.remove_prefix(2);
      path_ = {"Swift", std::string(known->name)};
      extension();
    } else if (!identifier()) {
      return false;
    }
    while (nominal_type()) extension();
    return true;
  }

  /// An identifier that is a type's name: "C" class, "V" structure, "O" enumeration, "P" protocol.
  bool nominal_type() {
    const auto rest = rest_;
    const auto words = words_;
    const std::size_t size = path_.size();
    if (identifier() && !rest_.empty() &&
        std::string_view("CVOP").find(rest_.front()) != std::string_view::npos) {
      kind_ = rest_.front();
      rest_.remove_prefix(1);
      return true;
    }
    rest_ = rest, words_ = words;
    path_.resize(size);
    return false;
  }

  /// The module that extends the type, which says nothing of the function; only without requirements.
  void extension() {
    const auto rest = rest_;
    const auto words = words_;
    const std::size_t size = path_.size();
    const bool is_extension = (take("s") || take("AA") || identifier()) && take("E");
    path_.resize(size);
    if (!is_extension) rest_ = rest, words_ = words;
  }

  /// Appends the next identifier. "0" precedes one that contains words of earlier ones: a letter is such a
  /// word, the last of which is in upper case; then a length and as many characters, "0" or nothing at the
  /// end.
  bool identifier() {
    constexpr std::size_t most_parts = 64; // words can make each part long
    if (rest_.empty() || !is_digit(rest_.front()) || path_.size() >= most_parts) return false;
    const bool has_words = take("0");
    if (has_words && rest_.starts_with('0')) return false; // Punycode
    std::string text;
    bool words_follow = has_words;
    do {
      while (words_follow && !rest_.empty() && (is_lower(rest_.front()) || is_upper(rest_.front()))) {
        const char letter = rest_.front();
        words_follow = is_lower(letter);
        const auto index = static_cast<std::size_t>(letter - (words_follow ? 'a' : 'A'));
        if (index >= words_.size() || text.size() > max_mangled) return false;
        text += words_[index];
        rest_.remove_prefix(1);
      }
      if (has_words && take("0")) break;
      std::size_t length = 0;
      while (!rest_.empty() && is_digit(rest_.front()) && length <= max_mangled) {
        length = length * 10 + static_cast<std::size_t>(rest_.front() - '0');
        rest_.remove_prefix(1);
      }
      if (length == 0 || length > rest_.size()) return false;
      add_words(rest_.substr(0, length));
      text += rest_.substr(0, length);
      rest_.remove_prefix(length);
    } while (words_follow);
    if (text.size() > max_mangled || std::ranges::any_of(text, [](char c) { return c <= ' ' || c == 0x7f; }))
      return false;
    if (is_operator()) std::ranges::transform(text, text.begin(), operator_character);
    const std::size_t after = private_discriminator();
    rest_.remove_prefix(after);
    path_.push_back(std::move(text));
    return true;
  }

  /// "oi", "op" or "oP" after an identifier: the operator's characters are letters of it.
  bool is_operator() { return take("oi") || take("op") || take("oP"); }
  static char operator_character(char c) {
    constexpr std::string_view characters = "& @/= >    <*!|+?%-~   ^ .";
    return is_lower(c) ? characters[static_cast<std::size_t>(c - 'a')] : c;
  }

  /// "33_" with 32 hexadecimal digits and "LL": an entity that is private to a file.
  std::size_t private_discriminator() const {
    constexpr std::string_view start = "33_";
    constexpr std::size_t digits = 32, size = start.size() + digits + 2;
    return rest_.size() >= size && rest_.starts_with(start) && rest_.substr(size - 2, 2) == "LL" ? size : 0;
  }

  /// Words of an identifier start at its start, after '_' and at each capital letter after another one.
  void add_words(std::string_view text) {
    constexpr std::size_t most_words = 26;
    std::size_t start = text.npos;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const char c = i < text.size() ? text[i] : '\0';
      const bool starts = c != '\0' && c != '_' && !is_digit(c);
      const bool ends =
          c == '\0' || c == '_' || (start != text.npos && i > start && is_upper(c) && !is_upper(text[i - 1]));
      if (start != text.npos && ends) {
        if (i - start >= 2 && words_.size() < most_words) words_.emplace_back(text.substr(start, i - start));
        start = text.npos;
      }
      if (start == text.npos && starts) start = i;
    }
  }

  std::string_view rest_;
  std::vector<std::string> path_;
  std::vector<std::string> words_;
  char kind_ = '\0'; ///< of the innermost type
};

} // namespace

bool is_mangled_swift(std::string_view name) {
  return name.starts_with("$s") || name.starts_with("$S");
}

Demangled demangle_swift(std::string_view name) {
  auto text = SwiftReader(name.substr(2)).read();
  if (!text) return unexpected(NotDemangled::malformed);
  return std::move(*text);
}

} // namespace sframe::names
