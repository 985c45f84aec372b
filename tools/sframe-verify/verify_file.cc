// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FileVerifier finds out what the file is (verify()), opens what it needs (verify_input(): --sframe, --debug,
// the debug file), and runs the checks in the order of their cost (check()). Functions that return bool
// return whether the file was verified. A problem is reported through one of four functions: lacks() where a
// tree has such files, fail() for FILE, fail_for() for another file that it needs, warn() where the checks go
// on.

#include "verify_file.h"

#include <sframe/base/text.h>
#include <sframe/elf/archive.h>
#include <sframe/elf/file.h>
#include <sframe/elf/file_kind.h>
#include <sframe/elf/sidecar.h>
#include <sframe/files/opened_file.h>
#include <sframe/section.h>
#include <sframe/shrink/image.h>
#include <sframe/tool/debug_files.h>
#include <sframe/tool/large_heap.h>
#include <sframe/verify/against_cfi.h>
#include <sframe/verify/against_code.h>
#include <sframe/verify/against_orc.h>
#include <sframe/verify/against_run.h>
#include <sframe/verify/structure.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unistd.h>

namespace sframe::verify {

namespace {

using Bytes = std::span<const std::byte>;
using OrcEntries = std::vector<tables::OrcEntry>;

constexpr const char* no_section = "no section .sframe";
constexpr const char* section_missing =
    "no section .sframe; sframe-gen adds one"; // of a file that could have one
constexpr const char* no_linked_file =
    "--compiler-bugs needs a linked file: calls of an object have no targets yet";

/// A script is a program without a section, and may be where others are.
bool is_script(Bytes bytes) {
  return as_text(bytes).starts_with("#!");
}

/// A file that FILE needs: of another option, or found for it.
using Companion = std::optional<files::OpenedFile>;

/// The message if both have a build ID and these differ.
std::optional<std::string> build_id_mismatch(const elf::Image* image, const std::string& other_path,
                                             const elf::Image& other) {
  if (!image || image->build_id().empty() || other.build_id().empty()) return std::nullopt;
  if (std::ranges::equal(image->build_id(), other.build_id())) return std::nullopt;
  return "build ID " + elf::to_hex(image->build_id()) + " differs from that of " + other_path + " (" +
         elf::to_hex(other.build_id()) + ")";
}

/// A report's destination: the slot of its file.
class SlotChannel final : public Channel {
public:
  explicit SlotChannel(tool::Slot& slot) : slot_(slot) {}
  void begin_element() override { slot_.begin_element(); }
  void text(std::string_view text) override { slot_.text(text); }

private:
  tool::Slot& slot_;
};

/// Messages that others have about FILE: warnings count, as those of the verifier.
class FileMessages final : public tool::MessageSink {
public:
  FileMessages(tool::Slot& slot, std::vector<Failure>& failures) : slot_(slot), failures_(failures) {}
  void error(std::string_view file, std::string_view what) override { slot_.error(file, what); }
  void warning(std::string_view file, std::string_view what) override {
    slot_.warning(file, what);
    failures_.push_back({std::string(file), {std::string(what), {}, {}}, true});
  }
  void detail(std::string_view file, std::string_view what) override { slot_.detail(file, what); }

private:
  tool::Slot& slot_;
  std::vector<Failure>& failures_;
};

class FileVerifier {
public:
  FileVerifier(const FileOptions& options, const Format& format, tool::Slot& slot,
               tool::Progress::Item& progress)
      : options_(options), format_(format), slot_(slot), channel_(slot), progress_(progress) {}

