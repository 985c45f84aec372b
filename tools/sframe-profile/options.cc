// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The declarations in add_options(), then what follows from the options together.

#include "options.h"

#include "event.h"

#include "sframe/elf/file_systems.h"
#include "sframe/profile/formats.h"
#include "sframe/tool/debug_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <unistd.h>

namespace sframe::profile_tool {

namespace {

constexpr auto record_group = "Recording";
constexpr auto files_group = "Finding files";
constexpr auto output_group = "Output";

const tool::Choices<names::NameStyle> name_styles = {
    {"short", names::NameStyle::shortened}, {"full", names::NameStyle::full}, {"raw", names::NameStyle::raw}};

const std::vector<std::string> formats = {"pprof", "folded", "svg", "html", "speedscope", "firefox", "perf"};

struct NameEnd {
  std::string_view end, format;
};
/// What a name of an output ends with; the first that fits counts.
constexpr std::array<NameEnd, 11> name_ends = {{{".pb.gz", "pprof"},
                                                {".pprof", "pprof"},
                                                {".pb", "pprof"},
                                                {".folded", "folded"},
                                                {".collapsed", "folded"},
                                                {".svg", "svg"},
                                                {".html", "html"},
                                                {".speedscope.json", "speedscope"},
                                                {".speedscope", "speedscope"},
                                                {".firefox.json", "firefox"},
                                                {".perf", "perf"}}};

std::optional<std::uint32_t> pid_of(std::string_view text) {
  std::uint32_t pid = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, pid);
  if (error != std::errc() || at != end || pid == 0 || pid > 0x7fff'ffff) return std::nullopt;
  return pid;
}

} // namespace

std::pair<std::span<char* const>, std::vector<std::string>>
split_arguments(std::span<char* const> arguments) {
  const auto mark = std::ranges::find(arguments, std::string_view("--"));
  if (mark == arguments.end()) return {arguments, {}};
  return {{arguments.begin(), mark}, {mark + 1, arguments.end()}};
}

void add_options(tool::App& app, Options& options) {
  tool::OptionList& cli = app.cli();
  cli.add_option("FILE", options.files,
                 "A recording of perf (perf.data), - is standard input; without one, -a, -p PID or -- "
                 "PROGRAM ARGS is recorded");
  cli.add_flag("-a,--all", options.record.all,
               "Record all processes of this machine; with -- PROGRAM, while it runs")
      .group(record_group)
      .common();
  cli.add_option("-p,--pid", options.pids, "Record these processes, and those that they start (repeatable)")
      .type_name("PID")
      .delimiter(',')
      .one_value_each()
      .group(record_group)
      .common();
  cli.add_option("-F,--frequency", options.record.frequency, "Samples per second of each processor")
      .type_name("HZ")
      .range(1u, 10'000u)
      .show_default()
      .group(record_group)
      .common();
  cli.add_option("-e,--event", options.record.event,
                 "What takes a sample: cpu, off-cpu, wall, tracepoint:GROUP:NAME, kprobe:FUNCTION, or "
                 "uprobe:FILE:FUNCTION")
      .type_name("EVENT")
      .show_default()
      .group(record_group)
      .common();
  cli.add_option("-d,--duration", options.record.seconds,
                 "End after this time, in seconds (default: when the programs end, or at Ctrl-C)")
      .type_name("S")
      .range(0.001, 31'536'000.0)
      .group(record_group)
      .common();
  files::FileOptions& files = options.record.files;
  cli.add_option("--sframe-dir", files.sframe_dir,
                 "Look up SFrame sidecars in DIR, as DIR/.build-id/xx/yyyy.sframe, and tables for BPF")
      .type_name("DIR")
      .group(files_group)
      .common();
  cli.add_flag(
         "--keep-generated", options.keep_generated,
         "Save the tables that are made for BPF, for later recordings with this option: in the --sframe-dir, "
         "else in $XDG_CACHE_HOME/sframe or ~/.cache/sframe, for root /var/cache/sframe, of at most 1 GiB")
      .group(files_group);
  cli.add_option("--debug-dir", files.more_debug_dirs,
                 "Look up separate debug files in DIR first, then in " +
                     std::string(files::default_debug_folder) + " (repeatable)")
      .type_name("DIR")
      .one_value_each()
      .group(files_group);
  tool::add_trust_option(cli, options.trust, "FILE").group(files_group);
  tool::add_debuginfod_options(cli, options.debuginfod, files_group).common();
  cli.add_option(
         "--format", options.format,
         "pprof (for go tool pprof), folded (stacks and counts), svg (flame graph), html (a page), "
         "speedscope, firefox (JSON for their viewers) or perf (the text of perf script) (default: by "
         "the output's name, else folded)")
      .one_of(formats)
      .group(output_group)
      .common();
  cli.add_flag("--no-names", options.no_names, "Do not look up function names (faster)").group(output_group);
  cli.add_flag("--lines,!--no-lines", options.lines, "Look up source lines and inlined calls (default: yes)")
      .group(output_group);
  cli.add_choice("--names", options.names, name_styles,
                 "Names of functions: full (demangled), short (long arguments folded), raw (as in the symbol "
                 "table) (default: short)")
      .group(output_group);
}

namespace {

/// Exactly one thing that has stacks.
std::optional<std::string> check_source(Options& options) {
  RecordOptions& record = options.record;
  for (const std::string& text : options.pids) {
    const auto pid = pid_of(text);
    if (!pid) return "--pid: '" + text + "' is no process ID";
    if (std::ranges::count(record.pids, *pid) == 0) record.pids.push_back(*pid);
  }
  if (options.files.size() > 1)
    return "'" + options.files[1] + "': only one FILE can be read; a program and its arguments follow --";
  if (!options.files.empty()) options.file = options.files.front();
  const int sources = !options.file.empty() + !record.pids.empty() + (record.all || !record.command.empty());
  if (sources == 0) return "nothing to record: -a, -p PID, -- PROGRAM, or a FILE (--help shows the options)";
  if (sources > 1) {
    std::string wrong = "only one of FILE, -p, and -a or -- PROGRAM can be given";
    if (options.file.empty()) return wrong;
    return "'" + options.file + "': " + wrong + "; a program and its arguments follow --";
  }
  return std::nullopt;
}

/// Options that would do nothing.
std::optional<std::string> check_use(tool::App& app, const Options& options) {
  const auto is_given = [&](const char* option) { return app.cli().count(option) != 0; };
  if (!options.file.empty()) {
    for (const char* const option : {"--frequency", "--duration", "--keep-generated"})
      if (is_given(option)) return std::string(option) + " is for -a, -p and -- PROGRAM: FILE is recorded";
    return std::nullopt;
  }
  if (is_given("--trust")) return "--trust is for FILE: processes are read as they are";
  const auto event = parse_event(options.record.event);
  if (!event) return event.error().text();
  if (is_given("--frequency") && !event->has_clock() && !event->has_switches())
    return "--frequency: " + options.record.event + " has no clock: it is a sample whenever it happens";
  return std::nullopt;
}

/// A named folder has no limit: its other tables are the user's.
void choose_table_folder(Options& options) {
  TableFolder& tables = options.record.tables;
  const std::string& named = options.record.files.sframe_dir;
  if (!named.empty())
    tables = {.path = named, .keeps = options.keep_generated};
  else if (options.keep_generated)
    tables = default_table_folder();
}

/// Nothing is looked up where nothing answers.
std::optional<std::string> check_places(const Options& options) {
  const files::FileOptions& files = options.record.files;
  if (!options.file.empty() && options.file != "-")
    if (auto obstacle = elf::find_obstacle(options.file, {.root = {}, .network = true}))
      return options.file + ": " + *obstacle;
  const auto check = [](const char* option, const std::string& folder) {
    const auto wrong = tool::wrong_with_folder(folder);
    return wrong ? std::optional(std::string(option) + ": " + folder + ": " + *wrong) : std::nullopt;
  };
  if (!files.sframe_dir.empty() && !options.keep_generated) // which makes it
    if (auto wrong = check("--sframe-dir", files.sframe_dir)) return wrong;
  for (const std::string& folder : files.more_debug_dirs)
    if (auto wrong = check("--debug-dir", folder)) return wrong;
  return std::nullopt;
}

} // namespace

std::optional<std::string> check(tool::App& app, Options& options) {
  if (auto wrong = check_source(options)) return wrong;
  if (auto wrong = check_use(app, options)) return wrong;
  choose_table_folder(options);
  if (auto wrong = check_places(options)) return wrong;
  const std::string& output = app.output_path();
  if (options.format.empty()) {
    const auto known =
        std::ranges::find_if(name_ends, [&](const NameEnd& name) { return output.ends_with(name.end); });
    if (known != name_ends.end())
      options.format = known->format;
    else if (output.ends_with(".json"))
      return "-o " + output + ": --format=speedscope or firefox is needed for JSON";
    else
      options.format = "folded";
  }
  options.record.files.trust = options.trust;
  options.record.has_frequency = app.cli().count("--frequency") != 0;
  if (auto wrong = tool::wrong_with_servers(options.debuginfod)) return wrong;
  if (options.no_names) options.debuginfod.mode = tool::Debuginfod::Mode::off;
  if (output == "-" && !profile::find_format(options.format)->is_text && ::isatty(STDOUT_FILENO))
    return "--format=" + options.format + " is not for a terminal: write it to a file, with -o FILE";
  return std::nullopt;
}

} // namespace sframe::profile_tool
