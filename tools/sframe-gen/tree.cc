// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run_tree() plans (tree_plan.h), enters the sandbox and starts a TreeRun. That gives jobs to threads; a
// JobRunner converts the files of one job, one after the other, since they are names of one file or of one
// sidecar. Messages and JSON lines are printed in the order of the jobs (OrderedOutput), whichever thread is
// first.

#include "tree.h"

#include "convert.h"
#include "finish.h"
#include "tree_plan.h"
#include "tree_report.h"

#include <sframe/base/parallel.h>
#include <sframe/code/disassembly.h>
#include <sframe/tool/debug_files.h>
#include <sframe/tool/ordered.h>
#include <sframe/tool/output_file.h>
#include <sframe/tool/output_lock.h>
#include <sframe/tool/process_limits.h>
#include <sframe/tool/progress.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <ranges>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace sframe::gen {

namespace {

using Kind = tool::FoundFile::Kind;

/// Works on one job. Jobs are independent: each has its own instance.
class JobRunner {
public:
  /// `line` has the options; its input and output are set for each file.
  JobRunner(CommandLine line, tool::Slot& slot, tool::Progress::Item& progress)
      : line_(std::move(line)), slot_(slot), progress_(progress) {}

  /// The results of all files of the job.
  std::vector<FileResult> run(const Job& job) {
    std::vector<FileResult> results;
    results.push_back(run(job.first));
    const Step* done = &job.first;
    bool has_sidecar = is_done(results.front());
    bool has_output = !results.front().output.empty();
    for (const Step& other : job.others) {
      // A debug file has the build ID of its program, but mostly no call frame information. In a mirrored
      // tree, only what this run has made or found right is linked.
      const bool tries = goes_by_build_id(line_.emit) ? !has_sidecar && other.file.id != done->file.id
                                                      : is_mirror(line_) && !has_output;
      results.push_back(tries ? run(other) : run_other(other, *done));
      if (!tries) continue;
      done = &other;
      has_sidecar = is_done(results.back());
      has_output = !results.back().output.empty();
    }
    return results;
  }

private:
  static bool is_done(const FileResult& result) {
    return result.status == Status::converted || result.status == Status::up_to_date;
  }

  FileResult run(const Step& step) {
    FileResult result{.input = step.file.path, .output = {}, .why = {}, .summary = {}};
    if (!step.failure.empty()) return give_up(std::move(result), {step.file.path, {step.failure, {}, {}}});
    if (is_mirror(line_) && step.file.kind == Kind::symbolic_link) return copy_link(std::move(result), step);
    if (!step.skipped.empty()) return skip(std::move(result), step.skipped);
    return convert_file(std::move(result), step);
  }

  FileResult skip(FileResult result, std::string why) {
    result.status = Status::skipped;
    result.why = std::move(why);
    tool::skip_in_tree(true, slot_, result.input, result.why);
    return result;
  }

  FileResult copy_link(FileResult result, const Step& step) {
    if (const auto made = tool::make_parent_folders(step.output); !made)
      return give_up(std::move(result), {step.output, made.error()});
    if (const auto copied = tool::copy_symbolic_link(step.file.path, step.output); !copied)
      return give_up(std::move(result), {step.output, copied.error()});
    result.output = step.output;
    return skip(std::move(result), step.skipped);
  }

  /// Another name of a file that is done.
  FileResult run_other(const Step& other, const Step& first) {
    FileResult result{.input = other.file.path,
                      .status = Status::same,
                      .output = other.output,
                      .why = first.file.path,
                      .summary = {}};
    if (!other.failure.empty()) return give_up(std::move(result), {other.file.path, {other.failure, {}, {}}});
    if (!is_mirror(line_)) return result;
    const auto made = tool::make_parent_folders(other.output);
    // A file system without hard links, or with a limit: a file of its own.
    if (!made || !tool::write_hard_link(first.output, other.output)) return run(other);
    return result;
  }

  FileResult convert_file(FileResult result, const Step& step) {
    line_.input = step.file.path;
    line_.output = line_.in_place ? step.file.path : line_.emit == Emit::elf ? step.output : line_.output;
    if (is_mirror(line_))
      if (const auto made = tool::make_parent_folders(line_.output); !made)
        return give_up(std::move(result), {line_.output, made.error()});
    const auto lock = tool::OutputLock::take(line_.emit == Emit::elf ? line_.output : step.output);
    if (!lock) return give_up(std::move(result), {line_.output, lock.error()});
    const auto file = elf::File::open_regular(line_.input);
    if (!file) return give_up(std::move(result), {line_.input, file.error()});
    if (file->id() != elf::File::Id() && file->id() != step.file.id) // none: the file was not mapped
      return give_up(std::move(result), {line_.input, {"another process replaced the file", {}, {}}});
    result.input_size = file->bytes().size();
    auto written = convert(line_, *file, slot_, result.summary, progress_);
    if (!written && !file->is_intact()) written = problem_in(line_.input, {tool::cut_input, {}, {}});
    if (!written) {
      auto& executable = result.summary.executable;
      const std::uint64_t code = executable ? executable->total : 0;
      result.summary = {};
      executable = ExecutableBytes{{code, 0}};
      return not_converted(std::move(result), *file, std::move(written.error()));
    }
    if (*written) result.output = (*written)->path;
    if (!result.summary.unconverted.empty()) {
      std::string why = result.summary.unconverted;
      const auto& executable = result.summary.executable;
      if (line_.inputs.missing == tool::Missing::error && executable && executable->total != 0)
        return give_up(std::move(result), {line_.input, {std::move(why), {}, {}}});
      return skip(std::move(result), std::move(why));
    }
    result.status = *written && !(*written)->changed ? Status::up_to_date : Status::converted;
    result.output_size = *written ? (*written)->size : 0;
    slot_.detail(line_.input, result.status == Status::converted ? "converted" : "up to date");
    return result;
  }