  /// Also called if the file cannot be opened.
  Outcome run(const tool::InputFile& file);

private:
  bool verify(const std::string& path, Bytes bytes);
  bool verify_archive(const std::string& path, Bytes bytes);
  bool verify_elf(const std::string& path);
  bool verify_raw(const std::string& path, Bytes bytes);
  bool verify_image(const std::string& path, const elf::Image& image);
  bool find_bugs(const std::string& path, const elf::Image& image);
  bool verify_input(const std::string& path, const Input::Sources& sources);
  /// `orc`: nullptr without that check.
  Summary check(const std::string& path, const Input& input, const OrcEntries* orc, FileReport& report);
  void check_code(const std::string& path, const Input& input, Verdicts& verdicts, FileReport& report);
  Names names_of(const elf::Image* debug_image, const elf::Image* image) const;
  bool are_read(const std::string& path, std::span<const Companion* const> companions);
  Companion open_debug(const std::string& path, const elf::Image* image);
  Companion look_up_debug(const std::string& path, const elf::Image* image);
  Companion look_up_sidecar(const std::string& path, const elf::Image* image);
  Companion open(const std::string& path, const std::string& companion, bool raw_allowed);
  RunCoverage check_run(const std::string& path, const Input& input, Verdicts& verdicts, FileReport& report);
  Budget& budget() const { return file_->budget(); }
  bool is_raw(Bytes bytes) const { return options_.sframe.empty() && has_magic(bytes); }
  /// The file has nothing to verify, and that is an error only if it is not part of a tree.
  bool lacks(const std::string& path, const std::string& what) {
    const bool skips =
        options_.skip || options_.missing == tool::Missing::warn || options_.missing == tool::Missing::skip;
    return tool::skip_in_tree(skips, slot_, path, what) || fail(path, {what, {}, {}});
  }
  /// The same for a file that no program could add a section to: it is no error among other files.
  bool cannot_have(const std::string& path, const std::string& what) {
    if (!options_.skip && options_.several) {
      warn(path, {"skipped: " + what, {}, {}});
      return true;
    }
    return lacks(path, what);
  }
  bool lacks_section(const elf::Image& image) const {
    return options_.sframe.empty() && image.sframe_tables().empty();
  }
  bool verify_missing(const std::string& path, const elf::Image& image, const char* what);
  void add_counts(FileReport& report, const Summary& summary);
  /// `path` is FILE or a member of it; the report has an entry for it.
  bool fail(const std::string& path, const Problem& problem) {
    slot_.error(path, problem);
    outcome_.failures.push_back({path, problem});
    format_.unreadable(outcome_.failures.back(), channel_);
    return false;
  }
  /// The error is in another file, which FILE needs.
  bool fail_for(const std::string& path, const std::string& companion, const Problem& problem) {
    slot_.error(companion, problem);
    outcome_.failures.push_back({path, {companion + ": " + problem.what, problem.section, problem.offset}});
    format_.unreadable(outcome_.failures.back(), channel_);
    return false;
  }
  /// Findings in zeros that replaced missing bytes are meaningless. FILE needs the `companion`, unless that
  /// is empty.
  bool fail_cut(const std::string& path, const std::string& companion = {}) {
    const std::string why = companion.empty() ? tool::cut_input : companion + ": " + tool::cut_input;
    outcome_.failures.push_back({path, {why, {}, {}}});
    format_.unreadable(outcome_.failures.back(), channel_);
    return false;
  }
  void warn(const std::string& path, const Problem& problem) {
    slot_.warning(path, problem);
    outcome_.failures.push_back({path, problem, true});
  }

