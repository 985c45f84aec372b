// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-verify: compares .sframe sections with the CFI of the same file (docs/sframe-verify.md). This file
// has the options.

#include "against.h"
#include "catalogue.h"
#include "formats.h"
#include "program.h"
#include "run.h"

#include <sframe/base/text.h>
#include <sframe/code/disassembly.h>
#include <sframe/tool/app.h>
#include <sframe/tool/coverage_options.h>
#include <sframe/tool/debug_files.h>
#include <sframe/tool/input_files.h>
#include <sframe/tool/output.h>
#include <sframe/tool/process_limits.h>
#include <sframe/tool/program.h>
#include <sframe/tool/text.h>
#include <sframe/verify/findings.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace sframe::verify;
namespace tool = sframe::tool;

constexpr const char* examples =
    R"(  sframe-verify a.out                               check the section in a program
  sframe-verify a.out --sframe a.sframe             check a separate section
  sframe-verify /usr/bin/* --sframe sidecars/       look up sidecars by build ID
  sframe-verify -r build --exclude '*.o'             all linked files of a build
  sframe-verify lib.so --debug lib.so.debug         read the CFI from another file
  sframe-verify a.out --ignore S --error C107       change severities
  sframe-verify a.out --profile=linux               also check the Linux kernel's requirements
  sframe-verify *.so --format=sarif -o out.sarif    for code-scanning viewers
  sframe-verify *.so --format=html -o out.html      a page for a browser, with the evidence
  sframe-verify *.so --baseline known.txt           report only new findings
  sframe-verify --check=run -- ./a.out 1 2          run a.out, and check every instruction it executes
  sframe-verify app --against app.orig              what --shrink-cfi of sframe-gen must keep
  sframe-verify --compiler-bugs *.so                wrong CFI by compiler, to be filed there
  sframe-verify --explain C102                      explain a finding
)";

struct Options {
  tool::InputOptions inputs;
  std::vector<std::string> checks{"structure", "cfi", "code"};
  std::string sframe_address, max_findings, run_steps; // as typed: CLI11 would let "-1" wrap around
  tool::CoverageOptions coverage;
  std::vector<std::string> errors, warnings, ignored, strict;
  std::string level, compiler = "warning";
  bool has_checks = false; ///< --check was given
  bool list_checks = false;
  std::string explain;
  std::string against;
  std::string profile = "spec";
  RunOptions run{.format = &text_format};
  tool::DebugFileOptions debug_files; ///< those of `run` are made of it
  bool has_program = false;           ///< --check=run
  ProgramOptions program;
};

std::vector<std::string> check_names() {
  std::vector<std::string> names;
  for (const Check& check : checks()) names.emplace_back(check.name);
  return names;
}

void add_options(tool::OptionList& cli, Options& options) {
  cli.add_option("FILE", options.inputs.inputs,
                 "ELF file, archive or raw SFrame section; - is standard input");
  cli.add_option(
         "--check", options.checks,
         "Checks to run: structure, cfi, code (default: these three), orc (the table of Linux kernels for "
         "AMD64), run (needs -- PROGRAM)")
      .delimiter(',')
      .one_value_each()
      .one_of({"structure", "cfi", "code", "orc", "run"})
      .type_name("LIST")
      .common();
  cli.add_option("--run-steps", options.run_steps,
                 "With --check=run: follow the first N instructions; the program then runs on")
      .type_name("N");
  cli.add_option(
         "--run-from", options.program.from,
         "With --check=run: the program runs at its speed until it reaches this function, or this "
         "address in its file (0x1234) or in a library's (libx.so.1:0x1234); it is followed from there")
      .type_name("FUNCTION|ADDRESS");
  cli.add_option(
         "--emulator", options.program.emulator,
         "With --check=run: run the program in this emulator, which serves gdb's remote protocol with "
         "-g (default for another machine's program: QEMU's, such as qemu-aarch64)")
      .type_name("PATH");
  cli.add_option(
         "--sframe", options.run.file.sframe,
         "Verify this section instead of the one in FILE: a raw section, a sidecar, or a directory of "
         "sidecars by build ID")
      .type_name("FILE|DIR")
      .common();
  cli.add_option("--sframe-address", options.sframe_address, "Address of a raw section (default: 0)")
      .type_name("A");
  cli.add_option(
         "--debug", options.run.file.debug,
         "Read CFI that FILE lacks from this ELF file (default: the debug file that FILE's build ID or "
         ".gnu_debuglink names)")
      .type_name("FILE")
      .common();
  tool::add_debug_file_options(cli, options.debug_files);
  cli.add_option("--profile", options.profile,
                 "Also check a reader's requirements beyond the specification (default: spec, none)")
      .one_of(sframe::readers::reader_names())
      .common();
  tool::add_coverage_options(
      cli, options.coverage,
      "Report an error (P412) if less than PERCENT of all executable bytes are covered",
      "Report an error (P412) if less than PERCENT of the bytes that CFI describes are covered");
  cli.add_flag("--compiler-bugs", options.run.file.compiler_bugs,
               "Run no checks; list CFI bugs for compiler developers: the rows that the machine code proves "
               "wrong, by compiler and pattern, with examples. FILE needs no SFrame");
  cli.add_option("--against", options.against,
                 "Run no checks; compare the call frame information of FILE, at every address, with that of "
                 "ORIGINAL, from which sframe-gen --shrink-cfi made it")
      .type_name("ORIGINAL");
  cli.add_option("--baseline", options.run.baseline,
                 "Ignore the known findings in FILE, written by --write-baseline")
      .type_name("FILE")
      .common();
  cli.add_option("--write-baseline", options.run.write_baseline,
                 "Write the reported errors and warnings to FILE as a baseline")
      .type_name("FILE");
  cli.add_choice("--format", options.run.format, formats, "").common();
  const auto severity = [&](const char* name, std::vector<std::string>& ids, const char* what) {
    cli.add_option(name, ids, what)
        .type_name("ID")
        .one_value_each()
        .completed_by(check_names)
        .group("Severity")
        .common();
  };
  severity("--error", options.errors, "Report these findings as errors; a prefix such as C1 selects a group");
  severity("--warning", options.warnings, "Report these findings as warnings; a prefix selects a group");
  severity("--ignore", options.ignored, "Do not report these findings; a prefix selects a group");
  cli.add_option(
         "--level", options.level,
         "Report findings of this severity and above (default: note; warning for sarif, junit, gitlab "
         "and github); all are counted")
      .one_of({"error", "warning", "note"})
      .group("Severity")
      .common();
  cli.add_flag("--werror{all}", options.strict,
               "Warnings are errors; =ID: only these, a prefix selects a group (repeatable)")
      .type_name("ID")
      .completed_by(check_names)
      .group("Severity")
      .common();
  cli.add_option("--compiler", options.compiler,
                 "Severity when SFrame reproduces wrong CFI: error, warning (default), note, ignore")
      .one_of({"error", "warning", "note", "ignore"})
      .group("Severity");
  cli.add_option("--max-findings", options.max_findings,
                 "Print at most N findings per file; the summary counts all")
      .type_name("N");
  tool::add_input_options(cli, options.inputs);
  tool::add_missing_option(
      cli, options.inputs.missing,
      "A file with code and CFI but no section: error (default for FILE), warn (default with -r and "
      "--files-from) or skip. Verifying nothing at all is an error, except with skip");
  cli.add_flag("--list-checks", options.list_checks, "List all findings and exit");
  cli.add_option("--explain", options.explain, "Explain a finding and exit")
      .type_name("ID")
      .completed_by(check_names)
      .common();
}

/// Reports an error. Returns false, as what follows from it.
template <class What> bool refuse(tool::Messages& messages, std::string_view file, const What& what) {
  messages.error(file, what);
  return false;
}

/// Returns false if an identifier is unknown, which has been reported.
bool make_policy(Options& options, Policy& policy, tool::Messages& messages) {
  const auto apply = [&](const std::vector<std::string>& ids, Policy::Action action) {
    return std::ranges::all_of(ids, [&](const std::string& id) {
      if (policy.set(id, action)) return true;
      messages.error({}, id + ": unknown check ID (--list-checks lists them)");
      return false;
    });
  };
  // sframe-gen can prevent these. The others are notes for any reader.
  if (options.run.file.profile->exact_lookup) policy.set_default(Id::R501, Policy::Action::warning);
  policy.set_compiler(*find_action(options.compiler));
  for (const std::string& id : options.strict) {
    const bool all = id == "all";
    if (!all && !policy.set_warnings_are_errors(id))
      return refuse(messages, {}, id + ": unknown check ID (--list-checks lists them)");
    if (all) policy.set_warnings_are_errors();
    options.run.warnings_are_errors |= all;
  }
  return apply(options.warnings, Policy::Action::warning) && apply(options.errors, Policy::Action::error) &&
         apply(options.ignored, Policy::Action::ignore);
}

/// The options of --check=run. Returns false if they are invalid, which has been reported.
bool settle_program(Options& options, tool::Messages& messages) {
  options.has_program = std::ranges::find(options.checks, "run") != options.checks.end();
  if (options.has_program && (options.program.command.empty() || options.program.command.front().empty()))
    return refuse(messages, {}, "--check=run needs a program: --check=run [FILE...] -- PROGRAM ARGUMENTS");
  if (!options.has_program && !options.program.emulator.empty())
    return refuse(messages, {}, "--emulator needs --check=run");
  if (!options.has_program && !options.program.from.empty())
    return refuse(messages, {}, "--run-from needs --check=run");
  if (options.run_steps.empty()) return true;
  if (!options.has_program) return refuse(messages, {}, "--run-steps needs --check=run");
  const auto steps = tool::parse_number(options.run_steps);
  if (!steps) return refuse(messages, {}, "--run-steps " + options.run_steps + ": not a number");
  options.program.max_steps = *steps;
  return true;
}

/// True for the formats that --compiler-bugs and --against have.
bool has_text_or_json(const Options& options) {
  return options.run.format == &text_format || options.run.format == &json_format;
}

/// The options that --compiler-bugs cannot be combined with. Returns false after an error, which has been
/// reported.
bool settle_compiler_bugs(const Options& options, tool::Messages& messages) {
  const std::pair<bool, const char*> others[] = {
      {options.has_checks, "--check"},
      {!options.run.file.sframe.empty(), "--sframe"},
      {!options.sframe_address.empty(), "--sframe-address"},
      {options.profile != "spec", "--profile"},
      {options.run.file.coverage.any(), "--min-coverage and --min-cfi-coverage"},
      {!options.run.baseline.empty() || !options.run.write_baseline.empty(), "a baseline"},
      {!options.max_findings.empty(), "--max-findings"},
      {!options.errors.empty() || !options.warnings.empty() || !options.ignored.empty(), "severities"},
      {!has_text_or_json(options), "--format other than text and json"}};
  for (const auto& [given, name] : others)
    if (given) return refuse(messages, {}, std::string("--compiler-bugs cannot be combined with ") + name);
  return true;
}

/// Converts the options to settings. Returns false if they are invalid, which has been reported.
bool settle(Options& options, tool::Messages& messages) {
  const auto has = [&](const char* check) {
    return std::ranges::find(options.checks, check) != options.checks.end();
  };
  options.run.file.structure = has("structure");
  options.run.file.cfi = has("cfi");
  options.run.file.code = has("code");
  options.run.file.orc = has("orc");
  if (!options.sframe_address.empty()) {
    const auto address = tool::parse_address(options.sframe_address);
    if (!address)
      return refuse(messages, {}, "--sframe-address " + options.sframe_address + ": not an address");
    options.run.file.sframe_address = *address;
  }
  if (!settle_program(options, messages)) return false;
  if (!options.max_findings.empty()) {
    const auto limit = tool::parse_number(options.max_findings);
    if (!limit) return refuse(messages, {}, "--max-findings " + options.max_findings + ": not a number");
    options.run.report.max_findings = *limit;
  }
  const auto coverage = tool::required_coverage(options.coverage);
  if (!coverage) return refuse(messages, {}, coverage.error().text());
  options.run.file.coverage = *coverage;
  options.run.file.profile = sframe::readers::find_reader(options.profile);
  if (options.run.file.compiler_bugs && !settle_compiler_bugs(options, messages)) return false;
  // Without FILE, the files that the program uses are verified.
  if (const auto any = tool::require_inputs(options.inputs, "FILE"); !any && !options.has_program)
    return refuse(messages, {}, any.error().text());
  if (const auto wrong = tool::wrong_with_debug_files(options.debug_files))
    return refuse(messages, {}, *wrong);
  if (options.run.format == &markdown_format)
    return refuse(messages, {}, "--format=markdown needs --list-checks");
  options.run.bugs_as_json = options.run.format == &json_format;
  options.run.file.skip = tool::is_tree(options.inputs);
  options.run.file.missing = options.inputs.missing;
  std::error_code ignored;
  if (const std::string& sframe = options.run.file.sframe;
      options.run.file.skip && !sframe.empty() && !std::filesystem::is_directory(sframe, ignored))
    return refuse(messages, sframe, "--sframe must be a directory of sidecars with -r and --files-from");
  if ((options.inputs.inputs.size() > 1 || options.run.file.skip) && !options.run.file.debug.empty())
    return refuse(messages, {}, "--debug can be used with only one FILE");
  return true;
}

/// Empty if the format is one that the list of checks supports.
std::string catalogue_format_error(const Options& options) {
  const bool markdown = options.list_checks && options.run.format == &markdown_format;
  if (markdown || options.run.format == &text_format) return {};
  return "--format=" + std::string(options.run.format->name) + " cannot be combined with " +
         (options.list_checks ? "--list-checks" : "--explain");
}

int print_catalogue(tool::App& app, const Options& options) {
  if (const std::string wrong = catalogue_format_error(options); !wrong.empty()) {
    app.messages().error({}, wrong);
    return tool::exit_failure;
  }
  const Check* check = find_check(options.explain);
  if (!options.list_checks && !check) {
    app.messages().error({}, options.explain + ": unknown check ID (--list-checks lists them)");
    return tool::exit_failure;
  }
  return app.run_with_output({}, [&](tool::Output& out) {
    if (options.list_checks)
      list_checks(out, options.run.format == &markdown_format);
    else
      explain(out, *check);
    return tool::exit_ok;
  });
}

/// --against, which is no check of a section.
int compare_with_original(tool::App& app, const Options& options) {
  if (options.inputs.inputs.size() != 1 || tool::is_tree(options.inputs)) {
    app.messages().error({}, "--against needs exactly one FILE");
    return tool::exit_failure;
  }
  if (options.has_checks || !options.run.file.sframe.empty() || options.run.file.compiler_bugs ||
      !has_text_or_json(options)) {
    app.messages().error({}, "--against cannot be combined with --check, --sframe, --compiler-bugs or "
                             "--format other than text and json");
    return tool::exit_failure;
  }
  return compare_files(app, {.original = options.against,
                             .file = options.inputs.inputs.front(),
                             .json = options.run.format == &json_format,
                             .limits = app.limits()});
}

/// True if the argument is -j or -o or has the value of one; `value`: the next argument is its value.
bool is_about_the_run(std::string_view argument, bool& value) {
  const bool is_value = std::exchange(value, false);
  value = !is_value &&
          (argument == "-j" || argument == "--threads" || argument == "-o" || argument == "--output");
  return is_value || value || argument.starts_with("--threads=") || argument.starts_with("--output=") ||
         argument.starts_with("-j") || argument.starts_with("-o");
}

/// The command as typed, quoted for a shell. The program's name is without its folder, and the number of
/// threads and the report's path are left out: reports of equal findings are equal.
std::string command_line(std::span<char* const> arguments) {
  std::string line = "sframe-verify";
  bool value = false;
  for (const std::string_view argument : arguments.subspan(1)) {
    if (!is_about_the_run(argument, value)) sframe::append_shell_word(line, argument);
  }
  return line;
}

/// All files that are read; none of them may be overwritten.
std::vector<std::string> inputs(const Options& options, std::vector<std::string> all) {
  for (const std::string& other : {options.run.file.sframe, options.run.file.debug, options.run.baseline})
    if (!other.empty()) all.push_back(other);
  return all;
}

/// The files that may be opened: the inputs, where their debug files may be, and what shows instructions in
/// reports.
std::vector<std::string> readable(const Options& options, const tool::NamedInputs& named) {
  const std::vector<std::string> paths = tool::paths(named);
  std::vector<std::string> all = inputs(options, paths);
  for (std::string& place : tool::debug_file_places(paths, options.run.file.files))
    all.push_back(std::move(place));
  all.push_back(sframe::code::disassembler_library());
  return all;
}

/// Runs the program of --check=run; without FILE, names those that it uses. Returns false after an error,
/// which has been reported.
bool run_the_program(tool::App& app, Options& options, tool::NamedInputs& named,
                     std::optional<sframe::run::Outcome>& ran) {
  const bool any_file = !named.inputs.empty();
  if (any_file)
    options.program.files = tool::paths(tool::list_files(named, options.run.file.skip, app.output_path()));
  const std::string& path = options.program.command.front();
  const auto start = std::chrono::steady_clock::now();
  auto outcome = follow_program(options.program, options.run.file);
  if (!outcome) return refuse(app.messages(), path, outcome.error());
  if (outcome->left_out) app.messages().error(path, *outcome->left_out);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto steps = static_cast<double>(outcome->summary.steps);
  app.messages().note(
      path, sframe::with_commas(outcome->summary.steps) + " instructions in " +
                sframe::with_commas(static_cast<std::uint64_t>(seconds.count() * 1000)) + " ms, " +
                sframe::with_commas(static_cast<std::uint64_t>(steps / seconds.count())) + " per second");
  if (!any_file) {
    for (const auto& file : outcome->files) named.inputs.push_back({file.path, {}});
    if (named.inputs.empty())
      return refuse(app.messages(), path, "the program uses no file with a section .sframe");
  }
  ran = std::move(*outcome);
  options.run.file.ran = &*ran;
  return true;
}

/// What is reported: --level, -q and -v.
void settle_report(Options& options, const tool::Messages& messages) {
  ReportOptions& report = options.run.report;
  const bool is_text = options.run.format == &text_format;
  report.level = options.run.format->level;
  if (is_text && messages.quiet()) report.level = Severity::error;
  for (const Severity severity : {Severity::note, Severity::warning, Severity::error})
    if (severity_name(severity) == options.level) report.level = severity;
  report.usual_notes = !is_text || messages.verbose() || options.level == "note";
  report.summaries = !messages.quiet();
  options.run.checks = options.checks;
  if (options.profile != "spec" || options.run.file.coverage.any())
    options.run.checks.emplace_back("requirements");
  options.run.file.several = options.run.files.size() > 1;
}

/// The variables that the program reads.
std::vector<tool::Term> environment() {
  auto all = tool::debuginfod_environment();
  all.push_back({"PATH", "Where --check=run looks up emulators"});
  all.push_back({"QEMU_LD_PREFIX", "Where QEMU looks up shared libraries, with --check=run"});
  return all;
}

int run_tool(int argc, char** argv) {
  tool::App app("sframe-verify",
                "Check SFrame sections against the format, the call frame information and the machine code.",
                examples,
                {.output = true,
                 .threads = true,
                 .environment = environment(),
                 .exit_codes = {{"0", "No errors"},
                                {"1", "A finding of severity error is left"},
                                {"2", "Something could not be verified at all"}}});
  Options options;
  add_options(app.cli(), options);
  auto split = split_arguments({argv, static_cast<std::size_t>(argc)});
  options.program.command = std::move(split.command);
  if (const auto code = app.parse(static_cast<int>(split.own.size()), argv)) return *code;
  options.has_checks = app.cli().count("--check") != 0;
  if (options.list_checks || !options.explain.empty()) return print_catalogue(app, options);
  if (!options.against.empty()) return compare_with_original(app, options);

  if (!settle(options, app.messages()) || !make_policy(options, options.run.report.policy, app.messages()))
    return tool::exit_failure;
  if (!read_baseline(options.run, app.messages())) return tool::exit_failure;
  auto named = tool::name_inputs(options.inputs);
  if (!named) {
    app.messages().error({}, named.error().text());
    return tool::exit_failure;
  }
  options.run.file.limits = app.limits();
  if (options.has_program) tool::lift_process_limits();
  // Before the sandbox, which the program would inherit.
  std::optional<sframe::run::Outcome> ran;
  if (options.has_program && !run_the_program(app, options, *named, ran)) return tool::exit_failure;
  // After the run, which waits for every child.
  tool::start_server(options.debug_files, app.messages());
  options.run.file.files = options.debug_files.files;
  auto list = tool::list_files(*named, options.run.file.skip, app.output_path());
  if (options.run.file.skip) options.run.skipped = list.skipped;
  app.confine({.read = readable(options, *named),
               .found = tool::paths(list),
               .write = {options.run.write_baseline},
               .reads_members = true});
  const std::vector<std::string> paths = inputs(options, tool::paths(list));
  options.run.files = std::move(list.files);
  options.run.command_line = command_line({argv, static_cast<std::size_t>(argc)});
  settle_report(options, app.messages());
  options.run.report.color = app.output_path() == "-" && tool::use_color(app.color(), 1);
  options.run.threads = app.threads();
  return app.run_with_output(
      paths, [&](tool::Output& out) { return run(options.run, app.messages(), out); },
      options.run.format == &text_format ? tool::App::Errors::in_file : tool::App::Errors::not_in_file);
}

} // namespace

int main(int argc, char** argv) {
  return sframe::tool::run_program("sframe-verify", argc, argv, run_tool);
}
