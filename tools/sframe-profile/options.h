// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of sframe-profile.

#pragma once

#include "recorder.h"

#include "sframe/names/function_names.h"
#include "sframe/tool/app.h"
#include "sframe/tool/debuginfod.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sframe::profile_tool {

struct Options {
  RecordOptions record;
  std::vector<std::string> files; ///< as typed
  std::string file;               ///< a recording of perf; empty: something is recorded
  std::vector<std::string> pids;  ///< as typed
  std::string format;             ///< empty until check(): by the output's name
  bool keep_generated = false;    ///< tables are kept: in record.tables, from check() on
  bool no_names = false;
  bool lines = true; ///< source lines and inlined calls are looked up
  std::optional<names::NameStyle> names;
  files::FileTrust trust = files::FileTrust::all; ///< of files that a recording of perf names
  tool::DebuginfodOptions debuginfod;
};

/// What is before "--", and the command after it.
std::pair<std::span<char* const>, std::vector<std::string>> split_arguments(std::span<char* const> arguments);

/// Declares the options. They are filled in by app.parse().
void add_options(tool::App& app, Options& options);

/// Checks the options together, and chooses the format by the name of the output. What is wrong; nothing if
/// they are valid.
std::optional<std::string> check(tool::App& app, Options& options);

} // namespace sframe::profile_tool
