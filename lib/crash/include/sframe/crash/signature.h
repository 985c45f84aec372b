// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signature of a crash: equal for crashes at the same place, whatever the addresses, so that crashes can
// be grouped. docs/sframe-unwind-reference.md ("The signature") specifies it for other programs.

#pragma once

#include "sframe/modules/symbols.h"
#include "sframe/unwind/walker.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::crash {

struct Signature {
  std::string text;                ///< "3:" and 16 hexadecimal digits; empty if there is none
  std::vector<std::string> frames; ///< that it is made of, innermost first
};

/// Collects the frames of one stack, innermost first.
class SignatureFrames {
public:
  /// Takes a frame. False once more frames would change nothing.
  bool add(const unwind::Frame& frame, const modules::NamedFrame& named, Budget* budget);

  /// The signature of what was added, which is taken: to be called once.
  Signature finish(std::int32_t signal);

private:
  std::vector<std::string> chosen_; ///< that say something
  std::size_t unnamed_ = 0;         ///< how many at the end of chosen_ have no name, and are of this module:
  const modules::Module* unnamed_in_ = nullptr;
  /// If none does: the place in the program's innermost function that calls what it is given, which is
  /// inlined there. At most one.
  std::vector<std::string> start_;
  std::vector<std::string> all_; ///< the first ones, if there is none either
  std::size_t seen_ = 0;
};

/// The signature of a stack from `start` on, by a walk of its own over a limited number of frames. Changes
/// the walker's limit of frames.
Signature signature_of(const unwind::FrameState& start, std::int32_t signal, unwind::Walker& walker,
                       modules::FrameNames& names, Budget* budget);

/// "3:9f3c..." of these frames.
std::string signature_text(std::int32_t signal, std::span<const std::string> frames);

/// True if the module is of the system, not of the program: not the executable, and in a folder for libraries
/// of the Filesystem Hierarchy Standard.
bool is_system_library(const modules::Module& module);

/// True if signatures leave this function out (signature_frames.def).
bool is_silent(std::string_view name);

/// True if it is one of those that start threads and programs, or call what they are given in another way:
/// what they call may be inlined into them.
bool is_starting(std::string_view name);

} // namespace sframe::crash

#pragma GCC visibility pop