  FileResult not_converted(FileResult result, const elf::File& file, FileProblem why) {
    if (!why.refused) return give_up(std::move(result), std::move(why));
    if (is_mirror(line_)) {
      const auto copied = copy_file(line_, file);
      if (!copied) return give_up(std::move(result), copied.error());
      result.output = copied->path;
    }
    return give_up(std::move(result), std::move(why));
  }

  FileResult give_up(FileResult result, FileProblem why) {
    result.status = why.refused ? Status::refused : Status::failed;
    if (why.problem.what != tool::cut_input)
      slot_.error(why.file, why.problem); // else the message is printed
    result.summary.failure = std::move(why);
    return result;
  }

  CommandLine line_;
  tool::Slot& slot_;
  tool::Progress::Item& progress_;
};

/// Owner and mode of the folders of a mirrored tree; inner ones first, since these may become read-only.
void copy_folder_modes(const CommandLine& line, const std::vector<tool::FoundFile>& folders) {
  OutputLinks links(line.output);
  for (const tool::FoundFile& folder : folders | std::views::reverse) {
    const std::string output = line.output + '/' + folder.place;
    if (!links.is_on_the_way(output + '/')) tool::copy_folder_mode(folder.path, output);
  }
}

tool::SandboxNeeds needs_of(const CommandLine& line, const tool::NamedInputs& named) {
  tool::SandboxNeeds needs{.read = {code::disassembler_library()},
                           .write = {line.report_file},
                           .symbolic_links = is_mirror(line),
                           .writers = line.threads};
  for (const tool::NamedInput& input : named.inputs) {
    needs.read.push_back(input.path);
    if (line.in_place) needs.replace_below.push_back(input.path);
  }
  for (std::string& place : tool::debug_file_places(tool::paths(named), line.debug_files.files))
    needs.read.push_back(std::move(place));
  if (line.in_place) return needs;
  needs.read.push_back(line.output); // what is up to date stays
  needs.write_below.push_back(line.output);
  return needs;
}

elf::File::Id id_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

/// The message if what is written would destroy an input.
std::optional<std::string> overwrites_input(const CommandLine& line, const tool::NamedInputs& named,
                                            const std::vector<tool::FoundFile>& found) {
  const auto is_input = [&](const std::string& path) {
    const elf::File::Id id = id_of(path);
    return id != elf::File::Id() && std::ranges::count(found, id, &tool::FoundFile::id) != 0;
  };
  if (!line.report_file.empty() && is_input(line.report_file))
    return "--report-file would overwrite an input";
  for (const tool::NamedInput& input : named.inputs)
    if (!line.in_place && tool::is_same_file(input.path, line.output))
      return "the output directory is an input (--in-place replaces the files in an input)";
  return std::nullopt;
}

class TreeRun {
public:
  TreeRun(tool::App& app, const CommandLine& line, std::vector<tool::FoundFile> found)
      : app_(app), line_(line), plan_(make_plan(line, std::move(found))) {}

  int run() {
    if (is_output(line_.report_file)) {
      app_.messages().error({}, "--report-file would overwrite an output");
      return tool::exit_failure;
    }
    if (!wants_report(app_.messages(), line_)) {
      tool::Output nothing(-1);
      convert_all(nothing);
      return code_;
    }
    const auto write = [&](tool::Output& out) {
      convert_all(out);
      (is_json() ? write_json_summary : write_text_summary)(line_, tree_, out);
    };
    const int descriptor = is_json() ? STDOUT_FILENO : STDERR_FILENO;
    const int delivered = deliver_report(app_, line_, descriptor, tool::exit_ok, write);
    return std::max(code_, delivered);
  }

private:
  static double size_of(const Job& job) { return static_cast<double>(job.first.file.size); }
  /// True if the plan writes to this path. Sidecars have names of their own.
  bool is_output(const std::string& path) const {
    std::error_code error;
    if (path.empty() || !is_mirror(line_)) return false;
    const auto place = std::filesystem::weakly_canonical(path, error);
    const auto is = [&](const Step& step) {
      return !step.output.empty() && std::filesystem::weakly_canonical(step.output, error) == place;
    };
    return std::ranges::any_of(
        plan_.jobs, [&](const Job& job) { return is(job.first) || std::ranges::any_of(job.others, is); });
  }
  bool is_json() const { return line_.report == ReportFormat::json; }

