// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-verify: compares .sframe sections with the CFI of the same file (docs/sframe-verify.md). This file
// has the options.

#include "catalogue.h"
#include "verify_file.h"

#include <sframe/tool/app.h>
#include <sframe/tool/output.h>
#include <sframe/tool/text.h>
#include <sframe/verify/findings.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace sframe::verify;
namespace tool = sframe::tool;

constexpr const char* examples =
    R"(  sframe-verify a.out                            the section in a program against its CFI
  sframe-verify a.out --sframe a.sframe          a section that is not in it yet
  sframe-verify /usr/bin/* --sframe sidecars/    sections looked up by build ID
  sframe-verify lib.so --debug lib.so.debug      the CFI is in another file
  sframe-verify a.out --ignore S --error C107    choose what counts
  sframe-verify --explain C102                   what a finding means
)";

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> checks{"structure", "cfi"};
  std::string sframe_address, max_findings; // as typed: CLI11 would let "-1" wrap around
  std::string format = "text";
  std::vector<std::string> errors, warnings, ignored;
  bool list_checks = false;
  std::string explain;
  FileOptions file;
  std::uint64_t file_limit = ~std::uint64_t{0}; ///< findings to print
};

void add_options(CLI::App& cli, Options& options) {
  cli.add_option("FILE", options.files, "ELF file, archive or bare SFrame section; - is standard input");
  cli.add_option("--check", options.checks, "What to check: structure, cfi (default: both)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"structure", "cfi", "code"}))
      ->type_name("LIST");
  cli.add_option("--sframe", options.file.sframe,
                 "Verify this section instead of the one in FILE: a bare section, a sidecar, or a folder of "
                 "sidecars by build ID")
      ->type_name("FILE|DIR");
  cli.add_option("--sframe-address", options.sframe_address, "Address of a bare section (default: 0)")
      ->type_name("A");
  cli.add_option("--debug", options.file.debug, "The CFI that FILE lacks is in this ELF file")
      ->type_name("FILE");
  cli.add_option("--format", options.format, "text or json (with --list-checks also markdown)")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->type_name("FORMAT");
  const auto severity = [&](const char* name, std::vector<std::string>& ids, const char* what) {
    cli.add_option(name, ids, what)->type_name("ID")->allow_extra_args(false)->group("Severity");
  };
  severity("--error", options.errors, "Count these findings as errors; C1 names all that begin so");
  severity("--warning", options.warnings, "Count these findings as warnings");
  severity("--ignore", options.ignored, "Do not report these findings");
  cli.add_option("--max-findings", options.max_findings, "Print at most N findings per file; all are counted")
      ->type_name("N");
  cli.add_flag("--list-checks", options.list_checks, "List all findings and exit");
  cli.add_option("--explain", options.explain, "Say what a finding means and exit")->type_name("ID");
}

/// False where an identifier is none, which has been said.
bool make_policy(const Options& options, Policy& policy, tool::Messages& messages) {
  const auto apply = [&](const std::vector<std::string>& ids, Policy::Action action) {
    return std::ranges::all_of(ids, [&](const std::string& id) {
      if (policy.set(id, action)) return true;
      messages.error({}, id + ": no such finding (--list-checks shows them)");
      return false;
    });
  };
  return apply(options.warnings, Policy::Action::warning) && apply(options.errors, Policy::Action::error) &&
         apply(options.ignored, Policy::Action::ignore);
}

/// Turns what was typed into what is to be done. False where it makes no sense, which has been said.
bool settle(Options& options, tool::Messages& messages) {
  const auto has = [&](const char* check) {
    return std::ranges::find(options.checks, check) != options.checks.end();
  };
  options.file.structure = has("structure");
  options.file.cfi = has("cfi");
  if (has("code")) // it must not seem to have passed
    return messages.error({}, "--check=code: the check against machine code is not available yet"), false;
  if (!options.sframe_address.empty()) {
    const auto address = tool::parse_address(options.sframe_address);
    if (!address)
      return messages.error({}, "--sframe-address " + options.sframe_address + ": not an address"), false;
    options.file.sframe_address = *address;
  }
  if (!options.max_findings.empty()) {
    const auto limit = tool::parse_number(options.max_findings);
    if (!limit) return messages.error({}, "--max-findings " + options.max_findings + ": not a number"), false;
    options.file_limit = *limit;
  }
  if (options.files.empty()) return messages.error({}, "no FILE given (--help shows the options)"), false;
  if (options.format == "markdown")
    return messages.error({}, "--format=markdown goes with --list-checks"), false;
  if (options.files.size() > 1 && !options.file.debug.empty())
    return messages.error({}, "--debug goes with one FILE"), false;
  return true;
}

int run(tool::App& app, const Options& options, const Policy& policy, tool::Output& out) {
  tool::Messages& messages = app.messages();
  Report::Options report_options{.write = [&](std::string_view text) { out << text; },
                                 .policy = policy,
                                 .max_findings = options.file_limit,
                                 .errors_only = messages.quiet(),
                                 .color = app.output_path() == "-" && tool::use_color(app.color(), 1)};
  const auto report = options.format == "json" ? make_json_report(std::move(report_options))
                                               : make_text_report(std::move(report_options));
  bool done = true;
  for (const std::string& path : options.files) {
    if (out.failed()) break;
    done = verify_file(path, options.file, *report, messages) && done;
  }
  report->finish();
  return !done ? tool::exit_failure : report->total().errors ? tool::exit_findings : tool::exit_ok;
}

/// Empty where the format is one that the catalogue has.
std::string catalogue_format_error(const Options& options) {
  const bool markdown = options.list_checks && options.format == "markdown";
  if (markdown || options.format == "text") return {};
  return "--format=" + options.format + " does not go with " +
         (options.list_checks ? "--list-checks" : "--explain");
}

int print_catalogue(tool::App& app, const Options& options) {
  if (const std::string wrong = catalogue_format_error(options); !wrong.empty()) {
    app.messages().error({}, wrong);
    return tool::exit_failure;
  }
  const Check* check = find_check(options.explain);
  if (!options.list_checks && !check) {
    app.messages().error({}, options.explain + ": no such finding (--list-checks shows them)");
    return tool::exit_failure;
  }
  return app.run_with_output({}, [&](tool::Output& out) {
    if (options.list_checks)
      list_checks(out, options.format == "markdown");
    else
      explain(out, *check);
    return tool::exit_ok;
  });
}

/// All files that are read: none of them may be replaced.
std::vector<std::string> inputs(const Options& options) {
  std::vector<std::string> all = options.files;
  for (const std::string& other : {options.file.sframe, options.file.debug})
    if (!other.empty()) all.push_back(other);
  return all;
}

} // namespace

int main(int argc, char** argv) {
  tool::App app("sframe-verify",
                "Compare SFrame sections with the call frame information of the same code, at every address.",
                examples, {.output = true});
  Options options;
  add_options(app.cli(), options);
  if (const auto code = app.parse(argc, argv)) return *code;
  if (options.list_checks || !options.explain.empty()) return print_catalogue(app, options);

  Policy policy;
  if (!settle(options, app.messages()) || !make_policy(options, policy, app.messages()))
    return tool::exit_failure;
  return app.run_with_output(inputs(options),
                             [&](tool::Output& out) { return run(app, options, policy, out); });
}
