// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ManyCores walks each core twice at most: walk() on any thread, for the signature, and print_example() for
// the first core of each group, so that no printed text is kept. take() gets the results in the order of the
// command line (core_result.h).

#include "run.h"

#include "core_result.h"
#include "core_walk.h"
#include "folded.h"
#include "keep.h"
#include "printer.h"
#include "sframe/base/text.h"
#include "stack_tree.h"
#include "threads.h"

#include "sframe/base/budget.h"
#include "sframe/base/parallel.h"
#include "sframe/base/printable.h"
#include "sframe/base/problem.h"
#include "sframe/crash/signature.h"
#include "sframe/tool/process_limits.h"
#include "sframe/tool/progress.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

namespace {

/// A JSON document in one line, with the core's path as its first key. Line breaks in strings are escaped.
std::string one_line(std::string_view document, const std::string& path) {
  tool::Output name(-1);
  name << "{\"core\": ";
  name.json_string(path) << ", ";
  std::string line = name.text();
  document.remove_prefix(std::min(document.find_first_not_of("{\n "), document.size()));
  while (!document.empty()) {
    const std::size_t end = std::min(document.find('\n'), document.size());
    line += document.substr(0, end);
    document.remove_prefix(end);
    document.remove_prefix(std::min(document.find_first_not_of("\n "), document.size()));
    if (line.ends_with(',') && !document.empty()) line += ' ';
  }
  return line + '\n';
}

/// The innermost frames of a stack for a tree, if one is wanted. Repeated functions count once, so that the
/// depth of a recursion has no effect. The trees of all cores are kept until the end: their text is limited,
/// so that small cores with long names do not take much memory.
class TreeFrames final : public unwind::FrameReceiver {
public:
  explicit TreeFrames(Symbolizer* symbolizer) : symbolizer_(symbolizer) {}

  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    if (!symbolizer_) return true;
    StackTree::Frame next = StackTree::frame_of(frame, symbolizer_->symbolize(frame));
    if (!frames.empty() && frames.back().function == next.function && frames.back().module == next.module) {
      frames.back().offset.reset();
      return true;
    }
    if (is_full_) return true;
    next.function = shown_name(next.function);
    next.module = shown_name(next.module);
    text_ += next.function.size() + next.module.size();
    is_full_ = frames.size() == most || text_ > most_text;
    frames.push_back(is_full_ ? StackTree::Frame{"more frames", {}, {}} : std::move(next));
    return true;
  }

  std::vector<StackTree::Frame> frames; ///< innermost first

private:
  static constexpr std::size_t most = 256, most_text = 64 << 10;
  Symbolizer* symbolizer_; ///< nullptr: no tree is wanted
  std::size_t text_ = 0;
  bool is_full_ = false;
};

struct Group {
  std::string signature;
  std::vector<std::string> frames;
  std::int32_t signal = 0;
  std::vector<std::string> programs; ///< the first ones
  std::vector<std::size_t> cores;    ///< numbers in ManyCores::list_
};

class ManyCores {
public:
  ManyCores(tool::App& app, const Options& options, tool::Output& out, tool::InputList list)
      : app_(app), options_(options), out_(out), list_(std::move(list)),
        json_(options.format == &json_format) {}

  int run() {
    if (list_.files.empty()) {
      app_.messages().error({}, "no files in the directories and lists given");
      return tool::exit_failure;
    }
    walk_all();
    std::ranges::stable_sort(groups_,
                             [](const Group& a, const Group& b) { return a.cores.size() > b.cores.size(); });
    if (repeated_)
      app_.messages().warning({}, std::to_string(repeated_) +
                                      " more warnings like these (--verbose prints them)");
    if (json_)
      print_summary();
    else if (options_.format->counts)
      print_all_counts();
    else
      print_groups();
    if (walked_ == 0 && failed_ == 0) app_.messages().error({}, "none of the files is a core");
    if (walked_ == 0) return tool::exit_failure;
    return failed_ || wrong_ ? tool::exit_findings : tool::exit_ok;
  }

private:
  using Lane = std::unique_ptr<SharedFiles>; ///< of one thread

