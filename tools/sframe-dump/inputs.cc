// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FileReader decides by the first bytes what a file is (show()) and makes an Object for each image in it,
// with the bytes of its sections. An image's section may be damaged: problems are part of the Object, so that
// formats can show them. In a tree (-r), or with --missing, a file without a section is left out, and an
// archive is shown only if one of its members has a section.

#include "inputs.h"

#include <sframe/core/core_file.h>
#include <sframe/elf/archive.h>
#include <sframe/elf/file.h>
#include <sframe/tool/debug_files.h>

#include <algorithm>

namespace sframe::dump {

namespace {

using tool::exit_failure;
using tool::exit_findings;
using tool::Missing;
using Bytes = std::span<const std::byte>;

constexpr std::string_view default_section = ".sframe";

/// Shows the contents of one file.
class FileReader {
public:
  FileReader(const std::string& path, const InputOptions& options, Driver& driver, files::OpenedFile& file)
      : path_(path), options_(options), driver_(driver), file_(file), budget_(file.budget()) {}

  void show();

private:
  void show_raw(Bytes bytes, Object object);
  void show_archive(Bytes bytes);
  void show_elf(const elf::Image& image, Object object);
  void show_core(Bytes bytes);
  bool show_module(const core::Core& core, const core::CoreModule& module);
  void load_sections(Object& object);
  void load_sidecar(Object& object, const files::OpenedFile& sidecar);
  Result<elf::Contents> load(const elf::Image& image, const elf::SframeLocation& table);
  bool is_named(const elf::Image& image, const elf::SframeLocation& table) const;
  Problem nothing_found() const { return {"no section " + options_.section, {}, {}}; }
  Problem nothing_found(const elf::Image& image) const;
  void report(Object& object, const Problem& problem, int code);
  /// The file has nothing to show, and that is an error only if it is not part of a tree.
  void lacks(const Problem& what) {
    const bool skips =
        options_.skip || options_.missing == Missing::warn || options_.missing == Missing::skip;
    if (tool::skip_in_tree(skips, driver_.messages(), path_, what.text()))
      driver_.count_skipped();
    else
      driver_.unreadable(path_, what, exit_failure);
  }
  /// The same for a file that could have a section, which is an error if the user says so.
  void lacks_section(const Problem& what) {
    if (options_.missing == Missing::error) return driver_.unreadable(path_, what, exit_failure);
    lacks(what);
    if (options_.missing != Missing::skip) driver_.missing().add(path_);
  }
  /// False for formats that show what other tools find in the file.
  bool uses_sidecars() const {
    return options_.section == default_section && !driver_.dumper().named_sections_only();
  }
  /// True if a file without a section may be left out.
  bool may_lack() const { return options_.skip || options_.missing != Missing::automatic; }
  /// A member of an archive with its image, unless it cannot have one.
  struct Member {
    const elf::Member* member;
    std::optional<Result<elf::Image>> image;
  };
  bool has_sections(const Member& member) const;
  bool show_member(const Member& member);

