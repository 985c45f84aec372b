// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports findings as text or as a page for people, JSON for scripts, SARIF for code-scanning viewers, and in
// the formats of build services (JUnit XML, GitLab's code quality report, GitHub's annotations). The
// checks of one file write to a FileReport, which is a Sink: it applies the user's Policy and Baseline, looks
// up names, counts, and prints immediately. Reports of several files may be produced concurrently; the Format
// assembles them.
//
//    auto format = make_text_format(options);
//    write(format->head());
//    auto report = format->file(path, input, names, channel);   // channel: where the text goes
//    check_structure(input, *report); ...
//    report->finish(summary);
//    write(format->tail({failures, exit_code}));

#pragma once

#include "sframe/base/problem.h"
#include "sframe/verify/baseline.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"
#include "sframe/verify/names.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::verify {

/// The destination of a report's text.
class Channel {
public:
  /// The following text, up to the next call, is one element of the format's list. The caller that joins
  /// files writes a comma before each element but the first.
  virtual void begin_element() = 0;
  virtual void text(std::string_view text) = 0;

protected:
  ~Channel() = default;
};

struct ReportOptions {
  Policy policy;
  const Baseline* baseline = nullptr;             ///< known findings; must outlive the reports
  std::uint64_t max_findings = ~std::uint64_t{0}; ///< printed per file; all are counted
  bool collect = false;                           ///< for FileReport::take_found()
  Severity level = Severity::note;                ///< the least severity that is printed; all are counted
  bool usual_notes = true;                        ///< print notes of the check against code (K, R), and those
                                                  ///< that sframe-gen's own defaults cause (Finding::usual)
  bool summaries = true;                          ///< text only: a line for each file
  bool color = false;                             ///< text only
};

/// Counts after policy and baseline are applied.
struct Counts {
  std::uint64_t errors = 0, warnings = 0, notes = 0;
  std::uint64_t known = 0;        ///< errors and warnings in the baseline; not included in the others
  std::uint64_t hidden_notes = 0; ///< of the notes: not printed, by ReportOptions::level and usual_notes
};

class FileReport : public Sink {
public:
  /// The subject of the report. Everything referred to must outlive the report.
  struct Context {
    std::string path;
    const Input& input;
    Names& names;
    Channel& channel;
    const ReportOptions& options;
  };

  virtual ~FileReport() = default;

  void add(Finding finding) final;
  /// Must be called once, at the end.
  void finish(const Summary& summary) { print_end(summary); }

  const Counts& counts() const { return counts_; }
  /// Errors and warnings, including those in the baseline: the contents of a new baseline. Empty unless
  /// ReportOptions::collect is set.
  Baseline take_found() { return std::move(found_); }

protected:
  explicit FileReport(const Context& context);

  /// Called for every finding that is counted, before limits on what is printed.
  virtual void count([[maybe_unused]] const Finding& finding, [[maybe_unused]] Severity severity) {}
  virtual void print(const Finding& finding, Severity severity) = 0;
  virtual void print_end(const Summary& summary) = 0;

  const ReportOptions& options() const { return context_.options; }
  std::string_view path() const { return context_.path; }
  const Input& input() const { return context_.input; }
  Names& names() { return context_.names; }
  Channel& channel() { return channel_; }
  /// Number of findings over the limit, which were not printed.
  std::uint64_t dropped() const { return dropped_; }
  /// In a relocatable object, the section to which the address is relative; else empty.
  std::string_view code_section(const Location& at) const;

private:
  /// Counts the bytes that are written.
  class CountingChannel final : public Channel {
  public:
    explicit CountingChannel(Channel& to) : to_(to) {}
    void begin_element() override { to_.begin_element(); }
    void text(std::string_view text) override {
      written_ += text.size();
      to_.text(text);
    }
    /// Since the last call.
    std::uint64_t take_written() { return std::exchange(written_, 0); }

  private:
    Channel& to_;
    std::uint64_t written_ = 0;
  };

  bool is_known(const Finding& finding);

