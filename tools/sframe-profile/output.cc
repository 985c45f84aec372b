// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "output.h"

#include "sframe/base/text.h"
#include "sframe/profile/formats.h"
#include "sframe/profile/names.h"

#include <cstdio>

namespace sframe::profile_tool {

namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string title_of(const Options& options, const profile::Recording& recording) {
  if (!options.file.empty()) return options.file == "-" ? "standard input" : options.file;
  if (options.record.all) return "all processes";
  if (!options.record.command.empty()) return options.record.command.front();
  return recording.processes.empty() ? "process " + std::to_string(options.record.pids.front())
                                     : recording.processes.front().name;
}

void report_cost(tool::Messages& messages, const profile::Recording& recording) {
  if (recording.own_time == 0 && recording.own_memory == 0) return;
  std::string text = "own cost:";
  char number[64];
  if (recording.own_time != 0) {
    std::snprintf(number, sizeof number, " %.1f ms of processor time",
                  static_cast<double>(recording.own_time) / 1e6);
    text += number;
  }
  if (recording.making_time != 0) {
    std::snprintf(number, sizeof number, " (and %.1f ms for the making of tables)",
                  static_cast<double>(recording.making_time) / 1e6);
    text += number;
  }
  if (recording.own_memory != 0) {
    std::snprintf(number, sizeof number, "%s %.1f MB of memory", recording.own_time != 0 ? "," : "",
                  static_cast<double>(recording.own_memory) / 1e6);
    text += number;
  }
  messages.note({}, text);
}

/// Why nothing was recorded.
std::string why_empty(const profile::Recording& recording) {
  const bool is_cpu = recording.event == "cpu";
  if (!recording.command.empty() && (is_cpu || recording.event == "wall"))
    return ": " + recording.command.front() +
           " has ended, or only waited, before its first sample (-F takes more of them" +
           (is_cpu ? ", -e off-cpu records who waits)" : ")");
  if (is_cpu) return ": no processor was used (-e off-cpu records who waits)";
  if (recording.event == "off-cpu" || recording.event == "wall") return ": no thread has waited";
  return ": the event did not happen";
}

/// Returns the exit code.
int report(tool::Messages& messages, const std::string& file, const profile::Recording& recording,
           const profile::Names& names) {
  const profile::Summary summary = profile::summarize(recording);
  for (std::size_t i = 0; i < recording.files.size(); ++i)
    if (const profile::NamedFile& named = names.files[i]; named.unnamed != 0)
      messages.detail(recording.files[i].path,
                      "no names for " + counted(named.unnamed, "location") +
                          (named.problem.empty() ? std::string() : ": " + named.problem));
  if (summary.samples != 0) {
    std::string text = counted(summary.samples, "sample") + ": " + with_commas(summary.complete) +
                       " with complete stacks (" + percent(summary.complete, summary.samples) + ")";
    if (summary.guessed != 0) text += ", " + with_commas(summary.guessed) + " with guessed frames";
    messages.note(file, text);
  }
  for (const auto& [reason, count] : summary.cut)
    messages.warning(file, counted(count, "stack") + " cut: " + reason);
  for (const auto& [cause, count] : recording.lost)
    messages.warning(file, counted(count, "sample") + " lost: " + cause);
  report_cost(messages, recording);
  return summary.complete == summary.samples && summary.lost == 0 ? tool::exit_ok : tool::exit_findings;
}

} // namespace

int write_profile(tool::App& app, const Options& options, const profile::Recording& recording, bool is_own,
                  tool::Output& out) {
  if (recording.samples.empty()) {
    for (const auto& [cause, count] : recording.lost)
      app.messages().warning(options.file, counted(count, "sample") + " lost: " + cause);
    app.messages().error(options.file, "no samples" + (is_own ? why_empty(recording) : std::string()));
    return tool::exit_failure;
  }
  const profile::Names names =
      profile::look_up_names(recording, {.files = options.record.files,
                                         .style = options.names.value_or(names::NameStyle::shortened),
                                         .names = !options.no_names,
                                         .lines = options.lines && !options.no_names,
                                         .is_own = is_own,
                                         .trusts_paths = options.trust == files::FileTrust::all});
  const profile::Subject subject{recording, names, title_of(options, recording)};
  profile::find_format(options.format)->write(subject, [&](std::string_view text) { out << text; });
  return report(app.messages(), options.file, recording, names);
}

} // namespace sframe::profile_tool
