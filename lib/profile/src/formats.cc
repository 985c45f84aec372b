// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/profile/formats.h"

#include "sframe/profile/flame_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>

namespace sframe::profile {

namespace {

constexpr std::array<Format, 7> all_formats = {{{"pprof", write_pprof, false},
                                                {"folded", write_stacks, true},
                                                {"svg", write_svg, false},
                                                {"html", write_html, false},
                                                {"speedscope", write_speedscope, false},
                                                {"firefox", write_firefox, false},
                                                {"perf", write_perf_script, true}}};

/// The frames of a stack, with ';' before each, outermost first.
std::string frames_of(const Subject& subject, const Stack& stack) {
  std::string text;
  for (const std::uint32_t location : stack.locations | std::views::reverse)
    for (const Line& line : subject.names.of(location) | std::views::reverse) {
      const Function& function = subject.names.functions[line.function];
      text += ';' + folded_name(function.name);
      if (function.is_kernel && function.is_named) text += "_[k]";
    }
  return text;
}

} // namespace

const Format* find_format(std::string_view name) {
  const auto* const at = std::ranges::find(all_formats, name, &Format::name);
  return at == all_formats.end() ? nullptr : at;
}

Summary summarize(const Recording& recording) {
  Summary summary;
  std::vector<std::uint64_t> samples(recording.stacks.size());
  for (const Sample& sample : recording.samples)
    if (sample.stack < samples.size()) ++samples[sample.stack];
  std::map<std::string, std::uint64_t> reasons;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Stack& stack = recording.stacks[i];
    const End* const end = stack.end == none ? nullptr : &recording.ends[stack.end];
    const auto is_guess = [&](std::uint32_t location) { return recording.locations[location].guessed; };
    summary.samples += samples[i];
    if (stack.locations.empty()) summary.empty += samples[i];
    if (std::ranges::any_of(stack.locations, is_guess)) summary.guessed += samples[i];
    if (end && end->complete)
      summary.complete += samples[i];
    else if (samples[i] != 0)
      reasons[end ? end->reason : "not known"] += samples[i];
  }
  summary.cut.assign(reasons.begin(), reasons.end());
  std::ranges::stable_sort(summary.cut, std::greater(), &std::pair<std::string, std::uint64_t>::second);
  for (const auto& [cause, count] : recording.lost) summary.lost += count;
  return summary;
}

StackCounts count_stacks(const Subject& subject) {
  const Recording& recording = subject.recording;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> weights; // by stack and thread
  for (const Sample& sample : recording.samples) weights[{sample.stack, sample.thread}] += sample.weight;
  StackCounts counts;
  std::string frames;
  std::uint32_t last = none;
  for (const auto& [of, weight] : weights) {
    const auto [stack, thread] = of;
    if (stack != last) frames = frames_of(subject, recording.stacks[stack]);
    last = stack;
    std::string name = thread == none ? std::string() : recording.threads[thread].name;
    if (name.empty()) name = "[unknown]";
    counts[folded_name(name) + frames].all += weight;
  }
  if (recording.unit == Unit::nanoseconds)
    for (auto& [stack, count] : counts) count.all = (count.all + 500) / 1000;
  std::erase_if(counts, [](const auto& count) { return count.second.all == 0; });
  return counts;
}

std::string_view unit_of(const Recording& recording) {
  switch (recording.unit) {
  case Unit::samples: return "sample";
  case Unit::nanoseconds: return "microsecond";
  case Unit::events: return "event";
  }
  return "sample";
}

void write_stacks(const Subject& subject, const Sink& to) {
  write_folded(count_stacks(subject), to);
}

void write_svg(const Subject& subject, const Sink& to) {
  draw_flame_graph(count_stacks(subject),
                   {.name = subject.title, .samples = 0, .unit = unit_of(subject.recording)}, to);
}

} // namespace sframe::profile
