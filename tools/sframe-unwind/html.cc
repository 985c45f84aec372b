// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page: the JSON of json.cc as its data, with only the ends of deep stacks.

#include "printer.h"

#include "sframe/base/text.h"
#include "sframe/crash/headline.h"
#include "sframe/page/page.h"

#include <deque>
#include <utility>

namespace sframe::unwind_tool {

namespace {

constexpr std::string_view program = "sframe-unwind";

class HtmlPrinter final : public Printer {
public:
  HtmlPrinter(tool::Output& out, Symbolizer& symbolizer, const PrintSettings& settings, std::string path)
      : out_(out), json_(make_json_printer(memory_, symbolizer, settings)), path_(std::move(path)) {}

  void begin(process::ProcessState& process, const CoreHeader* core) override {
    out_ << page::page_start(program, core ? crash_title(process, *core) : live_title(process));
    json_->begin(process, core);
    if (core) name_core();
    pass_on();
  }

  void begin_thread(std::span<const process::Thread* const> threads) override {
    begin_stack();
    json_->begin_thread(threads);
    pass_on();
  }

  void python(const languages::PythonStack& stack) override {
    json_->python(stack);
    pass_on();
  }

  void begin_goroutine(std::span<const languages::Goroutine* const> goroutines) override {
    begin_stack();
    json_->begin_goroutine(goroutines);
    pass_on();
  }

  void running_goroutine(const languages::Goroutine& goroutine) override {
    json_->running_goroutine(goroutine);
    pass_on();
  }

  void frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    if (frames_++ < most_first_) {
      print(frame, registers);
      return;
    }
    last_.emplace_back(frame, registers);
    if (last_.size() <= most_last_) return;
    last_.pop_front();
    ++left_out_;
  }

  void comparison(std::span<const unwind::StepperComparison>) override {}

  void end_thread(const unwind::WalkEnd& end) override {
    if (left_out_) json_->left_out(left_out_);
    for (const auto& [frame, registers] : std::exchange(last_, {})) print(frame, registers);
    json_->end_thread(end);
    pass_on();
  }

  void end(process::ProcessState& process) override {
    json_->end(process);
    pass_on();
    out_ << page::page_end(page::Kind::unwind);
  }

private:
  static constexpr std::uint64_t most_frames = 20'000; ///< of all threads; the others have few

  /// What happened, where.
  static std::string crash_title(const process::ProcessState& process, const CoreHeader& core) {
    std::string said = core.thrown ? core.thrown->type : std::string();
    if (core.thrown && !core.thrown->message.empty())
      said += (said.empty() ? "" : ": ") + core.thrown->message;
    const auto& frames = core.signature.frames;
    const std::string function = !core.places.empty() ? core.places.front().function
                                 : frames.empty()     ? std::string()
                                                      : frames.front();
    return crash::headline(process.name(), process.signal(), core.crash, said, function);
  }

  static std::string live_title(const process::ProcessState& process) {
    const std::size_t threads = process.threads().size();
    return std::string(process.name()) + ": process " + std::to_string(process.pid()) + ", " +
           counted(threads, "thread");
  }

  /// Adds the key of several cores to the document.
  void name_core() {
    std::string document = memory_.take_text();
    memory_ << "{\n \"core\": ";
    memory_.json_string(path_) << ',';
    memory_ << std::string_view(document).substr(1);
  }

  void begin_stack() {
    frames_ = left_out_ = 0;
    const bool few_are_left = all_frames_ >= most_frames;
    most_first_ = few_are_left ? 10 : 400;
    most_last_ = few_are_left ? 10 : 100;
  }

  void print(const unwind::Frame& frame, const unwind::Registers& registers) {
    ++all_frames_;
    json_->frame(frame, registers);
    pass_on();
  }

  void pass_on() { out_ << page::script_json(memory_.take_text()); }

  tool::Output& out_;
  tool::Output memory_{-1};
  std::unique_ptr<Printer> json_;
  std::string path_;                        ///< of the core
  std::uint64_t all_frames_ = 0;            ///< printed, of all threads
  std::uint64_t frames_ = 0, left_out_ = 0; ///< of this thread
  std::uint64_t most_first_ = 0, most_last_ = 0;
  std::deque<std::pair<unwind::Frame, unwind::Registers>> last_; ///< the outermost so far
};

} // namespace

std::unique_ptr<Printer> make_html_printer(tool::Output& out, Symbolizer& symbolizer,
                                           const PrintSettings& settings, std::string path) {
  return std::make_unique<HtmlPrinter>(out, symbolizer, settings, std::move(path));
}

void print_failure(tool::Output& out, const OutputFormat& format, std::string_view file, const Problem& why) {
  if (&format == &json_format) print_json_failure(out, file, why);
  if (&format != &html_format) return;
  tool::Output json(-1);
  print_json_failure(json, file, why);
  out << page::page_start(program, file) << page::script_json(json.text())
      << page::page_end(page::Kind::unwind);
}

} // namespace sframe::unwind_tool