  void walk_all() {
    tool::Progress progress(app_.messages(), list_.files.size(), "cores");
    InOrder order([this](std::size_t number, CoreResult& result) { take(number, result); });
    const auto make_lane = [] { return std::make_unique<SharedFiles>(); };
    for_each_parallel(list_.files.size(), app_.threads(), make_lane, [&](std::size_t number, Lane& lane) {
      try {
        CoreResult result;
        tool::begin_file();
        if (!out_failed_) walk(list_.files[number], lane, result);
        order.deliver(number, std::move(result));
      } catch (...) {
        order.give_up();
        throw;
      }
      progress.step();
    });
  }

  /// On any thread.
  void walk(const tool::InputFile& input, Lane& lane, CoreResult& result) const {
    const std::string& path = input.path;
    const auto failed = [&](const std::string& why) {
      result.state = CoreResult::State::failed;
      result.messages.error(path, why);
      if (!json_) return;
      tool::Output document(-1);
      print_failure(document, *options_.format, path, {why, {}, {}});
      result.json = one_line(document.text(), path);
    };
    if (!input.failure.empty()) return failed(input.failure);
    const bool in_tree = is_tree(options_.inputs);
    const FileKind kind = kind_of(path);
    if (in_tree && kind != FileKind::core && kind != FileKind::packed)
      return result.messages.detail(path, "skipped: not a core file");
    const auto core = core::CoreFile::open(path, app_.limits());
    if (!core && in_tree && kind == FileKind::packed && core.error().what.starts_with("not a"))
      return result.messages.detail(path, "skipped: not a core file");
    if (!core) return failed(core.error().text());
    if (core->damaged()) {
      result.messages.warning(path, "compressed file is damaged or truncated");
      result.wrong = true;
    }
    bool is_limit_reached = false;
    {
      CoreWalk walk(options_, path, *core, app_.limits(), lane.get());
      if (const auto failure = walk.open()) {
        walk.report(result.messages);
        return failed(failure->what);
      }
      result.state = CoreResult::State::walked;
      result.wrong |= !walk_threads_of(walk, path, result);
      result.wrong |= walk.report(result.messages);
      keep_generated(result.messages, options_, walk.process());
      is_limit_reached = walk.process().space().budget()->is_used_up();
    }
    // What was not read for this core may be needed for the next.
    if (is_limit_reached || lane->files->size() > SharedFiles::most) lane = std::make_unique<SharedFiles>();
  }

  /// True if all walks were complete.
  bool walk_threads_of(CoreWalk& walk, const std::string& path, CoreResult& result) const {
    if (json_) return walk_to_json(walk, path, result);
    return options_.format->counts ? count_first(walk, result) : walk_first(walk, result);
  }

  bool walk_to_json(CoreWalk& walk, const std::string& path, CoreResult& result) const {
    tool::Output document(-1);
    const auto printer = make_json_printer(document, walk.symbolizer(), print_settings(app_, options_));
    CoreHeader header = walk.header(crash::origin_of(path));
    walk.find_packages(header, installed_);
    printer->begin(walk.process(), &header);
    const bool complete = walk_threads(walk.threads(), walk.process(), walk.walker(), options_, *printer,
                                       document, walk.languages(), nullptr);
    printer->end(walk.process());
    describe(walk, header.signature, result);
    result.json = one_line(document.text(), path);
    return complete;
  }

  /// Only the thread that died: what is printed of a group follows later, from one of its cores.
  bool walk_first(CoreWalk& walk, CoreResult& result) const {
    describe(walk, walk.signature(), result);
    walk.walker().set_max_frames(options_.max_frames);
    TreeFrames frames(options_.group ? &walk.symbolizer() : nullptr);
    const unwind::WalkEnd end = walk.walker().walk(walk.threads().front()->frame(), frames);
    result.frames = std::move(frames.frames);
    return end.complete;
  }

  /// The thread that died, counted. True if its walk was complete.
  bool count_first(CoreWalk& walk, CoreResult& result) const {
    walk.walker().set_max_frames(options_.max_frames);
    FoldedStacks stacks(walk.symbolizer());
    const bool complete = walk_threads(walk.threads().first(1), walk.process(), walk.walker(), options_,
                                       stacks, tool::Output(-1), nullptr, nullptr);
    result.counts = stacks.counts();
    result.cut = stacks.cut();
    return complete;
  }

