// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three steps, each at most once: found() searches on this machine (FileSearch), use() asks a server if that
// found nothing (first for .sframe alone, which is much smaller), fetch_whole() gets the rest for a question
// that needs it. The mapping is completed by each file that is found.

#include "sframe/modules/module_file.h"

#include "file_search.h"
#include "image_data.h"

#include <utility>

namespace sframe::modules {

namespace {

using files::NamedBy;

/// Everything was copied when the module was made.
FoundFile generated_image(const GeneratedCode& code, const ModuleInfo& info, const AbiTraits& abi,
                          Budget* budget) {
  FoundFile found;
  found.image = std::make_shared<files::SharedImage>();
  if (code.image.empty()) return found;
  auto image = elf::Image::parse(code.image, budget);
  if (image && image->abi() == &abi)
    found.image = std::make_shared<files::SharedImage>(std::move(*image));
  else
    found.problem = info.path + ": " + (image ? "wrong machine" : image.error().text());
  return found;
}

/// The root of a process that has another one than this program, in a container: the file's path has two
/// parts then. Empty for others.
std::string root_of_process(const ModuleInfo& info) {
  if (info.file.size() <= info.path.size() || !info.file.ends_with(info.path)) return {};
  return info.file.substr(0, info.file.size() - info.path.size());
}

/// What follows from the file that was opened.
void locate(Mapping& mapping, const FoundFile& file) {
  mapping.locate(*file.image->image(), data_of(*file.image).bias_finder, file.path);
}

} // namespace

ModuleFile::ModuleFile(ModuleInfo info, const AbiTraits& abi, const files::FileOptions& files,
                       ByteSource& memory, std::shared_ptr<const GeneratedCode> code)
    : mapping_(std::move(info)), abi_(abi), access_(files), memory_(memory), code_(std::move(code)) {}

FoundFile& ModuleFile::found() {
  if (FoundFile* const known = found_.made()) return *known;
  FoundFile& found = found_.get([&] {
    return code_ ? generated_image(*code_, mapping_.info(), abi_, access_.budget())
                 : FileSearch(mapping_.info(), abi_, access_, memory_).run();
  });
  problem_ = found.problem;
  if (found.is_identified) mapping_.identify(*found.image->image());
  if (has_file()) locate(mapping_, found);
  return found;
}

files::SharedImage& ModuleFile::look() {
  return *found().image;
}

files::SharedImage& ModuleFile::use() {
  if (!served_) {
    Served& served = served_.emplace();
    if (found().is_missing) ask_server(served);
  }
  return *found().image;
}

/// Of a missing file, the SFrame section is enough for walks, and much smaller.
void ModuleFile::ask_server(Served& served) {
  const ModuleInfo& info = mapping_.info();
  if (info.vdso || code_ || info.build_id.empty() || info.build_id_cut || !access_.options().server) return;
  served.section = served_section_of(info, access_, found().image->image());
  if (!served.section && !fetch_file(served)) return;
  problem_.clear();
  found().is_missing = false;
}

bool ModuleFile::fetch_file(Served& served) {
  auto fetched = served_file(mapping_.info(), abi_, access_);
  served.has_file = fetched.has_value();
  if (!fetched) {
    if (!fetched.error().empty()) problem_ += "; " + fetched.error();
    return false;
  }
  former_image_ = found().image;
  fetched->is_missing = found().is_missing;
  found() = std::move(*fetched);
  locate(mapping_, found());
  return true;
}

bool ModuleFile::fetch_whole() {
  if (!has_section_only() || !fetch_file(*served_)) return false;
  problem_.clear();
  Lazy<files::FoundDebug>& debug = found().image->debug;
  if (!debug.made()) debug = former_image_->debug;
  return true;
}

std::span<const std::byte> ModuleFile::served_section() const {
  return served_ && served_->section ? served_->section->bytes() : std::span<const std::byte>{};
}

const elf::Image* ModuleFile::with_sections(const files::SharedImage& image) const {
  return image.file() || mapping_.info().vdso || code_ ? image.image() : nullptr;
}

std::string ModuleFile::path() {
  use();
  return has_file() && !found().is_missing ? found().path : std::string();
}

std::string ModuleFile::verified_path() {
  const FoundFile& file = found();
  const bool is_local = file.named_by == NamedBy::core || file.named_by == NamedBy::user;
  return has_file() && is_local && !mapping_.info().build_id.empty() ? file.path : std::string();
}

std::span<const std::byte> ModuleFile::build_id() {
  if (!mapping_.info().build_id.empty()) return mapping_.info().build_id;
  const elf::Image* const image = this->image();
  return has_file() && image ? image->build_id() : std::span<const std::byte>{};
}

files::Origin ModuleFile::origin() {
  const ModuleInfo& info = mapping_.info();
  const FoundFile& file = found();
  files::Origin origin{
      .path = {}, .named_by = file.named_by, .name = info.path, .root = {}, .is_served = !info.vdso};
  if (has_file()) origin.path = file.path;
  if (file.named_by == NamedBy::kernel) origin.root = root_of_process(info);
  return origin;
}

bool ModuleFile::is_fetched() const {
  const FoundFile* const file = found_.made();
  return !served_section().empty() || (file && file->named_by == NamedBy::server);
}

bool ModuleFile::is_missing() {
  use();
  return found().is_missing;
}

const std::string& ModuleFile::problem() {
  use();
  return problem_;
}

const std::string& ModuleFile::problem_so_far() {
  static const std::string none;
  if (!is_used()) return none;
  if (auto reached = found().image->any_reached_limit()) problem_ = std::move(*reached);
  return problem_;
}

void ModuleFile::add_problem(const std::string& line) {
  if (problem_.empty()) problem_ = line;
}

void ModuleFile::set_problem(const std::string& line) {
  problem_ = line;
}

bool ModuleFile::has_reached_limit() const {
  const FoundFile* const file = found_.made();
  return file && file->image->any_reached_limit();
}

} // namespace sframe::modules
