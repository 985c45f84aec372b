// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of sframe-unwind.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/tool/app.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sframe::unwind_tool {

struct Options {
  std::string core;
  std::string named_core; ///< of --core; settle() makes it `core`
  modules::FileOptions files;
  std::optional<std::uint32_t> thread;
  std::uint32_t max_frames = unwind::Walker::default_max_frames;
  std::string steppers;
  bool list_steppers = false;
  bool no_names = false;
  bool registers = false;
  std::string format = "text";

  bool source = false;
  bool compare = false;
  bool group = false;
  bool keep_generated = false;
  bool no_files = false;
  bool offline = false; ///< always so

  std::uint32_t pid = 0;       ///< of a live process, instead of a core; 0: none
  std::uint32_t interval = 10; ///< between samples, in milliseconds
  std::uint32_t count = 1;     ///< samples
};

/// Declares the options. They are filled in by app.parse().
void add_options(tool::App& app, Options& options);

struct Wrong {
  std::string file; ///< may be empty
  std::string what;
};

/// Finds out which file is the core: CORE EXECUTABLE, EXECUTABLE CORE, and EXECUTABLE --core CORE mean the same.
std::optional<Wrong> settle(Options& options);

/// What may be opened: with --sysroot, what is in it and what the options name; else all that the core names.
tool::SandboxNeeds sandbox_needs(const Options& options);

/// What is wrong with the options taken together, or with what they name, or nothing.
std::optional<Wrong> check(const Options& options);

} // namespace sframe::unwind_tool
