// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports addresses for which only one side has rules. Code that an FDE of the CFI describes and SFrame does
// not is a warning only if this version of SFrame can represent it; sframe/builder.h decides that.

#pragma once

#include "compare_rows.h"
#include "merge.h"
#include "sframe/builder.h"
#include "sframe/generate/optimize.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::verify {

/// CFI without SFrame: C107, C108, C110. Receives each interval of CFI, by address.
class MissingSframe {
public:
  MissingSframe(const Input& input, VersionNumber version, const AbiTraits& abi, const UsableRows& usable,
                Sink& sink);

  void covered(const CfiInterval& cfi);
  void missing(const CfiInterval& cfi, std::uint64_t begin, std::uint64_t end);
  /// Call after all CFI.
  void finish();

private:
  struct Entry {
    std::uint64_t begin, end;
    CfiRule rule;
  };
  struct Obstacle {
    std::uint64_t at;
    std::string why;
  };

  void select(const CfiInterval& cfi);
  void report_function(std::span<const Entry> run);
  void report_part(std::span<const Entry> run);
  void report(Id id, std::span<const Entry> run, std::uint64_t shown, std::string message);
  bool representable(const Entry& entry) const;
  bool is_padding(std::span<const Entry> run);
  std::optional<Obstacle> obstacle(std::span<const Entry> run);
  std::optional<Obstacle> refusal(const Fde& fde, std::span<const FrameRow> rows, std::uint64_t begin);
  std::optional<Obstacle> plt_refusal(const Entry& entry);

  const Input& input_;
  BuildOptions options_;
  const AbiTraits& abi_;
  Sink& sink_;
  /// In a file whose functions share FDEs (sframe/shrink/image.h): these cover the padding between them.
  std::optional<generate::JoinCheck> padding_;
  Builder builder_; ///< tests whether a function can be represented; its section is never made
  // The current FDE.
  bool is_open_ = false;
  std::uint32_t source_ = 0;
  std::uint64_t fde_offset_ = 0;
  bool signal_frame_ = false;
  bool covered_ = false;
  std::vector<Entry> entries_;
  std::vector<FrameRow> rows_;
};

/// SFrame without CFI: C109, C110. Receives each interval of one function, by address.
class MissingCfi {
public:
  MissingCfi(const Input& input, Sink& sink) : input_(input), sink_(sink) {}

  void missing(std::uint64_t begin, std::uint64_t end);
  /// Call at the function's end. `any_cfi`: some of its addresses had CFI.
  void finish(bool any_cfi);

private:
  const Input& input_;
  Sink& sink_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs_; ///< begin and end
};

} // namespace sframe::verify
