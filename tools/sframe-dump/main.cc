// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-dump: prints SFrame sections (docs/sframe-dump.md). This file has the options; formats.h lists the
// formats.

#include "formats.h"
#include "inputs.h"

#include <sframe/base/text.h>
#include <sframe/code/disassembly.h>
#include <sframe/elf/file.h>
#include <sframe/tool/app.h>
#include <sframe/tool/debug_files.h>
#include <sframe/tool/input_files.h>
#include <sframe/tool/process_limits.h>
#include <sframe/tool/program.h>

#include <string>
#include <vector>

namespace {

using namespace sframe::dump;
namespace tool = sframe::tool;

constexpr const char* examples = R"(  sframe-dump a.out                         all functions of a program
  sframe-dump --function 'Widget::*' a.out  functions selected by name
  sframe-dump --address 0x401136 a.out      the function at an address
  sframe-dump --format=json lib.so          JSON for scripts
  sframe-dump --list a.out                  a line for each function
  sframe-dump --disassemble a.out           instructions, with rows where they begin
  sframe-dump -v a.out                      every byte, with its field and its meaning
  sframe-dump --stats -r /usr/bin           sizes and coverage of all files, with a total
  sframe-dump --stats --format=html lib.so -o lib.html
                                            the same as a page for a browser
  sframe-dump core                          images mapped in a core file
  sframe-gen a.out -o - --emit=section | sframe-dump -
                                            what sframe-gen generates for a program
)";

struct Options {
  tool::InputOptions inputs;
  const Format* format = &text_format;
  std::vector<std::string> functions;
  std::string addresses;
  std::string origin;
  InputOptions input;
  tool::DebugFileOptions debug_files; ///< those of `input` are made of it
  bool header_only = false;
  bool stats = false;
  bool list = false;
  bool disassemble = false;
};

void add_options(tool::OptionList& cli, Options& options) {
  cli.add_option("FILE", options.inputs.inputs,
                 "ELF file, archive, core file or raw SFrame section; - is standard input");
  cli.add_choice("--format", options.format, formats, "Output format: ").common();
  cli.add_option("--section", options.input.section, "Show sections of this name (default: .sframe)")
      .type_name("NAME");
  cli.add_flag("--raw", options.input.raw, "Treat FILE as a raw SFrame section");
  cli.add_option("--function", options.functions,
                 "Show only functions whose raw or demangled name matches the pattern GLOB")
      .type_name("GLOB")
      .one_value_each()
      .common();
  cli.add_option("--address", options.addresses,
                 "Show only functions with an address in the range (both ends included)")
      .type_name("A|A-B")
      .common();
  cli.add_option("--origin", options.origin,
                 "Show where each row comes from (cfi, code, stub, repaired), by sframe-gen's JSON report on "
                 "the section (format text or json)")
      .type_name("REPORT.json");
  cli.add_flag("--header", options.header_only, "Show only headers, no functions").common();
  cli.add_flag("--list", options.list,
               "Show one line for each function: start, size, rows, encoding, name (format text)")
      .common();
  cli.add_flag(
         "--disassemble", options.disassemble,
         "Show the instructions of each function, with rows where they begin, and those of the CFI where "
         "they differ (format text)")
      .common();
  cli.add_flag("--stats", options.stats,
               "Show counts, sizes and coverage instead of functions (format text, json, csv or html); with "
               "-r as a table "
               "with a total")
      .common();
  tool::add_debug_file_options(cli, options.debug_files);
  tool::add_input_options(cli, options.inputs);
  tool::add_missing_option(
      cli, options.inputs.missing,
      "A file with code and CFI but no section: error (default for FILE), warn (default with -r and "
      "--files-from) or skip. Showing nothing at all is an error, except with skip");
}

/// Reports an error. Returns nothing, as what follows from it.
template <class What>
std::nullopt_t refuse(tool::Messages& messages, std::string_view file, const What& what) {
  messages.error(file, what);
  return std::nullopt;
}

/// Parses the filter options; reports invalid ones.
std::optional<Filter> make_filter(const Options& options, tool::Messages& messages) {
  Filter filter{.header_only = options.header_only, .names = {}, .addresses = std::nullopt};
  for (const std::string& pattern : options.functions) {
    auto glob = tool::Glob::parse(pattern);
    if (!glob) return refuse(messages, {}, "--function " + pattern + ": " + glob.error().text());
    filter.names.push_back(std::move(*glob));
  }
  if (!options.addresses.empty()) {
    filter.addresses = tool::parse_address_range(options.addresses);
    if (!filter.addresses)
      return refuse(messages, {}, "--address " + options.addresses + ": not an address or address range");
  }
  return filter;
}

/// Reads the report of --origin. Empty after an error, which has been reported.
std::optional<Origins> read_origins(const Options& options, const tool::NamedInputs& named,
                                    tool::Messages& messages) {
  if (options.stats || options.header_only || !options.format->shows_origins)
    return refuse(messages, {},
                  "--origin needs --format=text or --format=json, without --stats and --header");
  if (options.input.skip || named.inputs.size() != 1)
    return refuse(messages, {}, "--origin can be used with only one FILE");
  const auto file = sframe::elf::File::open(options.origin);
  if (!file) return refuse(messages, options.origin, file.error());
  auto origins = Origins::parse(sframe::as_text(file->bytes()));
  if (!origins) return refuse(messages, options.origin, origins.error());
  return std::move(*origins);
}

