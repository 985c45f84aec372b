// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leads a Dumper through objects: splits concatenated sections, picks the functions that were asked for, and
// reports what is damaged. Remembers the exit code.

#pragma once

#include "dumper.h"

#include <sframe/base/budget.h>
#include <sframe/tool/messages.h>
#include <sframe/tool/output.h>
#include <sframe/tool/text.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::dump {

/// Which functions are shown.
struct Filter {
  bool header_only = false;
  std::vector<tool::Glob> names; ///< any of them must match; empty = all functions
  std::optional<tool::AddressRange> addresses;

  bool all_functions() const { return names.empty() && !addresses; }
};

class Driver {
public:
  Driver(Dumper& dumper, Names& names, tool::Messages& messages, tool::Output& out, Filter filter)
      : dumper_(dumper), names_(names), messages_(messages), out_(out), filter_(std::move(filter)) {}

  Dumper& dumper() { return dumper_; }
  tool::Messages& messages() { return messages_; }

  /// Shows the object. Faults are reported and decide the exit code; they never end the program.
  void show(const Object& object);

  /// Reports an error and makes the exit code at least `code`.
  void report(std::string_view file, const Problem& problem, int code);

  /// The same for a file, or a member of an archive, that cannot be read: it has its place in the output, too.
  void unreadable(const std::string& name, const Problem& problem, int code);

  /// For a file of which a part was missing when it was read, which has been reported: its place in the output.
  void cut(const std::string& name);

  /// After the last object: ends the output, and complains where a filter let nothing through. Gives the exit
  /// code.
  int finish();

  /// From now on the input's budget is charged for rows and output; nullptr: no input. Where it was used up, reports
  /// that of the input that ends.
  void set_budget(Budget* budget, const std::string& path = {});

  /// True where the input's budget of rows or output is used up, or the output's reader gone: nothing more is to be
  /// shown.
  bool stopped() const {
    return out_.failed() || (budget_ && (budget_->is_used_up(Resource::rows) ||
                                         budget_->is_used_up(Resource::printed_bytes)));
  }

private:
  void show_section(const Object& object, const ObjectSection& section);
  bool show_part(const Object& object, const ObjectSection& section, const Part& part,
                 const Problem* damage = nullptr);
  std::optional<Problem> show_functions(const ObjectSection& section, const Part& part);
  bool wanted(const EncodedFde& fde, const Place& place);
  void charge_output();

  Dumper& dumper_;
  Names& names_;
  tool::Messages& messages_;
  tool::Output& out_;
  Filter filter_;
  Budget* budget_ = nullptr;
  std::string budget_path_;
  std::uint64_t charged_output_ = 0; ///< size of the output that has been charged
  std::uint64_t functions_ = 0; ///< shown
  std::uint64_t parts_ = 0;     ///< shown
  std::uint64_t rows_at_end_ = 0;   ///< in the part at hand: RowCursor::at_function_end()
  std::uint32_t first_at_end_ = 0;  ///< number of the first function with one
  int code_ = tool::exit_ok;
};

} // namespace sframe::dump
