// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run() verifies all files, each with its own outcome, and then decides over all of them: the totals, what
// was left out, and the exit code. Of the exit codes that apply, the highest one counts: to verify nothing is
// 2, as is a file that could not be verified.

#include "run.h"

#include <sframe/base/parallel.h>
#include <sframe/base/text.h>
#include <sframe/elf/file.h>
#include <sframe/tool/ordered.h>
#include <sframe/tool/output_file.h>
#include <sframe/tool/process_limits.h>
#include <sframe/tool/progress.h>

#include <algorithm>
#include <utility>

namespace sframe::verify {

namespace {

std::unique_ptr<Format> make_format(const RunOptions& options) {
  ReportOptions report = options.report;
  report.baseline = options.known ? &*options.known : nullptr;
  report.collect = !options.write_baseline.empty();
  if (options.file.compiler_bugs) return make_text_format(report); // has no entries of its own for files
  return options.format->make(options, report);
}

std::vector<Outcome> verify_all(const RunOptions& options, const Format& format, tool::Messages& messages,
                                tool::Output& out) {
  tool::OrderedOutput ordered(options.files.size(), out, messages);
  tool::Progress progress(messages, options.files.size(), "files");
  for (const tool::InputFile& file : options.files) progress.expect(progress.size_of(file.path));
  std::vector<Outcome> outcomes(options.files.size());
  Workers workers(options.threads);
  FileOptions file_options = options.file;
  file_options.workers = &workers;
  for_each_parallel(
      options.files.size(), workers, workers.all(), [] { return 0; },
      [&](std::size_t i, int) {
        const tool::InputFile& file = options.files[i];
        tool::begin_file();
        tool::Progress::Item item(progress, progress.size_of(file.path));
        if (!ordered.failed()) outcomes[i] = verify_file(file, file_options, format, ordered.slot(i), item);
        ordered.close(i);
      });
  return outcomes;
}

/// Returns the failure, which has been reported.
std::optional<Failure> write_baseline(const std::string& path, std::span<Outcome> outcomes,
                                      tool::Messages& messages) {
  if (path.empty()) return std::nullopt;
  Baseline found;
  for (Outcome& outcome : outcomes) found.merge(std::move(outcome.found));
  const auto written = tool::write_file(path, found.text());
  if (written) return std::nullopt;
  messages.error(path, written.error());
  return Failure{path, written.error()};
}

/// Over all files. Warnings about files are among the warnings.
Totals totals_of(std::span<const Outcome> outcomes) {
  Totals totals;
  for (const Outcome& outcome : outcomes) {
    totals.files += outcome.sections != 0;
    totals.not_verified += !outcome.done;
    totals.functions += outcome.functions;
    totals.errors += outcome.errors;
    totals.warnings += outcome.warnings;
    totals.notes += outcome.notes;
    totals.hidden_notes += outcome.hidden_notes;
    totals.missing.insert(totals.missing.end(), outcome.missing.begin(), outcome.missing.end());
  }
  return totals;
}

/// What was not verified, without a look at each file's messages.
void note_left_out(const RunOptions& options, std::span<const Outcome> outcomes, tool::Messages& messages) {
  tool::MissingSections missing;
  for (const Outcome& outcome : outcomes)
    for (const std::string& path : outcome.missing) missing.add(path);
  missing.warn(messages);
  if (!options.skipped) return;
  std::uint64_t verified = 0, failed = 0, skipped = *options.skipped;
  for (const Outcome& outcome : outcomes)
    ++(!outcome.done ? failed : outcome.sections == 0 ? skipped : verified);
  messages.note({}, counted(verified, "file") + " verified, " + with_commas(failed) + " failed, " +
                        with_commas(skipped) + " skipped");
}

/// The exit code if no file was verified and none failed: to verify nothing is no success, unless that was
/// asked for.
int code_of_nothing(const RunOptions& options, std::span<const Outcome> outcomes, tool::Messages& messages) {
  const bool any = std::ranges::any_of(
      outcomes, [](const Outcome& outcome) { return outcome.sections != 0 || !outcome.done; });
  if (any || options.file.missing == tool::Missing::skip) return tool::exit_ok;
  messages.error({}, options.file.compiler_bugs ? "no file has call frame information: nothing was examined"
                                                : "no file has a section .sframe: nothing was verified");
  return tool::exit_failure;
}

/// Writes the report of --compiler-bugs. Returns the exit code.
int write_bugs(const RunOptions& options, std::span<Outcome> outcomes, tool::Output& out) {
  CompilerBugs all;
  std::vector<Failure> failures;
  bool done = true, errors = false;
  for (Outcome& outcome : outcomes) {
    all.merge(std::move(outcome.bugs));
    failures.insert(failures.end(), outcome.failures.begin(), outcome.failures.end());
    done &= outcome.done;
    errors |= outcome.errors != 0;
  }
  out << (options.bugs_as_json ? bugs_json(all, failures) : bugs_text(all));
  return !done ? tool::exit_failure : errors || !all.empty() ? tool::exit_findings : tool::exit_ok;
}

} // namespace

bool read_baseline(RunOptions& options, tool::Messages& messages) {
  if (options.baseline.empty()) return true;
  const auto file = elf::File::open(options.baseline);
  if (!file) {
    messages.error(options.baseline, file.error());
    return false;
  }
  auto baseline = Baseline::parse(as_text(file->bytes()));
  if (!baseline) {
    messages.error(options.baseline, baseline.error());
    return false;
  }
  options.known = std::move(*baseline);
  return true;
}

int run(const RunOptions& options, tool::Messages& messages, tool::Output& out) {
  const auto format = make_format(options);
  if (options.file.compiler_bugs) {
    std::vector<Outcome> outcomes = verify_all(options, *format, messages, out);
    note_left_out(options, outcomes, messages);
    return std::max(code_of_nothing(options, outcomes, messages), write_bugs(options, outcomes, out));
  }
  out << format->head();
  std::vector<Outcome> outcomes = verify_all(options, *format, messages, out);
  std::vector<Failure> failures;
  for (const Outcome& outcome : outcomes)
    failures.insert(failures.end(), outcome.failures.begin(), outcome.failures.end());
  bool done = std::ranges::all_of(outcomes, &Outcome::done);
  if (auto failure = write_baseline(options.write_baseline, outcomes, messages)) {
    failures.push_back(std::move(*failure));
    done = false;
  }
  note_left_out(options, outcomes, messages);
  if (options.warnings_are_errors)
    for (Outcome& outcome : outcomes)
      outcome.errors +=
          static_cast<std::uint64_t>(std::ranges::count_if(outcome.failures, &Failure::warning));
  const bool errors = std::ranges::any_of(outcomes, [](const Outcome& o) { return o.errors != 0; }) ||
                      (options.file.ran && options.file.ran->left_out);
  const int code = std::max(!done    ? tool::exit_failure
                            : errors ? tool::exit_findings
                                     : tool::exit_ok,
                            static_cast<tool::ExitCode>(code_of_nothing(options, outcomes, messages)));
  out << format->tail({.failures = failures,
                       .exit_code = code,
                       .run = options.file.ran ? &options.file.ran->summary : nullptr,
                       .totals = totals_of(outcomes)});
  return code;
}

} // namespace sframe::verify
