// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line common to all programs.

#include "sframe/tool/app.h"

#include "interrupt.h"
#include "sandbox.h"
#include "sframe/base/spool.h"
#include "sframe/elf/archive.h"
#include "sframe/elf/kept_places.h"
#include "sframe/elf/unpack.h"
#include "sframe/tool/descriptor.h"
#include "sframe/tool/output.h"
#include "sframe/tool/output_file.h"
#include "sframe/tool/process_limits.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>

namespace sframe::tool {

namespace {

constexpr auto common_group = "Common options";

const std::vector<Term> common_environment = {
    {"COLUMNS", "Width of help texts (default: that of the terminal, else 80)"},
    {"NO_COLOR", "No colours with --color=auto, if it is set and not empty; TERM=dumb does the same"},
    {"TMPDIR", "Directory for temporary files (default: /tmp): what is decompressed or read from a pipe"}};

std::vector<Term> with_common_environment(std::vector<Term> terms) {
  terms.insert(terms.end(), common_environment.begin(), common_environment.end());
  std::ranges::sort(terms, {}, &Term::name);
  return terms;
}

const Choices<ColorMode> color_names = {
    {"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}};
const Choices<Limits> limit_names = {
    {"off", Limits::off}, {"default", Limits::standard}, {"strict", Limits::strict}};

/// Streams, compressed files, and what is in directories, may be larger than what is kept in memory.
bool may_need_spool(const std::string& path, std::span<const std::byte> first_bytes) {
  std::error_code error;
  return path == "-" || elf::is_packed(first_bytes) || !std::filesystem::is_regular_file(path, error);
}

void add_members(const std::string& archive, std::vector<std::string>& members) {
  const auto file = elf::File::open_regular(archive);
  if (!file) return; // reported by its reader
  const auto named = elf::files_of_thin_archive(file->bytes(), archive);
  members.insert(members.end(), named.begin(), named.end());
}

} // namespace

App::App(const std::string& name, const std::string& description, const std::string& examples,
         Features features)
    : cli_({.name = name,
            .version = SFRAME_VERSION,
            .summary = description,
            .examples = examples,
            .environment = with_common_environment(std::move(features.environment)),
            .exit_codes = std::move(features.exit_codes)}),
      messages_(name), has_output_(features.output), has_threads_(features.threads) {}

/// After the program's own options, so that help texts end with these.
void App::add_common_options() {
  if (has_output_)
    cli_.add_option("-o,--output", output_, "Write to FILE, atomically; - is standard output")
        .type_name("FILE")
        .group(common_group)
        .common();
  cli_.add_flag("-q,--quiet", quiet_, "Print errors only, no warnings or notes").group(common_group).common();
  cli_.add_flag("-v,--verbose", verbose_, "Print more details").group(common_group).common();
  cli_.add_choice("--color", color_, color_names,
                  "Colour the output: auto (on a terminal; default), always, never")
      .group(common_group);
  if (has_threads_)
    cli_.add_option("-j,--threads", threads_, "Use N threads (default: all cores)")
        .type_name("N")
        .range(1u, 1024u)
        .group(common_group);
  cli_.add_choice("--limits", limits_, limit_names,
                  "Limit time and memory per input, by its size: off, default, strict")
      .group(common_group);
  cli_.add_flag("--no-sandbox", no_sandbox_, "Do not sandbox (needed under debuggers or LD_PRELOAD)")
      .group(common_group);
  cli_.add_help_and_version(common_group);
}

std::optional<int> App::parse(int argc, const char* const* argv) {
  open_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  catch_bus_errors(messages_.tool());
  if (!std::exchange(has_common_options_, true)) add_common_options();
  const auto ended = cli_.parse(argc, argv);
  if (ended && !ended->is_error) return print(ended->text);
  messages_.set_color(color_);
  if (ended) {
    messages_.error({}, ended->text + " (--help shows the options)");
    return exit_failure;
  }
  if (output_.empty()) {
    messages_.error({}, "--output: the name is empty (- is standard output)");
    return exit_failure;
  }
  messages_.set_quiet(quiet_);
  messages_.set_verbose(verbose_);
  limit_process(limits_, threads(), messages_.tool());
  return std::nullopt;
}

int App::print(std::string_view text) {
  Output output(STDOUT_FILENO);
  output << text;
  return finish(output, exit_ok);
}

void App::confine(SandboxNeeds needs) const {
  if (no_sandbox_) return;
  for (const std::string& path : needs.read) elf::keep_reachable(path);
  bool needs_spools = false;
  std::set<std::string_view> inspected;
  for (const auto* paths : {&needs.read, &needs.found})
    for (const std::string& path : *paths) {
      if (!inspected.insert(path).second) continue;
      const auto first_bytes = elf::File::first_bytes(path);
      needs_spools |= may_need_spool(path, first_bytes);
      if (needs.reads_members && elf::is_thin_archive(first_bytes)) add_members(path, needs.members);
    }
  if (needs_spools) prepare_spools();
  needs.write.push_back(output_);
  enter_sandbox(needs);
}

unsigned App::threads() const {
  return threads_ != 0 ? threads_ : std::max(1u, std::thread::hardware_concurrency());
}

int App::run_with_output(std::span<const std::string> inputs, const std::function<int(Output&)>& work,
                         Errors errors) {
  for (const std::string& input : inputs)
    if (is_same_file(input, output_)) {
      messages_.error(output_, "the output would overwrite an input");
      return exit_failure;
    }
  const bool to_file = output_ != "-";
  Output output(to_file ? -1 : STDOUT_FILENO);
  if (!to_file) messages_.set_before([&output] { output.flush(); });
  if (!to_file && ::isatty(STDOUT_FILENO) == 1) output.set_status(messages_.status());
  if (to_file && errors == Errors::in_file) messages_.set_copy(&output);
  const int code = exit_code_with_inputs(work(output));
  messages_.set_before({});
  messages_.set_copy(nullptr);
  if (!to_file) return finish(output, code);
  if (code == exit_failure && output.text().empty()) return code; // the old file is kept
  if (const auto written = write_file(output_, output.text()); !written) {
    messages_.error(output_, written.error());
    return exit_failure;
  }
  return code;
}

int App::finish(Output& output, int code) {
  output.flush();
  if (output.error() == 0 || output.reader_gone()) return exit_code_with_inputs(code);
  messages_.error({}, std::string("cannot write the output: ") + std::strerror(output.error()));
  return exit_failure;
}

} // namespace sframe::tool
