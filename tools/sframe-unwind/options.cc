// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The declarations in add_options(), then what follows from the files (identify_core(): which is the core,
// which the executable) and from the options together: contradictions (check()), the sandbox's needs, whether
// files are fetched.

#include "options.h"

#include "sframe/bytes.h"
#include "sframe/code/disassembly.h"
#include "sframe/core/crash_report.h"
#include "sframe/core/minidump.h"
#include "sframe/elf/file.h"
#include "sframe/elf/file_systems.h"
#include "sframe/elf/image.h"
#include "sframe/elf/unpack.h"
#include "sframe/steppers/steppers.h"
#include "sframe/tool/debug_files.h"

#include <string>
#include <unistd.h>
#include <utility>

namespace sframe::unwind_tool {

using tool::Debuginfod;

namespace {

constexpr auto files_group = "Finding files";
constexpr auto walk_group = "Walking";
constexpr auto output_group = "Output";

const tool::Choices<names::NameStyle> name_styles = {
    {"short", names::NameStyle::shortened}, {"full", names::NameStyle::full}, {"raw", names::NameStyle::raw}};

const tool::Choices<bool> repeats_names = {{"fold", true}, {"all", false}};

std::string option_text(const OutputFormat& format) {
  return std::string("--format=") + format.name;
}

std::vector<std::string> stepper_names() {
  std::vector<std::string> names;
  for (const steppers::StepperInfo& stepper : steppers::ready_steppers()) names.emplace_back(stepper.name);
  return names;
}

} // namespace

void add_options(tool::App& app, Options& options) {
  tool::OptionList& cli = app.cli();
  cli.add_option(
      "CORE", options.inputs.inputs,
      "Core files, and directories with -r: several are grouped by their signatures. One other ELF file "
      "among them is EXECUTABLE: the program, instead of the file that the cores name");
  tool::add_input_options(cli, options.inputs);
  cli.add_option("-c,--core", options.named_core,
                 "The core file, as in gdb; a positional file is then EXECUTABLE")
      .type_name("CORE")
      .group(files_group);
  cli.add_option("-e,--exe,--executable", options.named_executable,
                 "The program, as in eu-stack: the same as a positional EXECUTABLE")
      .type_name("EXECUTABLE")
      .group(files_group)
      .common();

  cli.add_option("--sysroot", options.files.sysroot, "Prefix paths recorded in the core with DIR")
      .type_name("DIR")
      .group(files_group)
      .common();
  cli.add_option("--sframe-dir", options.files.sframe_dir,
                 "Look up SFrame sidecars in DIR, as DIR/.build-id/xx/yyyy.sframe")
      .type_name("DIR")
      .group(files_group)
      .common();
  cli.add_flag("--generate", options.files.generate_sframe,
               "Generate SFrame from CFI in memory for files without SFrame")
      .group(walk_group);
  cli.add_flag("--keep-generated", options.keep_generated,
               "With --generate: save the generated SFrame in the --sframe-dir for later runs")
      .group(walk_group);
  cli.add_option("--debug-dir", options.files.more_debug_dirs,
                 "Look up separate debug files in DIR first, then in " +
                     std::string(files::default_debug_folder) + " (repeatable)")
      .type_name("DIR")
      .one_value_each()
      .group(files_group)
      .common();

  tool::add_trust_option(cli, options.files.trust, "the core").group(files_group);
  cli.add_flag("--no-files", options.no_files, "Open no file except the core").group(files_group);
  tool::add_debuginfod_options(cli, options.debuginfod, files_group).common();
  cli.add_flag("--offline", options.offline, "Make no network connection, whatever the other options")
      .group(files_group);

  cli.add_option("--perf-map", options.perf_map_path,
                 "Take names of generated code from FILE: a map as runtimes write it for perf")
      .type_name("FILE")
      .group(files_group);

  cli.add_option("--thread", options.thread, "Walk only this thread")
      .type_name("TID")
      .group(walk_group)
      .common();
  cli.add_option("--max-frames", options.max_frames, "End the walk of a thread after N frames")
      .type_name("N")
      .range(1u, 100'000'000u)
      .show_default()
      .group(walk_group);
  cli.add_option("--steppers", options.steppers, "Frame steppers to use, in order (comma-separated)")
      .type_name("LIST")
      .completed_by(stepper_names)
      .group(walk_group);
  cli.add_flag("--list-steppers", options.list_steppers, "List the frame steppers and exit")
      .group(walk_group);
  cli.add_option("-p,--pid", options.pid, "Walk this running process instead of a core")
      .type_name("PID")
      .range(1u, 0x7fff'ffffu)
      .group(walk_group)
      .common();
  cli.add_option("--interval", options.interval, "With --pid: interval between samples, in milliseconds")
      .type_name("MS")
      .range(1u, 3'600'000u)
      .show_default()
      .group(walk_group);
  cli.add_option("--count", options.count, "With --pid: number of samples")
      .type_name("N")
      .range(1u, 100'000'000u)
      .show_default()
      .group(walk_group);
  cli.add_flag("--compare", options.compare,
               "Step from every frame by SFrame, CFI, frame pointer and code analysis; report differences")
      .group(walk_group);

  cli.add_choice("--format", options.format, output_formats, "").group(output_group).common();
  cli.add_flag("--no-names", options.no_names, "Do not look up function names (faster)").group(output_group);
  cli.add_choice("--names", options.names, name_styles,
                 "Names of functions: full (demangled), short (long arguments folded), raw (as in the symbol "
                 "table) (default: full; short with --format=folded and svg)")
      .group(output_group)
      .common();
  cli.add_choice("--repeats", options.fold, repeats_names,
                 "Frames of a recursion that repeat the ones before them: fold or all (default: fold on a "
                 "terminal)")
      .group(output_group);
  cli.add_flag("--modules", options.modules,
               "List the mapped files instead of stacks: address, build ID, path, tables, names")
      .group(output_group)
      .common();
  cli.add_flag("--group", options.group,
               "Print stacks as a tree of their common frames, with the number of threads")
      .group(output_group)
      .common();
  cli.add_flag("--registers", options.registers, "Print the known registers of each frame")
      .group(output_group)
      .common();
  cli.add_flag("--source", options.source, "Print source file and line, and inlined calls")
      .group(output_group)
      .common();
  cli.add_option("--source-dir", options.source_dirs,
                 "With --source: print the lines of source files found in DIR, too (repeatable)")
      .type_name("DIR")
      .one_value_each()
      .group(files_group);
  cli.add_flag("--args", options.arguments, "Print the values of each function's parameters, from DWARF")
      .group(output_group)
      .common();
  cli.add_flag("--locals", options.locals, "Print the values of local variables, from DWARF")
      .group(output_group)
      .common();
  cli.add_option(
         "--languages", options.languages,
         "Print goroutines and panics (go), Python frames (python), exceptions (c++), panics (rust); none of "
         "them (none) (comma-separated; default: all)")
      .delimiter(',')
      .one_of({"go", "python", "c++", "rust", "none"})
      .type_name("LIST")
      .one_value_each()
      .group(output_group);
}

namespace {

bool may_be_core(FileKind kind) {
  return kind == FileKind::core || kind == FileKind::packed;
}

/// One core, and maybe its executable. False if both files are cores.
bool identify_one(Options& options) {
  std::vector<std::string>& files = options.inputs.inputs;
  if (files.size() == 2 && files[0] != "-" && (files[1] == "-" || may_be_core(kind_of(files[1])))) {
    if (files[1] != "-" && may_be_core(kind_of(files[0]))) return false;
    std::swap(files[0], files[1]);
  }
  if (!files.empty()) options.core = files[0];
  if (files.size() == 2) options.files.executable = files[1];
  return true;
}

OptionError second_executable(const std::string& file, const Options& options) {
  return {file, "a second EXECUTABLE, after " + options.files.executable};
}

} // namespace

FileKind kind_of(const std::string& path) {
  const auto file = elf::File::open_regular(path);
  if (!file) return FileKind::other;
  const auto bytes = file->bytes();
  if (elf::is_packed(bytes)) return FileKind::packed;
  if (core::is_crash_report(bytes) || core::is_minidump(bytes)) return FileKind::core;
  constexpr std::size_t order_at = 5, type_at = 16; // e_ident[EI_DATA], e_type
  if (!elf::Image::is_elf(bytes) || bytes.size() < type_at + 2) return FileKind::other;
  const ByteOrder order = bytes[order_at] == std::byte{2} ? ByteOrder::big : ByteOrder::little;
  return load<std::uint16_t>(bytes.data() + type_at, order) == elf::et_core ? FileKind::core
                                                                            : FileKind::executable;
}

namespace {

/// The first of the files that lies where nothing answers: the next look at it would wait.
std::optional<OptionError> find_unreachable(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (const auto obstacle = elf::find_obstacle(file, {.root = {}, .network = true});
        obstacle && file != "-")
      return OptionError{file, *obstacle};
  return std::nullopt;
}

} // namespace

std::optional<OptionError> identify_core(Options& options) {
  std::vector<std::string>& files = options.inputs.inputs;
  if (options.format == &html_format) options.registers = options.source = true;
  options.files.open_files = !options.no_files;
  options.files.executable = options.named_executable;
  // What coredumpctl passes with -c need not be there any more.
  if (auto unreachable =
          find_unreachable(options.named_core.empty() ? files : std::vector{options.named_core}))
    return unreachable;
  if (!options.named_core.empty()) {
    if (is_tree(options.inputs)) return OptionError{{}, "--core cannot be combined with -r or --files-from"};
    if (files.size() > 1) return OptionError{files[1], "--core and two more files; pass CORE once"};
    if (!files.empty() && !options.named_executable.empty()) return second_executable(files[0], options);
    if (!files.empty()) options.files.executable = files[0];
    options.core = options.named_core;
    return std::nullopt;
  }
  const std::size_t most = options.named_executable.empty() ? 2 : 1;
  if (!is_tree(options.inputs) && files.size() <= most && identify_one(options)) return std::nullopt;
  options.several = true;
  for (const std::string& file : files) {
    if (file == "-") return OptionError{file, "standard input cannot be one of several cores"};
    if (kind_of(file) != FileKind::executable) continue;
    if (!options.files.executable.empty()) return second_executable(file, options);
    options.files.executable = file;
  }
  std::erase(files, options.files.executable);
  auto named = tool::name_inputs(options.inputs);
  if (!named) return OptionError{{}, named.error().text()};
  options.cores = std::move(*named);
  return std::nullopt;
}

tool::SandboxNeeds sandbox_needs(const Options& options) {
  const modules::FileOptions& files = options.files;
  tool::SandboxNeeds needs{.read = {"/"}, .write = {}, .traces = options.pid != 0};
  if (!files.sysroot.empty())
    needs.read = {files.sysroot,   options.core,     files.executable,
                  files.debug_dir, files.sframe_dir, code::disassembler_library()};
  if (!files.sysroot.empty())
    for (const tool::NamedInput& core : options.cores.inputs) needs.read.push_back(core.path);
  needs.read.insert(needs.read.end(), files.more_debug_dirs.begin(), files.more_debug_dirs.end());
  needs.read.insert(needs.read.end(), options.source_dirs.begin(), options.source_dirs.end());
  if (options.server && !files.sysroot.empty()) needs.read.push_back(Debuginfod::make_cache_folder());
  if (options.keep_generated) needs.write_below.push_back(files.sframe_dir);
  return needs;
}

tool::DebuginfodOptions debuginfod_options(const Options& options) {
  tool::DebuginfodOptions servers = options.debuginfod;
  if (options.offline || options.no_files || options.list_steppers) servers.mode = Debuginfod::Mode::off;
  // Which files are fetched follows from the core.
  const bool trusts_none = options.files.trust == modules::FileTrust::none;
  if (trusts_none || options.modules) servers.otherwise = Debuginfod::Mode::off;
  return servers;
}

std::optional<OptionError> read_perf_map(Options& options) {
  if (options.perf_map_path.empty()) return std::nullopt;
  auto map = languages::PerfMap::read(options.perf_map_path);
  if (!map) return OptionError{options.perf_map_path, map.error().text()};
  options.perf_map = std::make_shared<const languages::PerfMap>(std::move(*map));
  return std::nullopt;
}

std::optional<OptionError> check_terminal(const Options& options) {
  if (!options.format->for_browser || options.list_steppers || !::isatty(STDOUT_FILENO)) return std::nullopt;
  return OptionError{{},
                     option_text(*options.format) + " is for a browser: write it to a file, with -o FILE"};
}

namespace {

std::optional<OptionError> check_folder(const char* option, const std::string& folder) {
  const auto wrong = tool::wrong_with_folder(folder);
  return wrong ? std::optional(OptionError{folder, std::string(option) + ": " + *wrong}) : std::nullopt;
}

} // namespace

std::optional<OptionError> check(const Options& options) {
  if (const auto wrong = tool::wrong_with_servers(options.debuginfod); wrong && !options.offline)
    return OptionError{{}, *wrong};
  if (options.compare && options.group) return OptionError{{}, "--compare and --group cannot be combined"};
  if (options.keep_generated && (!options.files.generate_sframe || options.files.sframe_dir.empty()))
    return OptionError{{}, "--keep-generated needs --generate and --sframe-dir"};
  if (options.modules && (options.compare || options.group || options.pid != 0))
    return OptionError{{}, "--modules cannot be combined with --compare, --group or --pid"};
  if (options.list_steppers) return std::nullopt;
  const modules::FileOptions& files = options.files;
  if (options.no_files && !(files.executable.empty() && files.sysroot.empty() && files.sframe_dir.empty() &&
                            files.more_debug_dirs.empty() && options.source_dirs.empty()))
    return OptionError{{},
                       "--no-files cannot be combined with EXECUTABLE, --sysroot, --sframe-dir, --debug-dir "
                       "or --source-dir"};
  const bool counts = options.format->counts;
  if (options.pid && (options.several || !options.core.empty()))
    return OptionError{{}, "--pid and CORE cannot be combined"};
  if (options.several && (options.thread || options.compare || options.modules))
    return OptionError{{}, "--thread, --compare and --modules need a single core"};
  if (!options.pid && !options.several && options.core.empty())
    return OptionError{{}, "CORE is required (--help shows the options)"};
  if (!options.pid && options.count > 1) return OptionError{{}, "--count needs --pid"};
  if (options.format == &html_format &&
      (options.several || options.count > 1 || options.compare || options.group || options.modules))
    return OptionError{
        {}, "--format=html needs a single core or sample, without --compare, --group and --modules"};
  if (counts && (options.compare || options.group || options.modules))
    return OptionError{
        {}, option_text(*options.format) + " cannot be combined with --compare, --group or --modules"};
  if (shows_variables(options) && (counts || options.compare || options.modules))
    return OptionError{{},
                       "--args and --locals cannot be combined with --compare, --modules or " +
                           option_text(counts ? *options.format : svg_format)};
  // A module with a missing file is walked as far as possible, but a file named by the user must exist.
  const std::string& executable = options.files.executable;
  // coredumpctl passes the path at the time of the crash, with -c: the file may be gone.
  if (!executable.empty() && (options.named_core.empty() || !options.named_executable.empty()))
    if (const auto file = elf::File::open_regular(executable); !file)
      return OptionError{executable, file.error().text()};
  if (!options.source_dirs.empty() && !options.source) return OptionError{{}, "--source-dir needs --source"};
  for (const std::string& folder : options.source_dirs)
    if (auto wrong = check_folder("--source-dir", folder)) return wrong;
  if (const std::string& folder = options.files.sframe_dir; !folder.empty())
    if (auto wrong = check_folder("--sframe-dir", folder)) return wrong;
  // Links in a root are followed inside it, so that there the folder need not be one from outside.
  if (options.files.sysroot.empty())
    for (const std::string& folder : options.files.more_debug_dirs)
      if (auto wrong = check_folder("--debug-dir", folder)) return wrong;
  if (const std::string& folder = options.files.sysroot; !folder.empty())
    if (auto obstacle = elf::find_obstacle(folder, {.root = {}, .network = true}))
      return OptionError{folder, "--sysroot: " + *obstacle};
  return std::nullopt;
}

} // namespace sframe::unwind_tool
