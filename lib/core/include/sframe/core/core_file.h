// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a core file (core(5)), plain, compressed (unpack.h) or in a crash report of apport (crash_report.h).
// All core files are opened here.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/base/problem.h"
#include "sframe/core/core.h"
#include "sframe/elf/file.h"
#include "sframe/elf/unpack.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::core {

/// A core with the bytes that it refers to. Movable; pointers into core() stay valid.
class CoreFile {
public:
  /// Opens, decompresses if necessary, and parses. Fails if the file cannot be read, is not a core, or
  /// decompresses to more than `limits` allow (docs/dev/limits.md). Linear in the decompressed size.
  static Result<CoreFile> open(const std::string& path, Limits limits);

  /// The same for the bytes of a file, which must outlive the CoreFile.
  static Result<CoreFile> view(std::span<const std::byte> bytes, Limits limits);

  const Core& core() const { return core_; }

  /// True if the compressed bytes are damaged or end early: the core has the part before that.
  bool damaged() const { return unpacked_.damaged(); }

  /// Bytes, for a Budget. A compressed core counts at most 64 times its compressed size, so that its zeros do
  /// not raise the limits.
  std::uint64_t cost_size() const { return cost_size_; }

private:
  CoreFile(elf::Unpacked unpacked, Core core, std::uint64_t cost_size)
      : unpacked_(std::move(unpacked)), core_(std::move(core)), cost_size_(cost_size) {}

  std::optional<elf::File> file_; ///< nothing after view()
  elf::Unpacked unpacked_;        ///< what core_ reads if file_ is compressed
  Core core_;
  std::uint64_t cost_size_;
};

} // namespace sframe::core

#pragma GCC visibility pop
