// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions and source lines of a recording's locations, looked up afterwards: each file is opened once,
// each location looked up once.
//
//   const Names names = look_up_names(recording, {.files = options});
//   for (const Line& line : names.of(location)) ... names.functions[line.function].name ...

#pragma once

#include "sframe/files/options.h"
#include "sframe/names/function_names.h"
#include "sframe/profile/recording.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sframe::profile {

struct Function {
  std::string name;      ///< for people, any bytes; "[libc.so.6]", "[unknown]" if there is none
  std::string symbol;    ///< as in the symbol table; may be empty
  std::string file;      ///< with its source; may be empty
  bool is_named = false; ///< `name` is one
  bool is_kernel = false;

  friend bool operator==(const Function&, const Function&) = default;
};

/// A function at a location, or one that the compiler inlined there.
struct Line {
  std::uint32_t function = none; ///< in Names::functions
  std::uint32_t line = 0;        ///< in its source file; 0: not known
};

struct NamedLocation {
  std::uint32_t first = 0, count = 0; ///< in Names::lines
  std::uint64_t offset = 0;           ///< from the start of the function; 0 if that has no name
};

struct NamedFile {
  std::vector<std::byte> build_id; ///< the recording's, else the file's; may be empty
  bool has_names = false;          ///< some location in it has a name
  bool has_lines = false;
  std::uint32_t unnamed = 0; ///< locations without a name
  std::string problem;       ///< why names are missing, for people; may be empty
};

struct Names {
  std::vector<Function> functions;
  std::vector<Line> lines;
  std::vector<NamedLocation> locations; ///< one for each of the recording
  std::vector<NamedFile> files;         ///< the same

  /// Inlined functions, innermost first, then the function; at least one.
  std::span<const Line> of(std::uint32_t location) const {
    const NamedLocation& named = locations[location];
    return std::span(lines).subspan(named.first, named.count);
  }
};

struct NameSettings {
  files::FileOptions files;
  names::NameStyle style = names::NameStyle::shortened;
  bool names = true; ///< false: only those that the recording has
  bool lines = true; ///< source lines, and inlined functions
  /// The recording is of this machine, and was made now: files of its processes are opened as these have
  /// them, and the kernel's symbols are those of this one; a file without a build ID must have the identity
  /// that was recorded. Otherwise both must have the right build ID.
  bool is_own = false;
  /// Of a recording that is not: files without a build ID in the recording are used, too.
  bool trusts_paths = false;
};

/// Linear in locations and in the files that they are in. The budget in `settings.files` pays for files,
/// names and debug information; what it does not suffice for has no name.
Names look_up_names(const Recording& recording, const NameSettings& settings);

/// The name of a file without its folders; "unknown" for `none` and for a file without a path.
std::string file_name(const Recording& recording, std::uint32_t file);

} // namespace sframe::profile
