// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters and local variables of a frame, and their values as text: DWARF 5, sections 2.6 (locations),
// 4.1 (variables), 5 (types) and 3.4 (call sites). The values come from the frame's known registers, its CFA
// and the process's memory; a value that none of these has is never invented.

#pragma once

#include "sframe/modules/debug_info_cache.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/walker.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::variables {

/// Why an object, or a byte of it, has no value.
enum class Missing : std::uint8_t {
  none,
  optimized_out,     ///< the program does not have it any more
  unreadable,        ///< it is in memory that cannot be read
  not_available,     ///< it is in a register that walks do not follow
  synthetic_pointer, ///< a pointer to something that the program does not have any more
  not_supported,     ///< it is described by something that this library cannot interpret
};

/// The name of the reason, as in "<optimized out>" without the brackets; static text.
std::string_view name_of(Missing missing);

struct Variable {
  std::string name;                ///< as the file has it: to be escaped when it is printed
  std::string value;               ///< one line; the reason in angle brackets if the object is missing
  Missing missing = Missing::none; ///< the whole object
};

/// Those of one function, or of one inlined call.
struct Scope {
  std::vector<Variable> arguments; ///< in the order of the declaration
  std::vector<Variable> locals;    ///< of the innermost block first
};

/// What to look up, and the sizes up to which values are shown.
struct Settings {
  bool arguments = false, locals = false;
  bool inlined = false; ///< those of inlined calls, too
  /// Whether the debug information of other modules may be opened, for values that only a caller there has.
  bool other_modules = true;

  std::size_t text = 2000;        ///< bytes of a value
  std::uint32_t elements = 200;   ///< numbers, pointers and strings of a value
  std::uint32_t string = 200;     ///< bytes of a string
  std::uint32_t depth = 6;        ///< of structures and arrays in one another
  std::uint32_t variables = 1000; ///< arguments of a scope, and as many locals
};

class Finder {
public:
  /// `steppers` find the callers of frames: values at a function's entry follow from them. `space` must
  /// outlive the object. Opens nothing yet.
  Finder(modules::ModuleSpace& space, unwind::StepperList steppers,
         std::shared_ptr<modules::DebugInfoCache> cache, const Settings& settings);
  ~Finder();

  /// Call this when the process has run since the last lookup.
  void forget_memory();

  /// The scopes of a frame: with Settings::inlined those of inlined calls, innermost first, as
  /// modules::SourceLocation has them; then the one of the frame's function. Empty if there is no debug
  /// information for it. Each step through debug information is taken from the address space's budget; once
  /// it is used up, nothing more is found.
  std::vector<Scope> find(const unwind::Frame& frame, const unwind::Registers& registers);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace sframe::variables
