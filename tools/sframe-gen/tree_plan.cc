// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planner makes a Step for each found file and joins those with one identity in a Job; join_by_build_id()
// does the same for files with one build ID, which needs their contents and is done by several threads.
// Outputs are checked last: none may be an input, another step's output, or reached through a symbolic link.

#include "tree_plan.h"

#include "emit.h"

#include <sframe/base/parallel.h>
#include <sframe/elf/archive.h>
#include <sframe/elf/image.h>
#include <sframe/files/opened_file.h>

#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <utility>

namespace sframe::gen {

namespace {

using Kind = tool::FoundFile::Kind;

bool leads_outside(const std::string& place) {
  return place == ".." || place.starts_with("../");
}

/// Where --emit=sidecar or bpf-table writes, or why it does not.
void find_output(const CommandLine& line, Step& step) {
  auto file = elf::File::open_regular(step.file.path);
  if (!file) return; // the conversion reports it
  const std::string why =
      line.emit == Emit::sidecar ? "sidecars are for linked files" : "tables are for linked files";
  if (elf::is_archive(file->bytes())) step.skipped = "archive: " + why;
  if (!elf::Image::is_elf(file->bytes())) return;
  files::OpenedFile opened(std::move(*file), line.limits);
  const auto& image = opened.image();
  if (!image) return;
  if (image->relocatable()) step.skipped = "relocatable object: " + why;
  step.output = path_by_build_id(line, *image);
}

/// Joins jobs that would write the same sidecar or table.
void join_by_build_id(const CommandLine& line, std::vector<Job>& jobs) {
  for_each_parallel(jobs.size(), line.threads, [&](std::size_t i) {
    if (jobs[i].first.file.kind == Kind::regular && jobs[i].first.failure.empty())
      find_output(line, jobs[i].first);
  });
  std::map<std::string, std::size_t> owners; // output -> index in `kept`
  std::vector<Job> kept;
  for (Job& job : jobs) {
    const bool has_output = !job.first.output.empty() && job.first.skipped.empty();
    const auto owner = has_output ? owners.find(job.first.output) : owners.end();
    if (owner == owners.end()) {
      if (has_output) owners.emplace(job.first.output, kept.size());
      kept.push_back(std::move(job));
      continue;
    }
    std::vector<Step>& others = kept[owner->second].others;
    others.push_back(std::move(job.first));
    for (Step& other : job.others) others.push_back(std::move(other));
  }
  jobs = std::move(kept);
}

class Planner {
public:
  explicit Planner(const CommandLine& line) : line_(line) {}

  void add(tool::FoundFile file) {
    if (file.kind == Kind::folder) {
      if (is_mirror(line_) && !file.place.empty() && !leads_outside(file.place))
        plan_.folders.push_back(std::move(file));
      return;
    }
    Step step{.file = std::move(file), .output = {}, .failure = {}, .skipped = {}};
    switch (step.file.kind) {
    case Kind::symbolic_link: step.skipped = "symbolic link"; break;
    case Kind::special: step.skipped = step.file.what; break;
    case Kind::failure: step.failure = step.file.what; break;
    default: break;
    }
    if (is_mirror(line_)) place(step);
    if (step.file.kind != Kind::regular || !step.failure.empty()) {
      plan_.jobs.push_back({std::move(step), {}});
      return;
    }
    const auto [job, is_new] = by_id_.emplace(step.file.id, plan_.jobs.size());
    if (is_new)
      plan_.jobs.push_back({std::move(step), {}});
    else
      plan_.jobs[job->second].others.push_back(std::move(step));
  }

  Plan take() {
    OutputLinks links(line_.output);
    for (Job& job : plan_.jobs) {
      check_target(job.first, links);
      for (Step& other : job.others) check_target(other, links);
    }
    return std::move(plan_);
  }

private:
  /// What is in the place of the output must be a file that may be replaced.
  void check_target(Step& step, OutputLinks& links) const {
    struct stat old {};
    if (!step.output.empty() && step.failure.empty() && links.is_on_the_way(step.output))
      step.failure = "an output directory already exists as a symbolic link";
    if (step.output.empty() || !step.failure.empty() || ::lstat(step.output.c_str(), &old) != 0) return;
    if (by_id_.contains({old.st_dev, old.st_ino}))
      step.failure = "the output would overwrite an input";
    else if (step.file.kind == Kind::regular ? !S_ISREG(old.st_mode) : S_ISDIR(old.st_mode))
      step.failure = "the output path exists and is not a regular file";
  }

  /// Chooses the output; each file has its own.
  void place(Step& step) {
    if (step.file.kind == Kind::failure) return;
    if (leads_outside(step.file.place)) {
      step.failure = "its path leads outside the output directory";
      return;
    }
    step.output = (std::filesystem::path(line_.output) / step.file.place).string();
    const auto [owner, is_new] = owners_.emplace(step.output, step.file.id);
    if (!is_new && owner->second != step.file.id)
      step.failure = "another input has the same path in the output directory";
  }

  const CommandLine& line_;
  Plan plan_;
  std::map<elf::File::Id, std::size_t> by_id_;
  std::map<std::string, elf::File::Id> owners_;
};

} // namespace

OutputLinks::OutputLinks(const std::string& folder) : base_size_(folder.size()) {}

bool OutputLinks::is_on_the_way(const std::string& path) {
  const std::size_t end = path.rfind('/');
  if (end == std::string::npos || end <= base_size_) return false;
  std::string folder = path.substr(0, end);
  if (const auto known = known_.find(folder); known != known_.end()) return known->second;
  struct stat info {};
  const bool is_linked =
      is_on_the_way(folder) || (::lstat(folder.c_str(), &info) == 0 && S_ISLNK(info.st_mode));
  return known_.emplace(std::move(folder), is_linked).first->second;
}

bool is_mirror(const CommandLine& line) {
  return !line.in_place && line.emit == Emit::elf;
}

Plan make_plan(const CommandLine& line, std::vector<tool::FoundFile> found) {
  Planner planner(line);
  for (tool::FoundFile& file : found) planner.add(std::move(file));
  Plan plan = planner.take();
  if (goes_by_build_id(line.emit)) join_by_build_id(line, plan.jobs);
  return plan;
}

} // namespace sframe::gen
