// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three steps: declare_options(), CLI11's parsing, and then read_texts() and the contradictions between
// options, each with a message of its own. CommandLine has values only; texts that need a second look are in
// Raw.

#include "command_line.h"

#include <sframe/tool/coverage_options.h>
#include <sframe/tool/output_file.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

namespace sframe::gen {

namespace {

constexpr const char* examples =
    "  sframe-gen app -o app                                     add .sframe to the program, in place\n"
    "  sframe-gen libfoo.a -o libfoo.a                           the same for every object in an archive\n"
    "  sframe-gen libfoo.so -o libfoo.sframe --emit=section      write only the section\n"
    "  sframe-gen libfoo.so -o sidecars/ --emit=sidecar          store a sidecar by build ID\n"
    "  sframe-gen old.so -o new.sframe --from=sframe --emit=section\n"
    "                                                            convert an older version, merge several "
    "sections\n"
    "  sframe-gen app -o app.sframe --emit=section --report=json --min-coverage=90\n"
    "  sframe-gen -r --in-place debian/tmp                       every program, library and object in a "
    "tree\n"
    "  sframe-gen -r /usr/lib -o sidecars/ --emit=sidecar        sidecars for all linked files\n";

/// The values that CLI11 fills in, before they are checked.
struct Raw {
  std::string function, section_address, byte_order;
  std::string reader = "spec";
  bool has_version = false;
  std::string goal = "none";
  std::string repair = "none";
  std::uint32_t max_rows = 0;
  std::string shrink = "none";
  std::uint32_t max_cfi_bytes = 0;
  bool no_plt = false;
  bool no_pcrel = false;
  bool share_rows = false;
  tool::CoverageOptions coverage;
};

const tool::Choices<From> sources = {
    {"cfi", From::cfi}, {"code", From::code},    {"cfi,code", From::cfi_and_code},
    {"orc", From::orc}, {"go", From::go},        {"tables", From::tables},
    {"all", From::all}, {"sframe", From::sframe}};
const tool::Choices<Emit> results = {
    {"elf", Emit::elf},
    {"section", Emit::section},
    {"sidecar", Emit::sidecar},
#if SFRAME_BPF
    {"bpf-table", Emit::bpf_table},
#endif
};
#if SFRAME_BPF
constexpr const char* results_text = "Write elf (a copy of INPUT with .sframe; default), section (a raw "
                                     "section), sidecar, or bpf-table (its rows, for BPF programs)";
#else
constexpr const char* results_text =
    "Write elf (a copy of INPUT with .sframe; default), section (a raw section) or sidecar";
#endif
const tool::Choices<ReportFormat> report_formats = {
    {"text", ReportFormat::text}, {"json", ReportFormat::json}, {"none", ReportFormat::none}};

void declare_options(tool::OptionList& cli, CommandLine& line, Raw& raw) {
  cli.add_option("INPUT", line.inputs.inputs,
                 "ELF file or archive; with --from=sframe also a raw section; - is standard input. Several "
                 "INPUTs, or directories with -r, need --in-place or -o DIR");
  cli.add_choice(
         "--from", line.from, sources,
         "Convert from cfi (.eh_frame and .debug_frame; default), from code (machine code), from "
         "cfi,code (machine code where there is no CFI), from orc (the Linux kernel's table), from go "
         "(Go's function table), from tables (Go's, CFI, the kernel's: the first that describes a function), "
         "from all (these, then code) or from sframe")
      .common();
  cli.add_option("--debug", line.debug,
                 "INPUT's separate debug file: its CFI (.debug_frame) describes what INPUT's does not")
      .type_name("FILE");
  tool::add_debug_file_options(cli, line.debug_files);
  cli.add_choice("--emit", line.emit, results, results_text).common();
  tool::Choices<VersionNumber> versions;
  for (const VersionTraits* version : all_versions())
    versions.emplace_back(std::to_string(version->number), VersionNumber{version->number});
  cli.add_option("--for", raw.reader,
                 "Write what this reader can use: its version, and no rows that it rejects (default: spec)")
      .one_of(readers::reader_names())
      .common();
  cli.add_choice("--sframe-version", line.version, versions,
                 "SFrame version to write (default: 3, or that of --for)")
      .common();
  cli.add_option("--byte-order", raw.byte_order,
                 "Byte order to write; needs --from=sframe and --emit=section")
      .one_of({"little", "big"});
  cli.add_option("--section-address", raw.section_address,
                 "Address of the section (default: 0; for a sidecar, after the last segment)")
      .type_name("ADDRESS");
  cli.add_option("--function", raw.function, "Convert only functions whose name matches the pattern GLOB")
      .type_name("GLOB");
  cli.add_flag("--no-plt", raw.no_plt, "Skip linker-generated PLT entries");
  cli.add_flag("--no-pcrel", raw.no_pcrel,
               "Store function starts relative to the section, not to their own field (flag "
               "FUNC_START_PCREL clear): for version 2 objects and GNU ld 2.44");
  cli.add_flag("--share,!--no-share", raw.share_rows,
               "Store identical rows of several functions once (default: in little-endian sections of linked "
               "files; never in objects)");
  cli.add_flag("--return-addresses", line.return_addresses,
               "Extend functions that end with a call over the padding after it, for readers that do not "
               "subtract 1 from return addresses (from CFI, implied by --for=linux, linux-module and glibc)");
  cli.add_flag("--merge-functions", line.merge_functions,
               "Merge adjacent functions that have one identical row");
  cli.add_option(
         "--optimize", raw.goal,
         "Form FDEs for size (join neighbouring functions, split large ones), for the smallest section "
         "(also split at any row to share more; takes longer), for lookup (split those with more than "
         "--max-rows rows), or none: an FDE for each function (default)")
      .one_of({"size", "smallest", "lookup", "none"})
      .common();
  cli.add_flag("--repair{apply}", raw.repair,
               "Fix rows that the machine code proves wrong; =list: only report them")
      .one_of({"apply", "list"});
  cli.add_option("--max-rows", raw.max_rows, "Rows in an FDE that --optimize forms (default: 40)")
      .type_name("N")
      .range(1u, 65'535u);
  cli.add_flag(
         "--shrink-cfi{lossless}", raw.shrink,
         "Also re-encode .eh_frame and .eh_frame_hdr of linked files in fewer bytes: adjacent functions "
         "share an FDE; lossless (default): every register's rule stays the same at every address; sync: at "
         "calls, system calls, instructions that can fault, and where debuggers stop (needs --full-cfi); "
         "faults: not where debuggers stop, nor where a push overflows the stack (the same). Unwinding an "
         "exception takes longer (up to 1.25 times as long per frame)")
      .one_of({"lossless", "sync", "faults"});
  cli.add_option(
         "--max-cfi-bytes", raw.max_cfi_bytes,
         "With --shrink-cfi: maximum bytes of instructions in an FDE that functions share. More bytes save "
         "space, and exceptions take longer. Default: 256 in files without personality routines, which "
         "exceptions hardly pass; in others 128 (lossless), 64 (sync), 40 (faults): 1.25 times as long")
      .type_name("N")
      .range(1u, 65'535u);
  cli.add_option("--full-cfi", line.full_cfi,
                 "With --shrink-cfi=sync and =faults: write all call frame information to FILE, as the "
                 "contents of a section "
                 ".debug_frame for INPUT's debug file")
      .type_name("FILE");
  cli.add_choice(
      "--report", line.report, report_formats,
      "Format of the report: text (default; to standard error), json (to standard output) or none");
  cli.add_option("--report-file", line.report_file, "Write the report to FILE").type_name("FILE");
  cli.add_flag("--strict", line.strict, "Exit with code 1 if anything could not be represented").common();
  tool::add_coverage_options(
      cli, raw.coverage, "Exit with code 1 if less than PERCENT of all executable bytes are covered",
      "Exit with code 1 if less than PERCENT of the bytes that INPUT describes are covered");
  cli.add_flag("--allow-missing", line.allow_missing,
               "Exit with code 0 if INPUT has nothing to convert; --emit=elf copies it (--missing=skip)");
  tool::add_input_options(cli, line.inputs);
  tool::add_missing_option(
      cli, line.inputs.missing,
      "An INPUT with code but nothing to convert: error (default for a single one), warn (counted; default "
      "for several) or skip. Converting nothing at all is an error, except with skip");
  cli.add_flag("--in-place", line.in_place, "Replace each INPUT").group(tool::input_group).common();
  cli.add_flag("--force", line.force, "Also write files that are up to date").group(tool::input_group);
}

/// Same for several inputs.
std::optional<std::string> tree_contradiction(const CommandLine& line, bool has_output) {
  if (line.in_place == has_output)
    return has_output ? "--in-place and -o cannot be combined" : "several inputs need --in-place or -o DIR";
  if (line.in_place && line.emit != Emit::elf) return "--in-place needs --emit=elf";
  if (line.emit == Emit::section) return "--emit=section needs exactly one INPUT";
  if (line.section_address) return "--section-address needs exactly one INPUT";
  if (!line.debug.empty()) return "--debug needs exactly one INPUT";
  if (!line.full_cfi.empty()) return "--shrink-cfi=sync needs exactly one INPUT";
  if (std::ranges::count(line.inputs.inputs, "-")) return "standard input needs -o FILE and no other INPUT";
  std::error_code error;
  if (has_output && (line.output == "-" || (std::filesystem::exists(line.output, error) &&
                                            !std::filesystem::is_directory(line.output, error))))
    return "-o must name a directory if there are several inputs";
  return std::nullopt;
}

/// Checks combinations of options. Returns a message if they conflict.
std::optional<std::string> contradiction(const CommandLine& line) {
  if (line.emit == Emit::elf && line.section_address)
    return "--section-address needs --emit=section or --emit=sidecar";
  if (line.byte_order && (line.from != From::sframe || line.emit != Emit::section))
    return "--byte-order needs --from=sframe and --emit=section";
  if (line.from == From::sframe && (line.function || !line.plt))
    return "--function and --no-plt need --from=cfi";
  if (line.from == From::sframe && line.return_addresses) return "--return-addresses needs --from=cfi";
  if (line.repair != generate::Options::Repair::none && !reads_cfi(line.from))
    return "--repair needs --from=cfi or --from=cfi,code";
  if (line.shrink && (line.emit != Emit::elf || line.from == From::sframe))
    return "--shrink-cfi needs --emit=elf, and --from=cfi or --from=cfi,code";
  const bool is_reduced = line.shrink && line.shrink->level != shrink::Level::lossless;
  if (is_reduced && line.full_cfi.empty())
    return "--shrink-cfi=" + std::string(shrink::name(line.shrink->level)) +
           " needs --full-cfi=FILE: debuggers need what it takes out of the file";
  if (!line.full_cfi.empty() && !is_reduced) return "--full-cfi needs --shrink-cfi=sync or =faults";
  if (line.from != From::cfi && line.function) return "--function needs --from=cfi";
  if (!line.debug.empty() && !reads_cfi(line.from)) return "--debug needs --from=cfi or --from=cfi,code";
  return std::nullopt;
}

/// Same for one input.
std::optional<std::string> single_contradiction(const CommandLine& line) {
  if (line.emit != Emit::elf && tool::is_same_file(line.input, line.output))
    return "the output would overwrite the input";
  if (!line.debug.empty() && tool::is_same_file(line.debug, line.output))
    return "the output would overwrite the file of --debug";
  if (line.full_cfi == "-") return "--full-cfi needs the name of a file";
  if (!line.full_cfi.empty() &&
      (line.full_cfi == line.output || line.full_cfi == line.report_file ||
       tool::is_same_file(line.full_cfi, line.output) || tool::is_same_file(line.full_cfi, line.input) ||
       tool::is_same_file(line.full_cfi, line.debug)))
    return "--full-cfi would overwrite the input or another output";
  if (!line.report_file.empty() &&
      (line.report_file == line.output || tool::is_same_file(line.report_file, line.input) ||
       tool::is_same_file(line.report_file, line.output) ||
       (!line.debug.empty() && tool::is_same_file(line.report_file, line.debug))))
    return "--report-file would overwrite the input or the output";
  return std::nullopt;
}

/// Parses the texts that CLI11 does not parse itself. Returns a message if one is invalid.
std::optional<std::string> read_texts(const Raw& raw, CommandLine& line) {
  line.plt = !raw.no_plt;
  line.pcrel = !raw.no_pcrel;
  if (!raw.byte_order.empty()) line.byte_order = raw.byte_order == "big" ? ByteOrder::big : ByteOrder::little;
  line.reader = readers::find_reader(raw.reader);
  if (!raw.has_version)
    line.version = line.reader->version;
  else if (!(line.reader->versions >> static_cast<unsigned>(line.version) & 1))
    return "--for=" + raw.reader + ": this reader reads version " +
           std::to_string(static_cast<unsigned>(line.reader->version)) + ", not " +
           std::to_string(static_cast<unsigned>(line.version));
  if (!line.pcrel && line.reader->flags & flag_func_start_pcrel)
    return "--for=" + raw.reader + ": this reader requires FUNC_START_PCREL";
  const auto coverage = tool::required_coverage(raw.coverage);
  if (!coverage) return coverage.error().text();
  line.coverage = *coverage;
  if (raw.goal != "none") {
    line.optimize.emplace();
    if (raw.goal == "lookup") line.optimize->goal = OptimizeOptions::Goal::lookup;
    if (raw.goal == "smallest") line.optimize->goal = OptimizeOptions::Goal::smallest;
    if (raw.max_rows != 0) line.optimize->max_rows = raw.max_rows;
  } else if (raw.max_rows != 0) {
    return "--max-rows needs --optimize";
  }
  if (raw.shrink != "none") {
    line.shrink.emplace();
    for (const auto level : {shrink::Level::sync, shrink::Level::faults})
      if (raw.shrink == shrink::name(level)) line.shrink->level = level;
    if (raw.max_cfi_bytes != 0) line.shrink->max_cfi_bytes = raw.max_cfi_bytes;
  } else if (raw.max_cfi_bytes != 0) {
    return "--max-cfi-bytes needs --shrink-cfi";
  }
  if (raw.repair != "none")
    line.repair = raw.repair == "list" ? generate::Options::Repair::list : generate::Options::Repair::apply;
  if (!raw.section_address.empty()) {
    line.section_address = tool::parse_address(raw.section_address);
    if (!line.section_address) return "--section-address: not an address: " + raw.section_address;
  }
  if (!raw.function.empty()) {
    auto glob = tool::Glob::parse(raw.function);
    if (!glob) return "--function: " + glob.error().text();
    line.function = std::move(*glob);
  }
  return std::nullopt;
}

} // namespace

tool::App make_app() {
  return tool::App("sframe-gen",
                   "Generate an SFrame section from call frame information, or convert an existing one.",
                   examples,
                   {.output = true,
                    .threads = true,
                    .environment = tool::debuginfod_environment(),
                    .exit_codes = {{"0", "Done"},
                                   {"1", "Done, but entries could not be read, something was left out with "
                                         "--strict, or a coverage limit was missed"},
                                   {"2", "Failed: no output, or no report"}}});
}

expected<CommandLine, int> parse_command_line(tool::App& app, int argc, const char* const* argv) {
  CommandLine line;
  Raw raw;
  declare_options(app.cli(), line, raw);
  if (const auto code = app.parse(argc, argv)) return unexpected(*code);
  const auto fail = [&](const std::string& what) {
    app.messages().error({}, what);
    return unexpected<int>(tool::exit_failure);
  };
  using tool::Missing;
  if (line.allow_missing && line.inputs.missing != Missing::automatic && line.inputs.missing != Missing::skip)
    return fail("--allow-missing is --missing=skip, and cannot be combined with another one");
  if (line.allow_missing) line.inputs.missing = Missing::skip;
  line.allow_missing = line.inputs.missing == Missing::skip;
  const bool has_output = app.cli().count("--output") != 0;
  if (const auto any = tool::require_inputs(line.inputs, "INPUT"); !any) return fail(any.error().text());
  line.tree = line.in_place || tool::is_tree(line.inputs) || line.inputs.inputs.size() != 1;
  if (line.inputs.null_separated && line.inputs.files_from.empty()) return fail("-0 needs --files-from");
  if (!line.tree && !has_output) return fail("-o OUTPUT is required (- is standard output)");
  line.input = line.tree ? std::string() : line.inputs.inputs.front();
  line.output = has_output ? app.output_path() : std::string();
  line.threads = app.threads();
  line.limits = app.limits();
  raw.has_version = app.cli().count("--sframe-version") != 0;
  if (app.cli().count("--share") != 0) line.share_rows = raw.share_rows;
  if (const auto wrong = read_texts(raw, line)) return fail(*wrong);
  if (const auto wrong = contradiction(line)) return fail(*wrong);
  if (const auto wrong = tool::wrong_with_debug_files(line.debug_files)) return fail(*wrong);
  if (const auto wrong = line.tree ? tree_contradiction(line, has_output) : single_contradiction(line))
    return fail(*wrong);
  return line;
}

} // namespace sframe::gen
