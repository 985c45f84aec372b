// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what a program has executed of its files, one entry per instruction, however often it was
// executed; and the faults of their rows. Limits: docs/dev/limits.md.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/number_hash.h"
#include "sframe/run/run.h"
#include "sframe/run/shadow_stack.h"
#include "sframe/unwind/row_step.h"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sframe::run {

/// An instruction.
struct Decoded {
  code::Instruction instruction; ///< addresses as in the file
  std::vector<code::Effect> effects;
  std::optional<verify::RowTable::Match> row;
  std::array<std::byte, 64> bytes{}; ///< from its address on
  std::uint8_t num_bytes = 0;
  bool ends_trampoline = false; ///< a system call that has its number, by which signal handlers end
};

/// Instructions that were decoded, by address. Those that are in use stay; the others are dropped when there
/// are too many.
class DecodedCode {
public:
  static constexpr std::size_t most = std::size_t{1} << 16;

  /// Null if it has to be decoded.
  std::shared_ptr<const Decoded> find(std::uint64_t address) const {
    const auto found = code_.find(address);
    return found == code_.end() ? nullptr : found->second;
  }
  void add(std::uint64_t address, std::shared_ptr<const Decoded> decoded) {
    if (code_.size() == most) code_.clear();
    code_[address] = std::move(decoded);
  }

private:
  std::unordered_map<std::uint64_t, std::shared_ptr<const Decoded>, NumberHash> code_;
};

/// What may still be kept of all files together.
struct Room {
  explicit Room(Limits limits);

  std::uint64_t instructions, faults, files;
  // What was left out.
  std::uint64_t steps_lost = 0, faults_lost = 0, files_lost = 0;

  /// What was left out, as text; nothing if all was kept.
  std::optional<Problem> problem() const;

private:
  std::uint64_t most_instructions_, most_faults_, most_files_;
};

/// The instructions of one file that were executed.
class FileRecorder {
public:
  explicit FileRecorder(Room& room) : room_(room) {}

  struct Seen {
    std::uint64_t visits = 0, compared = 0;
    std::uint8_t length = 0;
    bool has_row = false;
  };

  /// Counts a visit. Null if there is no room for another instruction; that was counted.
  Seen* visit(std::uint64_t address, const Decoded& decoded);
  /// Counts a fault at its address.
  void add(const verify::RunMismatch& fault);

  /// Everything, sorted. Afterwards there is nothing left.
  verify::RunRecord take();

private:
  Room& room_;
  std::unordered_map<std::uint64_t, Seen, NumberHash> seen_; ///< by address in the file
  std::map<std::pair<std::uint64_t, verify::RunFault>, verify::RunMismatch> faults_;
};

/// A fault of the FP rule that counts only if the frame is not left at once: code that jumps to another frame
/// (longjmp) loads that one's FP before its SP.
struct HeldFault {
  FileRecorder& file;
  FileRecorder::Seen& seen;
  verify::RunMismatch fault;
};

/// What a comparison finds.
struct Comparison {
  Unknown unknown = Unknown::none; ///< not none: it is not known what is right
  std::vector<verify::RunMismatch> faults;
};

/// Compares what a row leads to with the caller, which is nullptr before the first call.
Comparison compare(const verify::RowTable::Match& row, const AbiTraits& abi,
                   const unwind::Registers& registers, unwind::Memory& memory, const Call* caller);

} // namespace sframe::run
