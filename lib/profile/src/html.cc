// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page: its data is the folded stacks, the functions' totals, and what is missing (docs/reports.md).

#include "json.h"
#include "threads.h"

#include "sframe/page/page.h"
#include "sframe/profile/formats.h"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

namespace sframe::profile {

namespace {

constexpr std::size_t most_functions = 2000; ///< in the table; the flame graph has all

struct Total {
  std::uint64_t self = 0, total = 0;
};

/// By function: of samples whose innermost frame it is, and of those with a frame of it.
std::vector<Total> totals_of(const Subject& subject) {
  const Recording& recording = subject.recording;
  std::vector<std::uint64_t> weights(recording.stacks.size());
  for (const Sample& sample : recording.samples) weights[sample.stack] += sample.weight;
  std::vector<Total> totals(subject.names.functions.size());
  std::vector<std::uint32_t> counted_in(totals.size(), none); // the last stack that counted
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    bool is_first = true;
    for (const std::uint32_t location : recording.stacks[i].locations)
      for (const Line& line : subject.names.of(location)) {
        Total& total = totals[line.function];
        if (is_first) total.self += weights[i];
        is_first = false;
        if (std::exchange(counted_in[line.function], i) != i) total.total += weights[i];
      }
  }
  return totals;
}

void write_summary(Json& json, const Recording& recording) {
  const Summary summary = summarize(recording);
  json.member("event", recording.event).member("unit", unit_of(recording));
  json.member("period_ns", recording.period).member("start_ns", recording.start);
  json.member("duration_ns", recording.duration).member("samples", summary.samples);
  json.member("complete", summary.complete).member("guessed", summary.guessed);
  json.member("own_time_ns", recording.own_time).member("own_memory", recording.own_memory);
  const auto write_causes = [&](std::string_view name, const auto& causes) {
    json.open(name, '[');
    for (const auto& [cause, count] : causes)
      json.open('{').member("cause", cause).member("count", count).close('}');
    json.close(']');
  };
  write_causes("cut", summary.cut);
  write_causes("lost", recording.lost);
}

void write_functions(Json& json, const Subject& subject) {
  const std::vector<Total> totals = totals_of(subject);
  std::vector<std::uint32_t> order(totals.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t i) { return totals[i].self; });
  json.open("functions", '[');
  for (const std::uint32_t i : order | std::views::take(most_functions)) {
    const Function& function = subject.names.functions[i];
    json.open('{').member("name", function.name).member("file", function.file);
    json.member("self", totals[i].self).member("total", totals[i].total).close('}');
  }
  json.close(']').member("all_functions", order.size());
}

void write_files(Json& json, const Subject& subject) {
  json.open("files", '[');
  for (std::size_t i = 0; i < subject.recording.files.size(); ++i) {
    const NamedFile& named = subject.names.files[i];
    json.open('{').member("path", subject.recording.files[i].path);
    json.key("has_names").flag(named.has_names).key("has_lines").flag(named.has_lines);
    json.member("problem", named.problem).close('}');
  }
  json.close(']');
}

} // namespace

void write_html(const Subject& subject, const Sink& to) {
  to(page::page_start("sframe-profile", subject.title));
  const Sink escaped = [&](std::string_view text) { to(page::script_json(text)); };
  Json json(escaped);
  json.open('{').member("title", subject.title);
  write_summary(json, subject.recording);
  json.open("threads", '[');
  for (const ThreadSamples& thread : samples_by_thread(subject.recording)) {
    json.open('{').member("name", thread_title(subject.recording, thread.thread));
    json.member("pid", pid_of(subject.recording, thread.thread));
    json.member("samples", thread.samples.size()).member("weight", thread.weight).close('}');
  }
  json.close(']');
  write_functions(json, subject);
  write_files(json, subject);
  json.open("stacks", '[');
  for (const auto& [stack, count] : count_stacks(subject))
    json.open('[').value(stack).value(count.all).close(']');
  json.close(']').close('}').finish();
  to(page::page_end(page::Kind::profile));
}

} // namespace sframe::profile