  static void describe(CoreWalk& walk, crash::Signature signature, CoreResult& result) {
    result.signature = std::move(signature);
    result.signal = walk.process().signal();
    result.program = walk.process().name();
  }

  /// In the order of the cores, one at a time.
  void take(std::size_t number, CoreResult& result) {
    using State = CoreResult::State;
    for (const KeptMessages::Message& message : result.messages.all) print(message, list_.files[number].path);
    wrong_ |= result.wrong;
    walked_ += result.state == State::walked;
    failed_ += result.state == State::failed;
    skipped_ += result.state == State::skipped;
    out_ << result.json;
    out_failed_ = out_.failed();
    if (result.state != State::walked) return;
    for (const auto& [stack, count] : result.counts) counts_[stack].all += count.all;
    for (const auto& [reason, count] : result.cut) cut_[reason] += count;
    if (options_.format->counts) return;
    const auto [at, added] = by_signature_.try_emplace(result.signature.text, groups_.size());
    if (added) groups_.push_back({result.signature.text, {}, result.signal, {}, {}});
    if (added && json_) groups_.back().frames = std::move(result.signature.frames);
    Group& group = groups_[at->second];
    group.cores.push_back(number);
    constexpr std::size_t most_programs = 16;
    if (!result.program.empty() && group.programs.size() < most_programs &&
        std::ranges::find(group.programs, result.program) == group.programs.end())
      group.programs.push_back(std::move(result.program));
    if (!result.frames.empty()) add_stack(number, std::move(result.frames));
  }

  /// For the tree.
  void add_stack(std::size_t core, std::vector<StackTree::Frame> frames) {
    stacks_[std::move(frames)].push_back(core);
  }

  std::string names_of(const std::vector<std::size_t>& cores) const {
    std::vector<std::string> names;
    for (const std::size_t core : cores) names.push_back(list_.files[core].path);
    return shortened_list("", names);
  }

  void print_tree() {
    StackTree tree;
    for (const auto& [frames, cores] : stacks_) {
      tree.begin(cores.size());
      for (const StackTree::Frame& frame : frames | std::views::reverse) tree.add(frame);
      tree.end(names_of(cores));
    }
    tree.print(out_);
  }

  /// A module that is missing is missing for all cores of a program: what is not about the core itself is
  /// printed once.
  void print(const KeptMessages::Message& message, const std::string& core) {
    using Kind = KeptMessages::Kind;
    tool::Messages& messages = app_.messages();
    constexpr std::size_t most = 10'000;
    const bool is_new =
        message.file == core || printed_.size() >= most || printed_.insert(message.what).second;
    if (message.kind == Kind::warning && !is_new && !messages.verbose())
      ++repeated_;
    else if (message.kind == Kind::warning)
      messages.warning(message.file, message.what);
    else if (message.kind == Kind::error)
      messages.error(message.file, message.what);
    else
      messages.detail(message.file, message.what);
  }

  void print_groups() {
    const auto count = [&](std::uint64_t number, std::string_view one, std::string_view several) {
      out_.decimal(number) << ' ' << (number == 1 ? one : several);
    };
    count(walked_, "core", "cores"), out_ << " in ", count(groups_.size(), "group", "groups");
    if (failed_) out_ << "; ", count(failed_, "file", "files"), out_ << " could not be walked";
    out_ << '\n';
    auto lane = std::make_unique<SharedFiles>();
    for (std::size_t i = 0; i < groups_.size() && !out_.failed(); ++i) {
      const Group& group = groups_[i];
      out_ << "\nGroup ";
      out_.decimal(i + 1) << ": ";
      count(group.cores.size(), "core", "cores");
      for (const std::string& program : group.programs) out_ << ", ", out_.safe(program);
      out_ << ", " << core::signal_name(group.signal) << ", signature " << group.signature << "\n ";
      out_ << ' ', out_.safe(names_of(group.cores)) << '\n';
      if (options_.group) continue;
      out_ << '\n';
      print_example(list_.files[group.cores.front()].path, lane);
    }
    if (options_.group) print_tree();
  }

