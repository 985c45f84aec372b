// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

std::string title(std::span<const tool::InputFile> files) {
  return files.size() == 1 ? files.front().path : std::to_string(files.size()) + " files";
}

std::unique_ptr<Format> make_format(const RunOptions& options) {
  ReportOptions report = options.report;
  report.baseline = options.known ? &*options.known : nullptr;
  report.collect = !options.write_baseline.empty();
  if (options.file.compiler_bugs) return make_text_format(report); // has no entries of its own for files
  if (options.json) return make_json_format(report);
  if (options.sarif) return make_sarif_format(report, {SFRAME_VERSION, options.command_line});
  if (options.html) return make_html_format(report, title(options.files));
  return make_text_format(report);
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

void note_tree(std::uint64_t skipped, std::span<const Outcome> outcomes, tool::Messages& messages) {
  std::uint64_t verified = 0, failed = 0;
  for (const Outcome& outcome : outcomes)
    ++(!outcome.done ? failed : outcome.sections == 0 ? skipped : verified);
  messages.note({}, std::to_string(verified) + " files verified, " + std::to_string(failed) + " failed, " +
                        std::to_string(skipped) + " skipped");
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
  out << (options.json ? bugs_json(all, failures) : bugs_text(all));
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
    if (options.skipped) note_tree(*options.skipped, outcomes, messages);
    return write_bugs(options, outcomes, out);
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
  if (options.skipped) note_tree(*options.skipped, outcomes, messages);
  const bool errors = std::ranges::any_of(outcomes, [](const Outcome& o) { return o.errors != 0; }) ||
                      (options.file.ran && options.file.ran->left_out);
  const int code = !done ? tool::exit_failure : errors ? tool::exit_findings : tool::exit_ok;
  out << format->tail({failures, code, options.file.ran ? &options.file.ran->summary : nullptr});
  return code;
}

} // namespace sframe::verify
