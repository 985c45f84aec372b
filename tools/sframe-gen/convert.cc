// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert() is for one input: its kind decides between convert_file() and convert_archive(), which do the
// same for each member. read_input(), generate() and emit() are in files of their own; here is what happens
// around them: messages, the summary, --debug, and what becomes of a file that cannot be converted.

#include "convert.h"

#include <sframe/base/problem.h>
#include <sframe/base/text.h>
#include <sframe/edit/archive.h>
#include <sframe/elf/archive.h>
#include <sframe/elf/file_kind.h>
#include <sframe/files/opened_file.h>
#include <sframe/tool/debug_files.h>
#include <sframe/tool/large_heap.h>
#include <sframe/tool/output_file.h>

#include <algorithm>
#include <utility>

namespace sframe::gen {

namespace {

constexpr std::size_t max_faults_reported = 10;

void report_problems(tool::MessageSink& messages, const std::string& file, const Input& input) {
  if (!input.image) return;
  for (const Problem& problem : input.image->problems()) messages.warning(file, problem);
}

/// What is wrong, and what that costs. Addresses of objects are not those of their sections.
std::string fault_text(const generate::Fault& fault, bool has_addresses) {
  std::string text = cfi::message(fault.error.kind);
  if (!fault.start) return text + "; the entry is left out";
  text += "; the rest of the function";
  if (has_addresses) text += " at " + hex(*fault.start);
  return text + " is left out";
}

void report_faults(tool::MessageSink& messages, const std::string& file, const generate::Report& report,
                   bool has_addresses) {
  const std::size_t reported = std::min(report.faults.size(), max_faults_reported);
  for (const generate::Fault& fault : std::span(report.faults).first(reported))
    messages.warning(file,
                     {fault_text(fault, has_addresses), std::string(fault.section), fault.error.offset});
  if (reported < report.faults.size())
    messages.warning(file, with_commas(report.faults.size() - reported) + " more unreadable entries");
}

/// Handles a file without anything to convert: --emit=elf copies it.
Written keep_file(const CommandLine& line, const elf::File& file, std::string why, Summary& summary) {
  summary.unconverted = std::move(why);
  if (line.emit != Emit::elf) return std::nullopt;
  if (tool::is_same_file(line.input, line.output)) return OutputFile{line.output, file.bytes().size(), false};
  return copy_file(line, file);
}

/// The file of --debug.
Result<files::OpenedFile> open_debug(const CommandLine& line, const Input& input) {
  if (!input.image || input.object) return fail("not used: --debug needs a linked INPUT");
  auto file = elf::File::open(line.debug);
  if (!file) return unexpected(std::move(file.error()));
  if (!elf::Image::is_elf(file->bytes())) return fail(elf::with_file_kind("not an ELF file", file->bytes()));
  files::OpenedFile opened(std::move(*file), line.limits);
  const auto& image = opened.image();
  if (!image) return unexpected(image.error());
  const auto own = input.image->build_id(), other = image->build_id();
  if (image->abi() != input.image->abi()) return fail("for another machine than INPUT");
  if (!own.empty() && !other.empty() && !std::ranges::equal(own, other))
    return fail("build ID " + elf::to_hex(other) + " differs from that of INPUT (" + elf::to_hex(own) + ")");
  return opened;
}

/// Of a file without a section: the sidecar that is installed where its debug file would be.
std::optional<files::OpenedFile> look_up_sidecar(const CommandLine& line, const Input& input,
                                                 tool::MessageSink& messages) {
  auto found = tool::look_up_sidecar(line.input, *input.image, line.debug_files.files, *input.budget);
  if (!found.problem.empty()) messages.warning(line.input, "sidecar not used: " + found.problem);
  if (!found.file || !found.problem.empty()) return std::nullopt;
  messages.detail(line.input, "sidecar " + found.file->path());
  return std::move(found.file);
}

/// True if functions are selected by name or named in the report.
bool prints_names(const CommandLine& line) {
  return line.function || line.report == ReportFormat::json || line.repair != generate::Options::Repair::none;
}

Written convert_file(const CommandLine& line, const elf::File& file, Budget& budget,
                     tool::MessageSink& messages, Summary& summary, tool::Progress::Item& progress) {
  const auto give_up = [&](const Failure& why) -> Written {
    if (line.allow_missing && why.nothing_to_convert)
      return keep_file(line, file, why.problem.text(), summary);
    return refuse(line.input, why.problem);
  };
  auto input = read_input(line, file.bytes(), budget);
  if (!input) return give_up(input.error());
  input->progress = [&](double share) { progress.add(share * progress.size()); };
  report_problems(messages, line.input, *input);
  std::optional<files::OpenedFile> debug;
  if (!line.debug.empty()) {
    auto opened = open_debug(line, *input);
    if (!opened) return refuse(line.debug, std::move(opened.error()));
    input->debug = input->names = debug.emplace(std::move(*opened)).known_image();
  }
  std::optional<files::OpenedFile> separate;
  if (!debug && input->image && !input->object && prints_names(line))
    separate = tool::look_up_debug_file(line.input, *input->image, line.debug_files.files, messages);
  if (separate) input->names = separate->known_image();
  std::optional<files::OpenedFile> sidecar;
  if (line.from == From::sframe && input->image) sidecar = look_up_sidecar(line, *input, messages);
  if (sidecar) input->sidecar = sidecar->known_image();
  const auto generated = generate(line, *input);
  for (const auto* companion : {&debug, &separate, &sidecar})
    if (*companion && !(*companion)->file().is_intact())
      return refuse((*companion)->path(), {tool::cut_input, {}, {}});
  if (const auto limit = debug ? debug->budget().problem() : std::nullopt) return refuse(line.debug, *limit);
  if (!generated) summary.add_unconverted(*input);
  // A damaged file may have something to convert that cannot be found.
  if (line.allow_missing && !generated && generated.error().nothing_to_convert && input->image &&
      !input->image->problems().empty())
    return refuse(line.input, input->image->problems().front());
  if (!generated) return give_up(generated.error());
  report_faults(messages, line.input, generated->report, !input->object);
  for (const std::string& warning : generated->warnings) messages.warning(line.input, warning);
  summary.add(*input, *generated);
  return emit(line, file, *input, *generated);
}

using NewContents = std::optional<std::vector<std::byte>>;

expected<NewContents, FileProblem> convert_members(const CommandLine& line, const std::string& name,
                                                   std::span<const std::byte> archive, int depth,
                                                   Budget& budget, tool::MessageSink& messages,
                                                   Summary& summary, tool::Progress::Item& progress);

/// The member's new contents; empty if it stays unchanged. `archive`: its name. `depth`: of archives in
/// archives.
expected<NewContents, FileProblem> convert_member(const CommandLine& line, const std::string& archive,
                                                  const elf::Member& member, int depth, Budget& budget,
                                                  tool::MessageSink& messages, Summary& summary,
                                                  tool::Progress::Item& progress) {
  const std::string name = archive + '(' + member.name + ')';
  const auto keep = [&](const std::string& why) {
    messages.detail(name, "copied unchanged: " + why);
    return std::nullopt;
  };
  if (elf::is_thin_archive(member.bytes)) return keep("a thin archive");
  if (elf::is_archive(member.bytes)) {
    if (depth == elf::ArchiveContents::max_depth)
      return refuse(name, {"too many archives in archives", {}, {}});
    return convert_members(line, name, member.bytes, depth + 1, budget, messages, summary, progress);
  }
  auto input = read_input(line, member.bytes, budget);
  if (!input && input.error().nothing_to_convert) return keep(input.error().problem.text());
  if (!input) return refuse(name, input.error().problem);
  if (!input->image) return keep("not an ELF file");
  if (const auto problems = input->image->problems(); !problems.empty())
    return refuse(name, problems.front());
  if (!input->object) return keep("not a relocatable object");
  input->progress = [&](double share) { progress.add(share * static_cast<double>(member.bytes.size())); };
  auto generated = generate(line, *input);
  if (!generated && generated.error().nothing_to_convert) {
    summary.add_unconverted(*input);
    return keep(generated.error().problem.text());
  }
  if (!generated) return refuse(name, generated.error().problem);
  report_faults(messages, name, generated->report, false);
  for (const std::string& warning : generated->warnings) messages.warning(name, warning);
  summary.add(*input, *generated, member.name);
  ++summary.converted_members;
  return generated->image.apply(member.bytes);
}

/// The archive with converted members; empty if none can be converted.
expected<NewContents, FileProblem> convert_members(const CommandLine& line, const std::string& name,
                                                   std::span<const std::byte> archive, int depth,
                                                   Budget& budget, tool::MessageSink& messages,
                                                   Summary& summary, tool::Progress::Item& progress) {
  const auto members = elf::archive_members(archive);
  if (!members) return refuse(name, members.error());
  std::vector<NewContents> contents;
  contents.reserve(members->size());
  for (const elf::Member& member : *members) {
    auto converted = convert_member(line, name, member, depth, budget, messages, summary, progress);
    if (!converted) return unexpected(std::move(converted.error()));
    contents.push_back(std::move(*converted));
  }
  summary.members += members->size();
  if (std::ranges::none_of(contents, [](const NewContents& one) { return one.has_value(); }))
    return std::nullopt;
  auto made = edit::replace_members(archive, contents);
  if (!made) return refuse(name, made.error());
  return std::move(*made);
}

Written convert_archive(const CommandLine& line, const elf::File& file, Budget& budget,
                        tool::MessageSink& messages, Summary& summary, tool::Progress::Item& progress) {
  if (line.emit != Emit::elf)
    return refuse(line.input, {"INPUT is an archive, which needs --emit=elf", {}, {}});
  if (!line.debug.empty())
    return refuse(line.input, {"INPUT is an archive; --debug needs a linked file", {}, {}});
  if (line.allow_missing && elf::is_thin_archive(file.bytes()))
    return keep_file(line, file, elf::archive_members(file.bytes()).error().text(), summary);
  auto archive = convert_members(line, line.input, file.bytes(), 1, budget, messages, summary, progress);
  if (!archive) return unexpected(std::move(archive.error()));
  if (!*archive) return keep_file(line, file, "no member can be converted", summary);
  return write_image(line, file, edit::Edit::replace_all(std::move(**archive)));
}

} // namespace

expected<OutputFile, FileProblem> copy_file(const CommandLine& line, const elf::File& file) {
  return write_image(line, file, edit::Edit::keep_start(file.bytes().size()));
}

Written convert(const CommandLine& line, const elf::File& file, tool::MessageSink& messages, Summary& summary,
                tool::Progress::Item& progress) {
  tool::prepare_heap(file.bytes().size());
  const auto convert_kind = elf::is_archive(file.bytes()) ? convert_archive : convert_file;
  Budget budget(line.limits, file.bytes().size());
  auto written = convert_kind(line, file, budget, messages, summary, progress);
  summary.limit = budget.problem();
  return written;
}

} // namespace sframe::gen