/// The dumper that the options ask for. Empty if they contradict each other, which has been reported.
std::optional<MakeDumper> choose_dumper(const Options& options, tool::Messages& messages) {
  const bool is_text = options.format == &text_format;
  const char* const shown = options.disassemble ? "--disassemble" : options.list ? "--list" : nullptr;
  if (shown && (!is_text || options.stats || options.header_only || !options.origin.empty()))
    return refuse(messages, {},
                  std::string(shown) + " needs --format=text, without --stats, --header and --origin");
  if (options.list && options.disassemble)
    return refuse(messages, {}, "--list and --disassemble cannot be combined");
  if (options.disassemble) return make_disassembly_dumper;
  if (options.stats && options.header_only)
    return refuse(messages, {}, "--stats and --header cannot be combined");
  if (options.list) return make_list_dumper;
  if (is_text && options.stats && options.input.skip && !messages.verbose()) return make_stats_table_dumper;
  if (is_text && !options.stats && messages.verbose() && options.origin.empty()) return make_bytes_dumper;
  const MakeDumper make = options.stats ? options.format->stats : options.format->dump;
  if (make) return make;
  return refuse(messages, {},
                options.stats ? "--stats needs --format=text, --format=json, --format=csv or --format=html"
                              : "--format=" + std::string(options.format->name) + " needs --stats");
}

/// Shows all files. Returns the exit code.
int run(tool::App& app, const Options& options, const tool::InputList& inputs, const Filter& filter,
        MakeDumper make, const Origins* origins, tool::Output& out) {
  Names names([&](const Object& object) {
    return tool::look_up_debug_file(object.path, *object.image, options.input.files, app.messages());
  });
  const auto dumper =
      make({.out = out,
            .names = names,
            .section = options.input.section,
            .header_only = options.header_only,
            .shows_all = filter.all_functions() && !filter.header_only,
            .color = app.output_path() == "-" && tool::use_color(app.color(), 1),
            .origins = origins,
            .title = inputs.files.size() == 1 ? inputs.files.front().path
                                              : sframe::counted(inputs.files.size(), "file")});
  Driver driver(*dumper, names, app.messages(), out, filter);
  tool::Progress progress(app.messages(), inputs.files.size(), "files");
  for (const tool::InputFile& file : inputs.files) progress.expect(progress.size_of(file.path));
  for (const tool::InputFile& file : inputs.files) {
    if (driver.stopped()) break;
    tool::begin_file();
    tool::Progress::Item item(progress, progress.size_of(file.path));
    driver.set_progress(&item, item.size());
    show_file(file, options.input, driver);
  }
  driver.set_progress(nullptr, 0);
  driver.missing().warn(app.messages());
  const int code = driver.finish(options.input.section, options.input.missing == tool::Missing::skip);
  if (const std::uint64_t skipped = inputs.skipped + driver.skipped())
    app.messages().note({}, sframe::counted(skipped, "file") + " skipped");
  return code;
}

int run_tool(int argc, char** argv) {
  tool::App app("sframe-dump", "Print the contents of SFrame sections.", examples,
                {.output = true,
                 .environment = tool::debuginfod_environment(),
                 .exit_codes = {{"0", "Everything was shown; an empty section is not an error"},
                                {"1", "Something was damaged"},
                                {"2", "A file could not be read, has no section, has an unknown version or "
                                      "ABI, or cannot be shown in that format; or no function passed the "
                                      "filters, or nothing was shown"}}});
  Options options;
  add_options(app.cli(), options);
  if (const auto code = app.parse(argc, argv)) return *code;

  options.input.limits = app.limits();
  const auto filter = make_filter(options, app.messages());
  if (!filter) return tool::exit_failure;
  options.input.skip = tool::is_tree(options.inputs);
  options.input.missing = options.inputs.missing;
  if (const auto wrong = tool::wrong_with_debug_files(options.debug_files)) {
    app.messages().error({}, *wrong);
    return tool::exit_failure;
  }
  const auto make = choose_dumper(options, app.messages());
  if (!make) return tool::exit_failure;
  if (const auto any = tool::require_inputs(options.inputs, "FILE"); !any) {
    app.messages().error({}, any.error().text());
    return tool::exit_failure;
  }
  const auto named = tool::name_inputs(options.inputs);
  if (!named) {
    app.messages().error({}, named.error().text());
    return tool::exit_failure;
  }
  std::optional<Origins> origins;
  if (!options.origin.empty() && !(origins = read_origins(options, *named, app.messages())))
    return tool::exit_failure;
  const auto list = tool::list_files(*named, options.input.skip, app.output_path());
  std::vector<std::string> paths = tool::paths(list);
  std::vector<std::string> readable = tool::paths(*named);
  tool::start_server(options.debug_files, app.messages());
  options.input.files = options.debug_files.files;
  for (std::string& place : tool::debug_file_places(readable, options.input.files))
    readable.push_back(std::move(place));
  if (options.disassemble) readable.push_back(sframe::code::disassembler_library());
  app.confine({.read = std::move(readable), .found = paths, .reads_members = true});
  if (origins) paths.push_back(options.origin);
  return app.run_with_output(
      paths,
      [&](tool::Output& out) {
        return run(app, options, list, *filter, *make, origins ? &*origins : nullptr, out);
      },
      options.format == &text_format ? tool::App::Errors::in_file : tool::App::Errors::not_in_file);
}

} // namespace

int main(int argc, char** argv) {
  return sframe::tool::run_program("sframe-dump", argc, argv, run_tool);
}