  /// The thread that died, of the first core of a group. Walked once more, so that no text was to be kept.
  void print_example(const std::string& path, std::unique_ptr<SharedFiles>& lane) {
    tool::begin_file();
    const auto core = core::CoreFile::open(path, app_.limits());
    if (!core) return app_.messages().error(path, core.error());
    CoreWalk walk(options_, path, *core, app_.limits(), lane.get());
    if (const auto failure = walk.open()) return app_.messages().error(path, failure->what);
    const auto printer = make_text_printer(out_, walk.symbolizer(), print_settings(app_, options_));
    CoreHeader header = walk.header(crash::origin_of(path));
    walk.find_packages(header, installed_);
    printer->begin(walk.process(), &header);
    walk_threads(walk.threads().first(1), walk.process(), walk.walker(), options_, *printer, out_,
                 walk.languages(), nullptr);
    printer->end(walk.process());
    // Other messages were printed after the first walk, which was without variables and lines.
    if (const auto limit = walk.process().space().budget()->problem()) {
      app_.messages().warning(path, *limit);
      wrong_ = true;
    }
  }

  void print_all_counts() {
    const std::string title = counted(walked_, "core");
    print_counts(*options_.format, counts_, {title}, out_);
    report_cut(app_.messages(), {}, cut_);
  }

  void print_summary() {
    const auto number = [&](std::string_view key, std::uint64_t value) {
      out_ << '"' << key << "\": ";
      out_.decimal(value);
    };
    out_ << "{\"summary\": {", number("cores", walked_ + failed_), out_ << ", ", number("walked", walked_);
    out_ << ", ", number("failed", failed_), out_ << ", ", number("skipped", skipped_ + list_.skipped);
    out_ << "}, \"groups\": [";
    std::string_view before_group;
    for (const Group& group : groups_) {
      out_ << std::exchange(before_group, ", ") << "{\"signature\": \"" << group.signature << "\", ";
      out_ << "\"signal\": ";
      out_.signed_decimal(group.signal) << ", \"names\": [";
      std::string_view before;
      for (const std::string& name : group.programs)
        out_ << std::exchange(before, ", "), out_.json_string(name);
      out_ << "], \"signature_frames\": [";
      before = "";
      for (const std::string& frame : group.frames)
        out_ << std::exchange(before, ", "), out_.json_string(frame);
      out_ << "], ", number("count", group.cores.size()), out_ << ", \"cores\": [";
      before = "";
      for (const std::size_t core : group.cores)
        out_ << std::exchange(before, ", "), out_.json_string(list_.files[core].path);
      out_ << "]}";
    }
    out_ << "]}\n";
  }

  tool::App& app_;
  const Options& options_;
  tool::Output& out_;
  tool::InputList list_;
  const bool json_;
  std::atomic<bool> out_failed_ = false;
  mutable crash::InstalledPackages installed_; ///< of all threads

  // Only of take(), and after all cores were walked.
  struct SamePlaces {
    bool operator()(const std::vector<StackTree::Frame>& a, const std::vector<StackTree::Frame>& b) const {
      return std::ranges::lexicographical_compare(a, b, {}, place_of, place_of);
    }
    static std::tuple<const std::string&, const std::string&, const std::optional<std::uint64_t>&>
    place_of(const StackTree::Frame& frame) {
      return {frame.function, frame.module, frame.offset};
    }
  };
  /// The cores that have a stack, innermost frame first.
  std::map<std::vector<StackTree::Frame>, std::vector<std::size_t>, SamePlaces> stacks_;
  std::vector<Group> groups_; ///< by their first cores
  profile::StackCounts counts_;
  std::map<unwind::StopReason, std::uint64_t> cut_;
  std::map<std::string, std::size_t, std::less<>> by_signature_;
  std::set<std::string, std::less<>> printed_;
  std::uint64_t walked_ = 0, failed_ = 0, skipped_ = 0, repeated_ = 0;
  bool wrong_ = false;
};

} // namespace

int run_many(tool::App& app, const Options& options, tool::Output& out) {
  tool::InputList list = tool::list_files(options.cores, is_tree(options.inputs), app.output_path());
  return ManyCores(app, options, out, std::move(list)).run();
}

} // namespace sframe::unwind_tool