  const std::string& path_;
  const InputOptions& options_;
  Driver& driver_;
  files::OpenedFile& file_;
  Budget& budget_;
};

void FileReader::show() {
  const Bytes bytes = file_.bytes();
  Object object{.path = path_};
  if (options_.raw || has_magic(bytes)) return show_raw(bytes, std::move(object));
  if (elf::is_archive(bytes)) return show_archive(bytes);
  if (!options_.skip && elf::is_packed(bytes)) return show_core(bytes); // in trees it could be anything
  if (const auto why = tool::unsuitable_file(bytes, options_.skip)) return lacks({*why, {}, {}});
  const auto& image = file_.image();
  if (!image) return driver_.unreadable(path_, image.error(), exit_failure);
  if (image->type() == elf::et_core) return show_core(bytes);
  show_elf(*image, std::move(object));
}

void FileReader::show_raw(Bytes bytes, Object object) {
  object.kind = Object::Kind::raw;
  object.sections.push_back({options_.section, 0, elf::Contents(bytes), nullptr});
  driver_.show(object);
}

/// Reports a problem, which the output shows with the object.
void FileReader::report(Object& object, const Problem& problem, int code) {
  driver_.report(object.name(), problem, code);
  object.problems.push_back(problem);
}

void FileReader::show_elf(const elf::Image& image, Object object) {
  object.image = &image;
  for (const Problem& problem : image.problems()) report(object, problem, exit_findings);
  load_sections(object);
  files::FoundSidecar sidecar; // until all is shown
  if (object.sections.empty() && !budget_.is_used_up() && uses_sidecars())
    sidecar = tool::look_up_sidecar(path_, image, options_.files, budget_);
  if (!sidecar.problem.empty())
    driver_.messages().warning(path_, "sidecar not used: " + sidecar.problem);
  else if (sidecar.file)
    load_sidecar(object, *sidecar.file);
  if (object.sections.empty() && budget_.is_used_up()) return;
  const bool is_empty = object.sections.empty();
  if (is_empty && may_lack() && object.problems.empty())
    return tool::may_have_section(image) ? lacks_section(nothing_found(image)) : lacks(nothing_found());
  if (is_empty) object.problems.push_back(nothing_found(image));
  driver_.show(object);
  if (sidecar.file && !sidecar.file->file().is_intact()) driver_.cut(sidecar.file->path());
  if (is_empty) driver_.report(object.name(), nothing_found(image), exit_failure);
}

/// The sections of the sidecar, as if they were the object's.
void FileReader::load_sidecar(Object& object, const files::OpenedFile& sidecar) {
  const std::string what = "without a section; this is the one of its sidecar " + sidecar.path();
  if (options_.skip)
    driver_.messages().detail(path_, what);
  else
    driver_.messages().note(path_, what);
  const elf::Image& image = *sidecar.known_image();
  for (const elf::SframeLocation& table : image.sframe_tables()) {
    auto contents = image.contents(table);
    if (!contents) {
      report(object, contents.error(), exit_findings);
      continue;
    }
    object.sections.push_back({std::string(table.name), table.address, std::move(*contents), nullptr});
  }
}

/// With the reason, as far as the file has it, and what may help.
Problem FileReader::nothing_found(const elf::Image& image) const {
  Problem problem = nothing_found();
  if (options_.section != default_section) return problem;
  const elf::SectionHeader* const cfi = image.find_section(".eh_frame");
  if (cfi && cfi->type == elf::sht_nobits)
    problem.what += ": a separate debug file; if there is one, it is in the file that this belongs to";
  else if (cfi || image.find_segment(elf::pt_gnu_eh_frame))
    problem.what += "; sframe-gen makes one from the file's .eh_frame";
  else
    problem.what += ", and no .eh_frame to make one from; sframe-gen --from=code uses the machine code";
  return problem;
}

/// The bytes of a table, with relocations applied, unless the format shows this version without them.
Result<elf::Contents> FileReader::load(const elf::Image& image, const elf::SframeLocation& table) {
  if (!table.section || !image.relocatable()) return image.contents(table);
  auto plain = image.contents(*table.section);
  constexpr std::size_t version_at = 2;
  if (!plain || plain->size() <= version_at) return plain;
  if (driver_.dumper().needs_raw_bytes(std::to_integer<std::uint8_t>(plain->bytes()[version_at])))
    return plain;
  return image.relocated_contents(*table.section);
}

/// True if a tool that selects sections by name only would use the table; without section headers there are
/// no names.
bool FileReader::is_named(const elf::Image& image, const elf::SframeLocation& table) const {
  return table.section ? table.name == options_.section : image.sections().empty();
}

void FileReader::load_sections(Object& object) {
  for (const elf::SframeLocation& table : object.image->sframe_tables(options_.section)) {
    if (driver_.dumper().named_sections_only() && !is_named(*object.image, table)) continue;
    auto contents = load(*object.image, table);
    if (budget_.is_used_up()) return;
    if (!contents) {
      report(object, contents.error(), exit_findings);
      contents = table.section ? object.image->contents(*table.section) : elf::Contents();
      if (!contents) continue;
    }
    object.sections.push_back({std::string(table.name), table.address, std::move(*contents), table.section});
  }
}

/// Also true for a member whose sections cannot be read: that is to be reported.
bool FileReader::has_sections(const Member& member) const {
  if (!member.image) return has_magic(member.member->bytes);
  return !*member.image || !(*member.image)->sframe_tables(options_.section).empty();
}

/// True if the member has a section.
bool FileReader::show_member(const Member& member) {
  const Bytes bytes = member.member->bytes;
  driver_.set_progress_bytes(bytes.size());
  Object object{.kind = Object::Kind::archive_member, .path = path_, .member = member.member->name};
  if (!member.image && has_magic(bytes)) {
    show_raw(bytes, std::move(object));
    return true;
  }
  if (!member.image) {
    driver_.messages().detail(object.name(), tool::unsuitable_member(bytes, options_.skip).value_or(""));
    return false;
  }
  const Result<elf::Image>& image = *member.image;
  if (!image) {
    driver_.unreadable(object.name(), image.error(), exit_findings);
    return false;
  }
  object.image = &*image;
  load_sections(object);
  driver_.show(object);
  return !object.sections.empty();
}

void FileReader::show_archive(Bytes bytes) {
  const auto archive = elf::ArchiveContents::open(bytes, path_);
  if (!archive) return driver_.unreadable(path_, archive.error(), exit_failure);
  if (const std::uint64_t more = archive->bytes_in_files()) budget_.refill(bytes.size() + more);
  for (const auto& [name, problem] : archive->unreadable())
    driver_.unreadable(path_ + '(' + name + ')', problem, exit_findings);
  // In a tree an archive is shown only if a member has sections: until then, members wait.
  std::vector<Member> waiting;
  bool begun = false, found = false, could_have = false;
  const auto begin = [&] {
    begun = true;
    driver_.dumper().begin_archive(path_);
  };
  if (!may_lack()) begin();
  for (const elf::Member& next : archive->members()) {
    Member member{&next, std::nullopt};
    if (!has_magic(next.bytes) && !tool::unsuitable_member(next.bytes, options_.skip))
      member.image = elf::Image::parse(next.bytes, &budget_);
    could_have |= member.image && *member.image && tool::may_have_section(**member.image);
    if (!begun && has_sections(member)) begin();
    waiting.push_back(std::move(member));
    if (!begun) continue;
    for (const Member& shown : waiting) {
      if (driver_.stopped()) return;
      found |= show_member(shown);
    }
    waiting.clear();
  }
  if (!begun) return could_have ? lacks_section(nothing_found()) : lacks(nothing_found());
  if (!found && !budget_.is_used_up()) driver_.unreadable(path_, nothing_found(), exit_failure);
}

void FileReader::show_core(Bytes bytes) {
  const auto file = core::CoreFile::view(bytes, options_.limits);
  if (!file) return driver_.unreadable(path_, file.error(), exit_failure);
  if (elf::is_packed(bytes)) budget_.refill(file->cost_size());
  if (file->damaged())
    driver_.unreadable(path_, {"compressed file is damaged or truncated", {}, {}}, exit_findings);
  const core::Core& core = file->core();
  bool found = false;
  if (core.is_minidump()) return lacks({"minidump: it has no SFrame section", {}, {}});
  Object own{.path = path_, .image = core.image()};
  for (const Problem& problem : core.problems()) driver_.unreadable(path_, problem, exit_findings);
  load_sections(own);
  if (!own.sections.empty()) {
    driver_.show(own);
    found = true;
  }
  if (options_.section == default_section)
    for (const core::CoreModule& module : core.modules())
      if (!driver_.stopped()) found |= show_module(core, module);
  if (!found) lacks({"no SFrame section in the core or in the images mapped in it", {}, {}});
}

/// Shows the SFrame section of an image mapped in the process, found by its PT_GNU_SFRAME segment. True if
/// there is one.
bool FileReader::show_module(const core::Core& core, const core::CoreModule& module) {
  if (!module.header_address || !module.bias) return false;
  const auto image = elf::Image::parse(core.bytes_at(module.header_address), &budget_);
  if (!image) return false;
  const elf::Segment* segment = image->find_segment(elf::pt_gnu_sframe);
  if (!segment || segment->memory_size == 0) return false;

  Object object{.kind = Object::Kind::core_image, .path = path_, .image = &*image, .bias = *module.bias};
  object.member = module.path.empty() ? hex(module.start) : std::string(module.path);
  const std::uint64_t address = *module.bias + segment->address;
  const Bytes present = core.bytes_at(address);
  if (present.empty()) {
    driver_.unreadable(object.name(), {"the core does not contain the memory of the SFrame section", {}, {}},
                       exit_findings);
    return true;
  }
  // Mostly contiguous; if it spans several segments of the core, it is assembled. These may all be the same
  // bytes of the core, and so may the sections of its modules.
  const std::uint64_t size = segment->memory_size;
  if (!budget_.take(Resource::section_bytes, std::min<std::uint64_t>(size, present.size()))) return true;
  elf::Contents contents(present.first(std::min<std::uint64_t>(size, present.size())));
  if (present.size() < size) {
    std::vector<std::byte> joined;
    for (Bytes piece = present; !piece.empty() && joined.size() < size;
         piece = core.bytes_at(address + joined.size())) {
      piece = piece.first(std::min<std::uint64_t>(piece.size(), size - joined.size()));
      if (!budget_.take(Resource::section_bytes, piece.size())) return true;
      joined.insert(joined.end(), piece.begin(), piece.end());
    }
    contents = elf::Contents(std::move(joined));
  }
  object.sections.push_back({std::string(default_section), address, std::move(contents), nullptr});
  driver_.show(object);
  return true;
}

} // namespace

void show_file(const tool::InputFile& input, const InputOptions& options, Driver& driver) {
  const std::string& path = input.path;
  if (!input.failure.empty()) return driver.unreadable(path, {input.failure, {}, {}}, exit_failure);
  auto opened = options.skip ? elf::File::open_regular(path) : elf::File::open(path);
  if (!opened) return driver.unreadable(path, opened.error(), exit_failure);
  files::OpenedFile file(std::move(*opened), options.limits);
  show_opened(path, file, options, driver);
  if (!file.file().is_intact()) driver.cut(path);
}

void show_opened(const std::string& path, files::OpenedFile& file, const InputOptions& options,
                 Driver& driver) {
  driver.set_budget(&file.budget(), path);
  FileReader(path, options, driver, file).show();
  driver.set_budget(nullptr);
}

} // namespace sframe::dump
