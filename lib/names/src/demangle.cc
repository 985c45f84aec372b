// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Demangles names: determines the mangling of a name.

#include "manglings.h"

#include "sframe/base/budget.h"
#include "sframe/names/demangle.h"

#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace sframe::names {

namespace {

/// LLVM's demangler does not parse nested D names (https://dlang.org/spec/abi.html): each back-reference
/// prints one identifier, or leads to another back-reference. No other cost occurs.
Demangled demangle_d(std::string_view name) {
  constexpr unsigned max_back_references = 24;
  if (std::ranges::count(name, 'Q') > max_back_references) return unexpected(NotDemangled::too_long);
  const std::unique_ptr<char, decltype(&std::free)> text(llvm::dlangDemangle(name), &std::free);
  if (!text) return unexpected(NotDemangled::malformed);
  return std::string(text.get());
}

/// The name without the version appended by linkers: "name@VERSION", "name@@VERSION".
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

Demangled demangle_any(std::string_view name) {
  if (is_mangled_swift(name)) return demangle_swift(name);
  if (auto rust = demangle_legacy_rust(name)) return std::move(*rust);
  Demangled text = unexpected(NotDemangled::malformed);
  // On some systems all symbols have an extra leading underscore.
  for (const std::string_view candidate : {name, name.substr(1)}) {
    if (candidate.starts_with("_Z") || candidate.starts_with("___Z"))
      text = demangle_itanium(candidate);
    else if (candidate.starts_with("_R"))
      text = demangle_rust(candidate);
    else if (candidate.starts_with("_D"))
      text = demangle_d(candidate);
    if (text) break;
  }
  if (text && text->size() > max_demangled) return unexpected(NotDemangled::too_long);
  return text;
}

} // namespace

std::string demangle(std::string_view name, Budget* budget) {
  constexpr std::string_view stub = "@plt"; // of the function with the name before it
  if (name.ends_with(stub) && name.size() > stub.size()) {
    name.remove_suffix(stub.size());
    return demangle(name, budget) + std::string(stub);
  }
  name = without_version(name);
  if ((!name.starts_with('_') && !is_mangled_swift(name)) || name.size() > max_mangled)
    return std::string(name);
  if (budget && !budget->take(Resource::name_bytes, name.size())) return std::string(name);
  Demangled text = demangle_any(name);
  const std::size_t cost = text ? text->size() : text.error() == NotDemangled::too_long ? max_demangled : 0;
  const bool paid = !budget || budget->take(Resource::name_bytes, cost);
  return text && paid ? std::move(*text) : std::string(name);
}

} // namespace sframe::names