  void make_folders(tool::Output& out) {
    OutputLinks links(line_.output);
    for (const tool::FoundFile& folder : plan_.folders) {
      const std::string output = line_.output + '/' + folder.place + '/';
      const auto made = links.is_on_the_way(output)
                            ? Result<void>(fail("an output directory already exists as a symbolic link"))
                            : tool::make_parent_folders(output);
      if (!made) {
        app_.messages().error(folder.path, made.error());
        FileResult result{.input = folder.path, .output = {}, .why = {}, .summary = {}};
        result.summary.failure = {folder.path, made.error()};
        if (is_json()) write_json_line(line_, result, out);
        add(result, tool::exit_failure);
        continue;
      }
      tool::make_folder_writable(output);
    }
  }

  void convert_all(tool::Output& out) {
    make_folders(out);
    CommandLine options = line_;
    options.inputs = {.inputs = {}, .missing = line_.inputs.missing};
    options.allow_missing = true;
    options.threads = std::max<unsigned>(1, line_.threads / static_cast<unsigned>(std::clamp<std::size_t>(
                                                                plan_.jobs.size(), 1, line_.threads)));
    tool::OrderedOutput ordered(plan_.jobs.size(), out, app_.messages());
    tool::Progress progress(app_.messages(), plan_.jobs.size(), "files");
    for (const Job& job : plan_.jobs) progress.expect(size_of(job));
    for_each_parallel(plan_.jobs.size(), line_.threads, [&](std::size_t i) {
      tool::begin_file();
      tool::Progress::Item item(progress, size_of(plan_.jobs[i]));
      tool::Slot& slot = ordered.slot(i);
      for (const FileResult& result : JobRunner(options, slot, item).run(plan_.jobs[i])) report(result, slot);
      ordered.close(i);
    });
    copy_folder_modes(line_, plan_.folders);
    code_ = std::max({code_, coverage_code(app_.messages(), line_, {}, tree_.sum), code_of_nothing()});
  }

  /// To convert nothing is no success, unless that was asked for.
  int code_of_nothing() {
    const auto count = [&](Status status) { return tree_.files[static_cast<std::size_t>(status)]; };
    const bool is_something = count(Status::converted) + count(Status::up_to_date) + count(Status::refused) +
                                  count(Status::failed) !=
                              0;
    if (is_something || line_.inputs.missing == tool::Missing::skip) return tool::exit_ok;
    app_.messages().error({}, "no input has anything to convert: nothing was done");
    return tool::exit_failure;
  }

  /// Prints the line of a file and adds it to the sums. Called by several threads, as add().
  void report(const FileResult& result, tool::Slot& slot) {
    int code = completeness_code(slot, line_, result.input, result.summary);
    if (result.status == Status::refused) code = tool::exit_findings;
    if (result.status == Status::failed) code = tool::exit_failure;
    if (is_json()) {
      tool::Output text(-1);
      write_json_line(line_, result, text);
      slot.text(text.text());
    }
    add(result, code);
  }

  void add(const FileResult& result, int code) {
    const std::lock_guard lock(mutex_);
    tree_.add(result);
    code_ = std::max(code_, code);
  }

  tool::App& app_;
  const CommandLine& line_;
  const Plan plan_;
  std::mutex mutex_;
  TreeSummary tree_;
  int code_ = tool::exit_ok;
};

} // namespace

int run_tree(tool::App& app, const CommandLine& line) {
  const auto fail = [&](const std::string& file, const std::string& what) -> int {
    app.messages().error(file, what);
    if (line.report_file.empty()) return tool::exit_failure;
    TreeSummary tree;
    FileResult result{.input = file, .output = {}, .why = {}, .summary = {}};
    result.summary.failure = {file, {what, {}, {}}};
    tree.add(result);
    return deliver_report(app, line, STDERR_FILENO, tool::exit_failure, [&](tool::Output& out) {
      if (line.report == ReportFormat::json) write_json_line(line, result, out);
      (line.report == ReportFormat::json ? write_json_summary : write_text_summary)(line, tree, out);
    });
  };
  const auto named = tool::name_inputs(line.inputs);
  if (!named) return fail({}, named.error().text());
  // Before the sandbox is entered: then only this folder is writable, not the one that it is made in.
  if (!line.in_place)
    if (const auto made = tool::make_parent_folders(line.output + '/'); !made)
      return fail(line.output, made.error().text());
  app.confine(needs_of(line, *named));
  auto found = tool::find_files(*named, line.in_place ? elf::File::Id() : id_of(line.output));
  if (const auto wrong = overwrites_input(line, *named, found)) {
    app.messages().error({}, *wrong); // no report: it might be what overwrites an input
    return tool::exit_failure;
  }
  return TreeRun(app, line, std::move(found)).run();
}

} // namespace sframe::gen
