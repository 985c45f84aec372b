// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drives a Dumper over objects: splits concatenated sections, selects the requested functions, and reports
// damage. Keeps the exit code.

#pragma once

#include "dumper.h"

#include <sframe/base/budget.h>
#include <sframe/tool/input_files.h>
#include <sframe/tool/messages.h>
#include <sframe/tool/output.h>
#include <sframe/tool/progress.h>
#include <sframe/tool/text.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::dump {

/// Which functions are shown.
struct Filter {
  bool header_only = false;
  std::vector<tool::Glob> names; ///< a function is shown if any matches; empty = all
  std::optional<AddressRange> addresses;

  bool all_functions() const { return names.empty() && !addresses; }
};

class Driver {
public:
  Driver(Dumper& dumper, Names& names, tool::Messages& messages, tool::Output& out, Filter filter)
      : dumper_(dumper), names_(names), messages_(messages), out_(out), filter_(std::move(filter)) {}

  Dumper& dumper() { return dumper_; }
  tool::Messages& messages() { return messages_; }

  /// Shows the object. Faults are reported and affect the exit code; they never end the program.
  void show(const Object& object);

  /// Reports an error and raises the exit code to at least `code`.
  void report(std::string_view file, const Problem& problem, int code);

  /// The same for an unreadable file or archive member, which is listed in the output too.
  void unreadable(const std::string& name, const Problem& problem, int code);

  /// Counts a file of a tree that has nothing to show.
  void count_skipped() { ++skipped_; }
  std::uint64_t skipped() const { return skipped_; }
  /// The files among them that could have a section.
  tool::MissingSections& missing() { return missing_; }

  /// Lists in the output a file that was truncated while it was read; this has been reported already.
  void cut(const std::string& name);

  /// Call after the last object: ends the output, and reports an error if nothing was shown: `section` is the
  /// name of what was looked for, and `may_be_none` permits that no file has it. Returns the exit code.
  int finish(const std::string& section, bool may_be_none);

  /// Rows and output of the following input are charged to this budget; nullptr: no input. If the budget of
  /// the previous input was used up, reports that.
  void set_budget(Budget* budget, const std::string& path = {});

  /// The functions of the following objects count as `bytes` of this item; nullptr: nothing is counted.
  void set_progress(tool::Progress::Item* item, double bytes) {
    progress_ = item;
    progress_bytes_ = bytes;
  }
  /// The same for an object that is only this part of the input.
  void set_progress_bytes(std::size_t bytes) { progress_bytes_ = static_cast<double>(bytes); }

  /// True if the input's budget of rows or output is used up, or if the reader closed the output: stop
  /// printing.
  bool stopped() const {
    return out_.failed() ||
           (budget_ && (budget_->is_used_up(Resource::rows) || budget_->is_used_up(Resource::printed_bytes)));
  }

private:
  void show_section(const Object& object, const ObjectSection& section);
  bool show_part(const Object& object, const ObjectSection& section, const Part& part,
                 const Problem* damage = nullptr);
  std::optional<Problem> show_functions(const ObjectSection& section, const Part& part);
  bool wanted(const EncodedFde& fde, const FunctionLocation& location);
  std::string no_match() const;
  void charge_output();

  Dumper& dumper_;
  Names& names_;
  tool::Messages& messages_;
  tool::Output& out_;
  Filter filter_;
  Budget* budget_ = nullptr;
  std::string budget_path_;
  tool::Progress::Item* progress_ = nullptr;
  double progress_bytes_ = 0;
  std::uint64_t charged_output_ = 0; ///< size of the output charged so far
  std::uint64_t functions_ = 0;      ///< shown
  std::uint64_t asked_ = 0;          ///< functions whose names were compared with the filter
  std::uint64_t named_ = 0;          ///< those of them that have one
  std::uint64_t parts_ = 0;          ///< shown
  std::uint64_t rows_at_end_ = 0;    ///< in the current part: RowCursor::at_function_end()
  std::uint32_t first_at_end_ = 0;   ///< number of the first function with one
  std::uint64_t sections_ = 0;       ///< shown, empty ones as well
  std::uint64_t skipped_ = 0;        ///< files
  tool::MissingSections missing_;
  int code_ = tool::exit_ok;
};

} // namespace sframe::dump
