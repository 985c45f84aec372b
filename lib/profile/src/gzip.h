// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "sframe/profile/folded.h"

#include <memory>
#include <string_view>

namespace sframe::profile {

/// Compresses what passes through it. Without zlib, everything passes as it is: readers of pprof's format
/// take both.
class Gzip {
public:
  explicit Gzip(const Sink& to);
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  void write(std::string_view text);
  /// Writes the end. Nothing may be written afterwards.
  void finish();

private:
  struct Stream;
  void pump(std::string_view text, bool is_last);

  const Sink& to_;
  std::unique_ptr<Stream> stream_;
};

} // namespace sframe::profile