  const FileOptions& options_;
  const Format& format_;
  tool::Slot& slot_;
  SlotChannel channel_;
  tool::Progress::Item& progress_;
  std::optional<files::OpenedFile> file_; ///< FILE
  Companion sidecar_;                     ///< of FILE, installed; if FILE has no section
  std::size_t size_ = 0;                  ///< of FILE, or of the current member
  double check_bytes_ = 0;                ///< of them, how many count as done when the current check is
  Outcome outcome_;
};

Outcome FileVerifier::run(const tool::InputFile& input) {
  const std::string& path = input.path;
  if (!input.failure.empty()) {
    outcome_.done = fail(path, {input.failure, {}, {}});
    return std::move(outcome_);
  }
  auto file = options_.skip ? elf::File::open_regular(path) : elf::File::open(path);
  if (!file) {
    outcome_.done = fail(path, file.error());
    return std::move(outcome_);
  }
  file_.emplace(std::move(*file), options_.limits);
  tool::prepare_heap(file_->bytes().size());
  outcome_.done = verify(path, file_->bytes());
  if (const auto problem = outcome_.done ? budget().problem() : std::nullopt) {
    (void)fail(path, *problem);
    ++outcome_.errors;
  }
  if (!file_->file().is_intact()) outcome_.done = fail_cut(path);
  return std::move(outcome_);
}

bool FileVerifier::verify(const std::string& path, Bytes bytes) {
  size_ = bytes.size();
  if (options_.compiler_bugs && elf::is_archive(bytes)) return lacks(path, no_linked_file);
  if (!options_.compiler_bugs && is_raw(bytes)) return verify_raw(path, bytes);
  if (elf::is_archive(bytes)) return verify_archive(path, bytes);
  if (const auto why = tool::unsuitable_file(bytes, options_.skip))
    return is_script(bytes) ? cannot_have(path, *why) : lacks(path, *why);
  return verify_elf(path);
}

bool FileVerifier::verify_archive(const std::string& path, Bytes bytes) {
  const auto archive = elf::ArchiveContents::open(bytes, path);
  if (!archive) return fail(path, archive.error());
  if (const std::uint64_t more = archive->bytes_in_files()) budget().refill(bytes.size() + more);
  bool done = true, found = false;
  std::vector<const elf::Member*> missing;
  for (const auto& [name, problem] : archive->unreadable()) {
    std::string member = path;
    member.append("(").append(name).append(")");
    done = fail(member, problem);
  }
  for (const elf::Member& member : archive->members()) {
    if (budget().is_used_up()) break;
    const std::string name = path + "(" + member.name + ")";
    size_ = member.bytes.size();
    if (is_raw(member.bytes)) {
      found = true;
      done = verify_raw(name, member.bytes) && done;
      continue;
    }
    if (const auto why = tool::unsuitable_member(member.bytes, options_.skip)) {
      slot_.detail(name, *why);
      continue;
    }
    const auto image = elf::Image::parse(member.bytes, &budget());
    if (!image) {
      done = fail(name, image.error());
      continue;
    }
    if (lacks_section(*image)) {
      missing.push_back(&member);
      continue;
    }
    found = true;
    done = verify_image(name, *image) && done;
  }
  // An archive may have members without a section, but not only these.
  if (!found && !options_.skip && options_.missing == tool::Missing::automatic)
    return fail(path, {no_section, {}, {}});
  bool any_missing = false;
  for (const elf::Member* member : missing) {
    const auto image = elf::Image::parse(member->bytes, &budget());
    if (!image || !tool::may_have_section(*image)) continue;
    any_missing = true;
    done = verify_missing(path + "(" + member->name + ")", *image, no_section) && done;
  }
  return found || any_missing ? done : lacks(path, no_section) && done;
}

/// A file or member that has code and CFI, and no section, which `what` says. Returns false if that is an
/// error, which has been reported.
bool FileVerifier::verify_missing(const std::string& path, const elf::Image& image, const char* what) {
  if (options_.missing == tool::Missing::error) return fail(path, {section_missing, {}, {}});
  slot_.detail(path, std::string("skipped: ") + what);
  if (options_.missing == tool::Missing::skip) return true;
  outcome_.missing.push_back(path);
  outcome_.failures.push_back({path, {what, {}, {}}, true});
  if (!options_.coverage.any()) return true;
  // Nothing of it is covered.
  auto input = Input::load({.image = &image, .may_lack_section = true, .budget = &budget()});
  if (!input) return fail(path, input.error());
  Names names = names_of(nullptr, &image);
  const auto report = format_.file(path, *input, names, channel_);
  Summary summary;
  summary.coverage = coverage(*input);
  check_coverage(*input, summary.coverage, options_.coverage, *report);
  report->finish(summary);
  add_counts(*report, summary);
  return true;
}

void FileVerifier::add_counts(FileReport& report, const Summary& summary) {
  const Counts& counts = report.counts();
  outcome_.functions += summary.functions;
  outcome_.errors += counts.errors;
  outcome_.warnings += counts.warnings;
  outcome_.notes += counts.notes;
  outcome_.hidden_notes += counts.hidden_notes;
  outcome_.found.merge(report.take_found());
}

bool FileVerifier::verify_raw(const std::string& path, Bytes bytes) {
  return verify_input(path,
                      {.raw = bytes, .raw_address = options_.sframe_address.value_or(0), .use_raw = true});
}

bool FileVerifier::verify_elf(const std::string& path) {
  const auto& image = file_->image();
  if (!image) return fail(path, image.error());
  if (options_.compiler_bugs) return find_bugs(path, *image);
  if (!lacks_section(*image)) return verify_image(path, *image);
  if (options_.sframe.empty() && (sidecar_ = look_up_sidecar(path, &*image)))
    return verify_image(path, *image);
  // A damaged file may have a section that cannot be found.
  if (const auto problems = image->problems(); options_.skip && !problems.empty())
    return fail(path, problems.front());
  const bool is_named = !options_.skip && options_.missing == tool::Missing::automatic;
  const bool may_have = tool::may_have_section(*image);
  if (may_have && !is_named) return verify_missing(path, *image, no_section);
  if (image->executable_addresses().empty()) return cannot_have(path, "no code");
  return lacks(path, may_have ? section_missing : no_section);
}

bool FileVerifier::verify_image(const std::string& path, const elf::Image& image) {
  for (const Problem& problem : image.problems()) warn(path, problem);
  return verify_input(path, {.image = &image});
}

bool FileVerifier::find_bugs(const std::string& path, const elf::Image& image) {
  for (const Problem& problem : image.problems()) warn(path, problem);
  if (image.relocatable()) return lacks(path, no_linked_file);
  BugSources sources{.path = path, .image = &image, .progress = [this](double share) {
                       progress_.add(share * static_cast<double>(size_));
                     }};
  Companion debug;
  if (!options_.debug.empty()) {
    if (!(debug = open_debug(path, &image))) return false;
    sources.debug_image = debug->known_image();
  }
  const auto separate = look_up_debug(path, &image);
  if (separate) sources.debug_image = separate->known_image();
  Names names = names_of(sources.debug_image, &image);
  const unsigned helpers = options_.workers->take(options_.workers->all());
  sources.threads = helpers + 1;
  auto bugs = find_compiler_bugs(sources, names);
  options_.workers->give(helpers);
  if (!bugs) return fail(path, bugs.error());
  if (bugs->files == 0) return lacks(path, "no call frame information: no .eh_frame and no .debug_frame");
  outcome_.bugs = std::move(*bugs);
  ++outcome_.sections;
  if (const std::string problem = names.source_problem(); !problem.empty()) warn(path, {problem, {}, {}});
  const Companion* const companions[] = {&debug, &separate};
  return are_read(path, companions);
}

/// Adds the files of --sframe and --debug, and verifies.
bool FileVerifier::verify_input(const std::string& path, const Input::Sources& given) {
  if (given.image && (options_.cfi || options_.code))
    if (const auto complete = shrink::check_complete(*given.image); !complete)
      return fail(path, complete.error());
  Input::Sources sources = given;
  sources.cfi = options_.cfi || options_.code || options_.ran || options_.coverage.any();
  sources.budget = &budget();
  sources.progress = [this](double share) { progress_.add(share * check_bytes_); };
  Companion sframe, debug;
  if (!options_.sframe.empty()) {
    const auto from = sframe_path(options_, sources.image);
    if (!from) return lacks(path, "no build ID to look up in " + options_.sframe);
    if (options_.skip && ::access(from->c_str(), F_OK) != 0) {
      constexpr const char* what = "no sidecar";
      return sources.image && tool::may_have_section(*sources.image)
                 ? verify_missing(path, *sources.image, what)
                 : lacks(path, what);
    }
    if (!(sframe = open(path, *from, true))) return false;
    if (const elf::Image* const image = sframe->known_image()) {
      if (image->sframe_tables().empty()) return fail_for(path, *from, {no_section, {}, {}});
      sources.sframe_image = image;
      // A section of another build is useless for this one: a comparison would only give many false findings.
      if (const auto difference = build_id_mismatch(sources.image, *from, *image))
        return fail(path, {*difference, {}, {}});
    } else {
      sources.use_raw = true;
      sources.raw = sframe->bytes();
      sources.raw_address = options_.sframe_address.value_or(0);
    }
  } else if (sidecar_) {
    sources.sframe_image = sidecar_->known_image();
  }
  if (options_.sframe_address && !sources.use_raw)
    return fail(path, {"--sframe-address needs a raw section; this one is in an ELF file", {}, {}});
  if (!options_.debug.empty()) {
    if (!(debug = open_debug(path, sources.image))) return false;
    sources.debug_image = debug->known_image();
  }
  const auto separate = look_up_debug(path, sources.image);
  if (separate) sources.debug_image = separate->known_image();

  const Companion* const companions[] = {&sframe, &sidecar_, &debug, &separate};
  auto input = Input::load(sources);
  if (!input) {
    for (const Companion* companion : companions)
      if (*companion && input.error().image && (*companion)->known_image() == input.error().image)
        return fail_for(path, (*companion)->path(), input.error());
    return fail(path, input.error());
  }
  Result<std::optional<OrcEntries>> orc = std::nullopt;
  if (options_.orc) {
    orc = load_orc(*input);
    if (!orc) return fail(path, orc.error());
    if (!*orc) return lacks(path, tables::no_orc_table);
  }
  Names names = names_of(sources.debug_image, sources.image);
  const auto report = format_.file(path, *input, names, channel_);
  const Summary summary = check(path, *input, *orc ? &**orc : nullptr, *report);
  report->finish(summary);
  if (const std::string problem = names.source_problem(); !problem.empty()) warn(path, {problem, {}, {}});
  ++outcome_.sections;
  add_counts(*report, summary);
  return are_read(path, companions);
}

Names FileVerifier::names_of(const elf::Image* debug_image, const elf::Image* image) const {
  std::vector<const elf::Image*> with_names;
  for (const elf::Image* one : {debug_image, image}) // the first has more symbols
    if (one) with_names.push_back(one);
  return Names(std::move(with_names), options_.limits);
}

/// Reports limits of companions that were reached. False if one was cut while it was read, which has been
/// reported.
bool FileVerifier::are_read(const std::string& path, std::span<const Companion* const> companions) {
  for (const Companion* companion : companions) {
    if (!companion->has_value()) continue;
    const files::OpenedFile& file = **companion;
    if (!file.file().is_intact()) return fail_cut(path, file.path());
    const auto problem = file.budget().problem();
    if (!problem) continue;
    (void)fail_for(path, file.path(), *problem);
    ++outcome_.errors;
  }
  return true;
}

/// The file of --debug.
Companion FileVerifier::open_debug(const std::string& path, const elf::Image* image) {
  auto debug = open(path, options_.debug, false);
  if (!debug) return debug;
  if (const auto difference = build_id_mismatch(image, options_.debug, *debug->known_image()))
    warn(path, {*difference, {}, {}});
  return debug;
}

/// Without --debug: the file's own debug file, if there is one.
Companion FileVerifier::look_up_debug(const std::string& path, const elf::Image* image) {
  if (!image || image->relocatable() || !options_.debug.empty()) return std::nullopt;
  FileMessages messages(slot_, outcome_.failures);
  return tool::look_up_debug_file(path, *image, options_.files, messages);
}

/// Of a linked file without a section: a sidecar that is installed where its debug file would be.
Companion FileVerifier::look_up_sidecar(const std::string& path, const elf::Image* image) {
  if (!image) return std::nullopt;
  auto found = tool::look_up_sidecar(path, *image, options_.files, budget());
  if (!found.problem.empty()) warn(path, {"sidecar not used: " + found.problem, {}, {}});
  if (!found.file || !found.problem.empty()) return std::nullopt;
  slot_.detail(path, "sidecar " + found.file->path());
  return std::move(found.file);
}

Summary FileVerifier::check(const std::string& path, const Input& input, const OrcEntries* orc,
                            FileReport& report) {
  if (input.parts().empty() && input.faults().empty())
    warn(path, {"the section is empty: nothing to verify", {}, {}});
  // The work of each check, as measured with C++ programs.
  const double structure = options_.structure ? 1 : 0, cfi = options_.cfi ? 3 : 0,
               code = options_.code ? 60 : 0;
  const double bytes_per_work = static_cast<double>(size_) / std::max(1.0, structure + cfi + code);
  check_bytes_ = structure * bytes_per_work;
  if (options_.structure) check_structure(input, report);
  check_profile(input, *options_.profile, report);
  const Coverage covered = coverage(input);
  check_coverage(input, covered, options_.coverage, report);
  Verdicts verdicts(input);
  std::uint64_t addresses = 0;
  if (options_.cfi && !input.parts().empty()) {
    if (!has_cfi(input))
      warn(path,
           {"no .eh_frame or .debug_frame to compare with; pass a file that has them with --debug", {}, {}});
    check_bytes_ = cfi * bytes_per_work;
    addresses = check_against_cfi(input, verdicts, report, options_.profile->rows, options_.code);
  }
  if (orc) addresses = std::max(addresses, check_against_orc(input, *orc, verdicts, report));
  check_bytes_ = code * bytes_per_work;
  if (options_.code) check_code(path, input, verdicts, report);
  std::optional<RunCoverage> ran;
  if (options_.ran) ran = check_run(path, input, verdicts, report);
  Summary summary = verdicts.summary();
  summary.run = ran;
  summary.addresses = addresses;
  summary.coverage = covered;
  return summary;
}

void FileVerifier::check_code(const std::string& path, const Input& input, Verdicts& verdicts,
                              FileReport& report) {
  if (has_code(input)) return check_against_code(input, *options_.workers, verdicts, report);
  const char* why = input.relocatable()
                        ? "the code of relocatable objects is not checked; verify the linked file"
                        : "no code to compare with";
  // Only a detail if other checks run; but if this is the only check, it must not appear to have passed.
  if (options_.structure || options_.cfi)
    slot_.detail(path, why);
  else
    warn(path, {why, {}, {}});
}

RunCoverage FileVerifier::check_run(const std::string& path, const Input& input, Verdicts& verdicts,
                                    FileReport& report) {
  static const RunRecord nothing;
  const auto& files = options_.ran->files;
  const auto file = std::ranges::find(files, file_->file().id(), &run::FileRecord::id);
  const RunRecord& record = file == files.end() ? nothing : file->record;
  const RunCoverage coverage =
      input.image() ? check_against_run(input, record, verdicts, report) : RunCoverage();
  if (coverage.functions != 0) return coverage;
  // It must not appear to have passed.
  const char* const what = record.instructions.empty()
                               ? "the program executed none of its code"
                               : "the program reached none of its functions: nothing was compared";
  (void)fail(path, {what, {}, {}});
  ++outcome_.errors;
  return coverage;
}

Companion FileVerifier::open(const std::string& path, const std::string& companion, bool raw_allowed) {
  // What a folder has under the name by build ID may be anything.
  auto file = companion == options_.sframe ? elf::File::open(companion) : elf::File::open_found(companion);
  if (!file) {
    fail_for(path, companion, file.error());
    return std::nullopt;
  }
  files::OpenedFile out(std::move(*file), options_.limits);
  const Bytes bytes = out.bytes();
  if (raw_allowed && has_magic(bytes)) return out;
  if (!elf::Image::is_elf(bytes)) {
    const char* why = raw_allowed ? "not an ELF file or SFrame section" : "not an ELF file";
    fail_for(path, companion, {elf::with_file_kind(why, bytes), {}, {}});
    return std::nullopt;
  }
  if (!out.image()) {
    fail_for(path, companion, out.image().error());
    return std::nullopt;
  }
  out.file().accept();
  return out;
}

} // namespace

std::optional<std::string> sframe_path(const FileOptions& options, const elf::Image* image) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.sframe, ignored)) return options.sframe;
  const std::string name = image ? elf::sidecar_path(image->build_id()) : std::string();
  if (name.empty()) return std::nullopt;
  return (std::filesystem::path(options.sframe) / name).string();
}

Outcome verify_file(const tool::InputFile& input, const FileOptions& options, const Format& format,
                    tool::Slot& slot, tool::Progress::Item& progress) {
  return FileVerifier(options, format, slot, progress).run(input);
}

} // namespace sframe::verify
