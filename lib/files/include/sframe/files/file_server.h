// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where files come from that this machine does not have: an interface for programs, implemented for example
// over debuginfod (the debuginfod(8) web interface). Its users ask it for what they need when they need it,
// and use a file only if it has the build ID that they asked for.

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::files {

enum class ServedFile : std::uint8_t {
  executable, ///< the program or library itself
  debug_file, ///< its separate debug file, or dwz's alternate one
  source,     ///< a source file of it; `name` is the path in its debug information
  section     ///< the bytes of one of its sections; `name` is the section's name
};

class FileServer {
public:
  virtual ~FileServer() = default;

  /// The path of a local copy; it stays as it is while the server exists. Fails if there is none, or none
  /// could be got. May take as long as the implementation permits; it should remember failures, since several
  /// modules ask for the same file. If several threads walk processes with it, it must be thread-safe.
  virtual Result<std::string> fetch(ServedFile what, std::span<const std::byte> build_id,
                                    std::string_view name = {}) = 0;
};

} // namespace sframe::files

#pragma GCC visibility pop
