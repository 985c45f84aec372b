// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/crash/headline.h"

#include "sframe/base/printable.h"
#include "sframe/core/signals.h"

namespace sframe::crash {

namespace {

/// At most `longest` bytes, in whole characters.
std::string start_of(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t size = 0;
  for (TextPiece piece; (piece = first_piece(text.substr(size))).size <= longest - size;) size += piece.size;
  return std::string(text.substr(0, size)) + "...";
}

/// The access without its address: "write to ", "execution of ".
std::string access_text(Fault::Access access) {
  switch (access) {
  case Fault::Access::read: return "read of ";
  case Fault::Access::execute: return "execution of ";
  default: return std::string(name(access)) + " to ";
  }
}

/// A guess such as "a stack overflow".
std::string guess_text(const Fault& fault) {
  std::string_view guess = fault.guess;
  if (guess.starts_with("a null pointer")) {
    const bool is_call = fault.access == Fault::Access::execute;
    return (is_call ? "call" : std::string(name(fault.access))) + " through a null pointer";
  }
  for (const std::string_view article : {"a ", "an "})
    if (guess.starts_with(article)) return std::string(guess.substr(article.size()));
  return std::string(guess);
}

std::string fault_text(const Fault& fault) {
  constexpr std::string_view not_permitted = "not permitted: ", unmapped = "not mapped";
  if (!fault.guess.empty()) return guess_text(fault);
  const std::string_view meaning = fault.meaning;
  if (const std::size_t at = meaning.find(not_permitted); at != meaning.npos) {
    const std::string_view place = meaning.substr(at + not_permitted.size());
    return access_text(fault.access) + std::string(place.substr(0, place.find(" of ")));
  }
  if (fault.address && meaning.ends_with(unmapped)) return access_text(fault.access) + "unmapped memory";
  return std::string(meaning);
}

} // namespace

std::string headline(std::string_view program, std::int32_t signal, const Crash& crash, std::string_view said,
                     std::string_view function) {
  constexpr std::size_t longest = 120;
  constexpr std::string_view by_itself = "SI_TKILL"; // says no more than SIGABRT
  const bool is_handled = crash.first_fault.has_value();
  const Fault& fault = is_handled ? static_cast<const Fault&>(*crash.first_fault) : crash;
  std::string text(program);
  if (signal)
    text += (text.empty() ? "" : ": ") +
            std::string(core::signal_name(is_handled ? crash.first_fault->from.info.signal : signal));
  std::string what(said);
  if (what.empty()) what = crash.message;
  if (what.empty() && fault.code_name != by_itself) what = fault_text(fault);
  if (!what.empty()) text += ", " + start_of(what, longest);
  if (!function.empty()) text += " in " + start_of(function, longest);
  return text;
}

} // namespace sframe::crash
