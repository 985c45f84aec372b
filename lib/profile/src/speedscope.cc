// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A "sampled" profile for each thread. The schema has frames in one list, and each sample with all of its
// frames, outermost first; so samples of a thread that follow one another with the same stack are one.

#include "json.h"
#include "threads.h"

#include "sframe/profile/formats.h"

#include <map>
#include <ranges>

namespace sframe::profile {

namespace {

class Speedscope {
public:
  Speedscope(const Subject& subject, llvm::raw_ostream& to)
      : subject_(subject), recording_(subject.recording), names_(subject.names), json_(to) {}

  void write() {
    json_.object([&] {
      json_.attribute("$schema", "https://www.speedscope.app/file-format-schema.json");
      write_text(json_, "name", subject_.title);
      json_.attribute("exporter", "sframe-profile");
      json_.attribute("activeProfileIndex", 0);
      json_.attributeObject("shared", [&] { write_frames(); });
      write_list(json_, "profiles", samples_by_thread(recording_),
                 [&](const ThreadSamples& thread) { json_.object([&] { write_thread(thread); }); });
    });
  }

private:
  std::uint64_t weight_of(const Sample& sample) const {
    const bool is_time = recording_.unit == Unit::samples && recording_.period != 0;
    return sample.weight * (is_time ? recording_.period : 1);
  }

  const char* unit() const {
    if (recording_.unit == Unit::events) return "none";
    return recording_.unit == Unit::samples && recording_.period == 0 ? "none" : "nanoseconds";
  }

  /// A frame is a function: its line differs from stack to stack.
  void write_frames() {
    write_list(json_, "frames", names_.functions, [&](const Function& function) {
      json_.object([&] {
        write_text(json_, "name", function.name);
        if (!function.file.empty()) write_text(json_, "file", function.file);
      });
    });
  }

  void write_thread(const ThreadSamples& thread) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> runs;
    std::uint64_t sum = 0;
    for (const Sample* sample : thread.samples) {
      if (runs.empty() || runs.back().first != sample->stack) runs.emplace_back(sample->stack, 0);
      runs.back().second += weight_of(*sample);
      sum += weight_of(*sample);
    }
    json_.attribute("type", "sampled");
    write_text(json_, "name", thread_title(recording_, thread.thread));
    json_.attribute("unit", unit());
    json_.attribute("startValue", 0);
    json_.attribute("endValue", sum);
    write_list(json_, "samples", runs,
               [&](const auto& run) { json_.array([&] { write_stack(recording_.stacks[run.first]); }); });
    write_list(json_, "weights", runs, [&](const auto& run) { json_.value(run.second); });
  }

  void write_stack(const Stack& stack) {
    for (const std::uint32_t location : stack.locations | std::views::reverse)
      for (const Line& line : names_.of(location) | std::views::reverse) json_.value(line.function);
  }

  const Subject& subject_;
  const Recording& recording_;
  const Names& names_;
  OStream json_;
};

} // namespace

void write_speedscope(const Subject& subject, const Sink& to) {
  SinkStream stream(to);
  Speedscope(subject, stream).write();
  stream << '\n';
}

} // namespace sframe::profile
