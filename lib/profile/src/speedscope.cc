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
  Speedscope(const Subject& subject, const Sink& to)
      : subject_(subject), recording_(subject.recording), names_(subject.names), json_(to) {}

  void write() {
    json_.open('{');
    json_.member("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.member("name", subject_.title);
    json_.member("exporter", "sframe-profile");
    json_.member("activeProfileIndex", 0u);
    write_frames();
    json_.open("profiles", '[');
    for (const ThreadSamples& thread : samples_by_thread(recording_)) write_thread(thread);
    json_.close(']').close('}').finish();
  }

private:
  std::uint64_t weight_of(const Sample& sample) const {
    const bool is_time = recording_.unit == Unit::samples && recording_.period != 0;
    return sample.weight * (is_time ? recording_.period : 1);
  }

  std::string_view unit() const {
    if (recording_.unit == Unit::events) return "none";
    return recording_.unit == Unit::samples && recording_.period == 0 ? "none" : "nanoseconds";
  }

  /// A frame is a function: its line differs from stack to stack.
  void write_frames() {
    json_.open("shared", '{').open("frames", '[');
    for (const Function& function : names_.functions) {
      json_.open('{').member("name", function.name);
      if (!function.file.empty()) json_.member("file", function.file);
      json_.close('}');
    }
    json_.close(']').close('}');
  }

  void write_thread(const ThreadSamples& thread) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> runs;
    std::uint64_t sum = 0;
    for (const Sample* sample : thread.samples) {
      if (runs.empty() || runs.back().first != sample->stack) runs.emplace_back(sample->stack, 0);
      runs.back().second += weight_of(*sample);
      sum += weight_of(*sample);
    }
    json_.open('{').member("type", "sampled").member("name", thread_title(recording_, thread.thread));
    json_.member("unit", unit()).member("startValue", 0u).member("endValue", sum);
    json_.open("samples", '[');
    for (const auto& [stack, weight] : runs) write_stack(recording_.stacks[stack]);
    json_.close(']').open("weights", '[');
    for (const auto& [stack, weight] : runs) json_.value(weight);
    json_.close(']').close('}');
  }

  void write_stack(const Stack& stack) {
    json_.open('[');
    for (const std::uint32_t location : stack.locations | std::views::reverse)
      for (const Line& line : names_.of(location) | std::views::reverse) json_.value(line.function);
    json_.close(']');
  }

  const Subject& subject_;
  const Recording& recording_;
  const Names& names_;
  Json json_;
};

} // namespace

void write_speedscope(const Subject& subject, const Sink& to) {
  Speedscope(subject, to).write();
}

} // namespace sframe::profile
