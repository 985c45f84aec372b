// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings as text for people or JSON for scripts. A Report is the Sink that checks write to: it applies the
// user's Policy, looks up names, counts, and prints at once.
//
//   auto report = make_text_report({.write = write, .policy = policy});
//   report->begin_file(path, input, names);
//   check_structure(input, *report); ...
//   report->end_file(summary);
//   report->finish();

#pragma once

#include "sframe/elf/symbols.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sframe::verify {

/// The names of functions, read from the file only when the first one is asked for.
class Names {
public:
  Names() = default;
  /// Symbols come from the first image that has any. The images must outlive the Names.
  explicit Names(std::vector<const elf::Image*> images) : images_(std::move(images)) {}

  /// "function" or "function+0x12", demangled; empty where no symbol covers the location.
  std::string describe(const Location& at);

  /// The name alone.
  std::string function(const Location& at);

private:
  std::optional<elf::SymbolTable::Match> find(const Location& at);

  std::vector<const elf::Image*> images_;
  std::optional<elf::SymbolTable> table_;
};

class Report : public Sink {
public:
  struct Options {
    std::function<void(std::string_view)> write;
    Policy policy;
    std::uint64_t max_findings = ~std::uint64_t{0}; ///< printed per file; all are counted
    bool errors_only = false;                       ///< print errors and the summary
    bool color = false;                             ///< text only
  };
  /// After the policy, of one file or of all.
  struct Counts {
    std::uint64_t errors = 0, warnings = 0, notes = 0;
  };

  virtual ~Report() = default;

  /// Findings up to end_file() are about this file. What is given must live until then.
  void begin_file(std::string_view path, const Input& input, Names& names);
  void add(Finding finding) final;
  void end_file(const Summary& summary);
  /// To be called once, at the end.
  virtual void finish() {}

  /// Of all files so far.
  const Counts& total() const { return total_; }

protected:
  explicit Report(Options options) : options_(std::move(options)) {}

  virtual void print_begin() = 0;
  virtual void print(const Finding& finding, Severity severity) = 0;
  virtual void print_end(const Summary& summary) = 0;

  const Options& options() const { return options_; }
  std::string_view path() const { return path_; }
  const Input& input() const { return *input_; }
  Names& names() { return *names_; }
  const Counts& counts() const { return counts_; }
  /// Findings of the file that were not printed for there were too many.
  std::uint64_t dropped() const { return dropped_; }

private:
  Options options_;
  std::string path_;
  const Input* input_ = nullptr;
  Names* names_ = nullptr;
  Counts counts_, total_;
  std::uint64_t printed_ = 0, dropped_ = 0;
};

/// One finding per line, what SFrame and the CFI say below it, and a summary per file.
std::unique_ptr<Report> make_text_report(Report::Options options);

/// The JSON of the command line contract (docs/sframe-verify.md); written as it goes.
std::unique_ptr<Report> make_json_report(Report::Options options);

} // namespace sframe::verify
