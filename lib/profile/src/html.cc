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

void write_summary(OStream& json, const Recording& recording) {
  const Summary summary = summarize(recording);
  write_text(json, "event", recording.event);
  write_text(json, "unit", unit_of(recording));
  json.attribute("period_ns", recording.period);
  json.attribute("start_ns", recording.start);
  json.attribute("duration_ns", recording.duration);
  json.attribute("samples", summary.samples);
  json.attribute("complete", summary.complete);
  json.attribute("guessed", summary.guessed);
  json.attribute("own_time_ns", recording.own_time);
  json.attribute("own_memory", recording.own_memory);
  const auto write_causes = [&](const char* key, const auto& causes) {
    write_list(json, key, causes, [&](const auto& cause) {
      json.object([&] {
        write_text(json, "cause", cause.first);
        json.attribute("count", cause.second);
      });
    });
  };
  write_causes("cut", summary.cut);
  write_causes("lost", recording.lost);
}

void write_functions(OStream& json, const Subject& subject) {
  const std::vector<Total> totals = totals_of(subject);
  std::vector<std::uint32_t> order(totals.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t i) { return totals[i].self; });
  write_list(json, "functions", order | std::views::take(most_functions), [&](std::uint32_t i) {
    json.object([&] {
      write_text(json, "name", subject.names.functions[i].name);
      write_text(json, "file", subject.names.functions[i].file);
      json.attribute("self", totals[i].self);
      json.attribute("total", totals[i].total);
    });
  });
  json.attribute("all_functions", order.size());
}

void write_files(OStream& json, const Subject& subject) {
  auto named = subject.names.files.begin();
  write_list(json, "files", subject.recording.files, [&](const File& file) {
    json.object([&] {
      write_text(json, "path", file.path);
      json.attribute("has_names", named->has_names);
      json.attribute("has_lines", named->has_lines);
      write_text(json, "problem", named->problem);
      ++named;
    });
  });
}

void write_data(OStream& json, const Subject& subject) {
  write_text(json, "title", subject.title);
  write_summary(json, subject.recording);
  write_list(json, "threads", samples_by_thread(subject.recording), [&](const ThreadSamples& thread) {
    json.object([&] {
      write_text(json, "name", thread_title(subject.recording, thread.thread));
      json.attribute("pid", pid_of(subject.recording, thread.thread));
      json.attribute("samples", thread.samples.size());
      json.attribute("weight", thread.weight);
    });
  });
  write_functions(json, subject);
  write_files(json, subject);
  write_list(json, "stacks", count_stacks(subject), [&](const auto& counted) {
    json.array([&] {
      write_text(json, counted.first);
      json.value(counted.second.all);
    });
  });
}

} // namespace

void write_html(const Subject& subject, const Sink& to) {
  to(page::page_start("sframe-profile", subject.title));
  const Sink escaped = [&](std::string_view text) { to(page::script_json(text)); };
  {
    SinkStream stream(escaped);
    OStream json(stream);
    json.object([&] { write_data(json, subject); });
    stream << '\n';
  }
  to(page::page_end(page::Kind::profile));
}

} // namespace sframe::profile