  Context context_;
  CountingChannel channel_;
  Counts counts_;
  Baseline found_;
  Baseline known_; ///< remaining entries
  std::uint64_t printed_ = 0, dropped_ = 0;
};

/// The message about a file that could not be verified, or only in part.
struct Failure {
  std::string path;
  Problem problem;
  bool warning = false; ///< it was verified nevertheless
};

/// How a program ran (--check=run), over all files.
struct RunSummary {
  std::vector<std::string> command;
  std::string end;             ///< "exited with 0", "killed by SIGSEGV"
  bool limited = false;        ///< the limit on steps was reached: what came later was not followed
  std::uint64_t steps = 0;     ///< in all files and in none
  std::uint64_t compared = 0;  ///< of them: compared
  std::uint64_t elsewhere = 0; ///< of them: in files that are not verified, and outside files
  std::uint64_t no_row = 0;    ///< of them: without a row
  /// The others by reason; all reasons, in the order of a list.
  std::vector<std::pair<std::string_view, std::uint64_t>> not_followed;
  /// Events by kind; all kinds, in the order of a list.
  std::vector<std::pair<std::string_view, std::uint64_t>> events;
};

/// Over all files.
struct Totals {
  std::uint64_t files = 0;        ///< verified; the members of an archive are one
  std::uint64_t functions = 0;    ///< in them
  std::uint64_t not_verified = 0; ///< files that could not be verified
  std::uint64_t errors = 0, warnings = 0, notes = 0;
  std::uint64_t hidden_notes = 0;   ///< Counts::hidden_notes
  std::vector<std::string> missing; ///< files with code and CFI that have no section, and were left out
};

/// "PASSED", or with another exit code than 0 "FAILED".
std::string_view result_name(int exit_code);

/// "3 files, 40 functions, 1 error, 0 warnings", and the files that were not verified.
std::string totals_text(const Totals& totals);

/// The end of the program.
struct RunEnd {
  std::span<const Failure> failures = {}; ///< of all files, in order
  int exit_code = 0;                      ///< 0: passed
  const RunSummary* run = nullptr;        ///< if a program was run
  Totals totals = {};
};

/// An output format: created once for all files. Its functions are thread-safe.
class Format {
public:
  virtual ~Format() = default;
  virtual std::string head() const { return {}; }
  virtual std::string tail([[maybe_unused]] const RunEnd& end) const { return {}; }
  /// The entry of a file that could not be verified, in formats that have such entries.
  virtual void unreadable([[maybe_unused]] const Failure& failure, [[maybe_unused]] Channel& channel) const {}
  virtual std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                           Channel& channel) const = 0;
};

/// One finding per line, followed by the rules of SFrame, CFI and code, a summary per file, and a last line
/// PASSED or FAILED with the totals.
std::unique_ptr<Format> make_text_format(ReportOptions options);

/// The JSON of the command line contract (docs/json.md).
std::unique_ptr<Format> make_json_format(ReportOptions options);

/// What a report records about the program that makes it.
struct Invocation {
  std::string version;
  std::string command_line; ///< as for a shell
};

/// One HTML page (sframe/page/page.h) with the same JSON, the instructions at each finding, and the number of
/// findings of each kind. A file has at most html_findings of a kind (ID, severity, cause).
std::unique_ptr<Format> make_html_format(ReportOptions options, std::string title, Invocation invocation);
inline constexpr std::uint64_t html_findings = 300;

/// SARIF 2.1.0: one run, one result per finding.
std::unique_ptr<Format> make_sarif_format(ReportOptions options, Invocation invocation);

/// JUnit XML, as Jenkins and GitLab read it: a suite per file, in it a case per check that was made
/// (`checks`: "structure", "cfi"...). A case with errors failed; its output has the other findings.
std::unique_ptr<Format> make_junit_format(ReportOptions options, std::vector<std::string> checks);

/// GitLab's code quality report: a JSON list with an object per finding.
std::unique_ptr<Format> make_gitlab_format(ReportOptions options);

/// Commands of GitHub's workflows, one line per finding, which shows them at their source lines.
std::unique_ptr<Format> make_github_format(ReportOptions options);

} // namespace sframe::verify
