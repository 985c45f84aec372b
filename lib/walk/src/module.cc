// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/walk/module.h"

#include "sframe/elf/sidecar.h"

#include <algorithm>

namespace sframe::walk {

namespace {

/// ".build-id/xx/yyyy.debug" below a folder; empty without a build ID.
std::string by_build_id(const std::string& dir, std::span<const std::byte> id, std::string_view extension) {
  std::string path = elf::sidecar_path(id);
  if (path.empty() || dir.empty()) return {};
  path.replace(path.rfind('.'), std::string::npos, extension);
  return dir + '/' + path;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

} // namespace

Module::Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory)
    : info_(std::move(info)), abi_(abi), files_(files), memory_(memory) {}

std::string_view Module::name() const {
  const std::string_view path = info_.path;
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

void Module::load() {
  if (loaded_) return;
  loaded_ = true;
  if (!info_.vdso && files_.open_files && !info_.path.empty()) {
    const bool named = info_.main && !files_.executable.empty();
    const std::string path = named ? files_.executable : files_.sysroot + info_.path;
    if (open_file(path)) {
      if (!info_.bias)
        info_.bias = elf::bias_from_file(*image_, [&] {
          std::vector<elf::Mapping> mappings;
          for (const ModuleMapping& m : info_.mappings)
            mappings.push_back({m.start, m.end, m.file_offset, info_.path});
          return mappings;
        }());
      return;
    }
    file_missing_ = true;
  }
  file_.reset();
  image_.reset();
  use_memory();
}

/// Opens the file and makes sure that it is the one that was mapped. Sets problem_.
bool Module::open_file(const std::string& path) {
  auto file = elf::File::open_regular(path);
  if (!file) {
    problem_ = path + ": " + file.error().text();
    return false;
  }
  file_ = std::move(*file);
  auto image = elf::Image::parse(file_->bytes());
  if (!image || image->abi() != &abi_) {
    problem_ = path + ": " + (image ? "is for another machine" : image.error().text());
    return false;
  }
  image_ = std::move(*image);
  if (!info_.build_id.empty()) {
    if (same(info_.build_id, image_->build_id())) return true;
    problem_ = path + ": is not the file that was mapped: its build ID is " +
               (image_->build_id().empty() ? "missing" : elf::to_hex(image_->build_id())) + ", not " +
               elf::to_hex(info_.build_id);
    return false;
  }
  if (info_.deleted) {
    problem_ = path + ": the mapped file was deleted, and its build ID is not known";
    return false;
  }
  problem_ = path + ": used unchecked: the build ID of what was mapped is not known";
  return true;
}

/// What the process's memory holds of the image: all of the vdso, usually only the headers of others.
void Module::use_memory() {
  const auto bytes =
      info_.header_address ? memory_.memory_at(info_.header_address) : std::span<const std::byte>{};
  if (bytes.empty()) return;
  auto image = elf::Image::parse(bytes);
  if (image && image->abi() == &abi_) image_ = std::move(*image);
}

std::uint64_t Module::bias() {
  if (!info_.bias) load();
  return info_.bias.value_or(info_.start);
}

std::span<const std::byte> Module::file_bytes_at(std::uint64_t address) {
  load();
  if (!file_ || file_missing_) return {};
  for (const ModuleMapping& m : info_.mappings) {
    if (address < m.start || address >= m.end) continue;
    const auto bytes = file_->bytes();
    const std::uint64_t into = address - m.start;
    if (m.file_offset > bytes.size() || into >= bytes.size() - m.file_offset) return {};
    const auto rest = bytes.subspan(m.file_offset + into);
    return rest.first(std::min<std::uint64_t>(rest.size(), m.end - address));
  }
  return {};
}

bool Module::is_code(std::uint64_t address) {
  load();
  if (!image_) return false;
  const std::uint64_t link = address - bias();
  return std::ranges::any_of(image_->segments(), [&](const elf::Segment& s) {
    return s.type == elf::pt_load && s.flags & elf::pf_x && link - s.address < s.memory_size;
  });
}

const elf::Image* Module::image() {
  load();
  return table_image();
}

std::span<const std::byte> Module::build_id() {
  if (!info_.build_id.empty()) return info_.build_id;
  load();
  return image_ && file_ ? image_->build_id() : std::span<const std::byte>{};
}

const std::string& Module::problem() {
  load();
  return problem_;
}

bool Module::file_missing() {
  load();
  return file_missing_;
}

void Module::open_debug_file() {
  if (debug_tried_) return;
  debug_tried_ = true;
  const std::string path =
      files_.open_files ? by_build_id(files_.debug_dir, build_id(), ".debug") : std::string();
  if (path.empty()) return;
  auto file = elf::File::open_regular(path);
  if (!file) return; // most files have none: no problem
  debug_file_ = std::move(*file);
  auto image = elf::Image::parse(debug_file_->bytes());
  if (image && image->abi() == &abi_ && same(image->build_id(), build_id())) debug_image_ = std::move(*image);
}

void Module::find_sidecar() {
  const std::string path =
      files_.open_files ? by_build_id(files_.sframe_dir, build_id(), ".sframe") : std::string();
  if (path.empty()) return;
  auto file = elf::File::open_regular(path);
  if (!file) return; // not every module has one
  sidecar_ = std::move(*file);
  auto image = elf::Image::parse(sidecar_->bytes());
  if (!image || image->abi() != &abi_)
    problem_ = path + ": " + (image ? "is for another machine" : image.error().text());
  else if (!same(image->build_id(), build_id()))
    problem_ = path + ": is for another build ID";
  else
    sidecar_image_ = std::move(*image);
}

UnwindTables& Module::tables() {
  if (tables_) return *tables_;
  load();
  find_sidecar();
  TableSources sources = {
      .image = table_image(),
      .image_is_memory = !file_ && !info_.vdso,
      .memory = &memory_,
      .bias = bias(),
      .sidecar = sidecar_image_ ? &*sidecar_image_ : nullptr,
  };
  // Code without any .eh_frame is the one reason to look for a separate file here.
  if (sources.image && !sources.image_is_memory && !sources.image->find_section(".eh_frame")) {
    open_debug_file();
    sources.debug = debug_image_ ? &*debug_image_ : nullptr;
  }
  tables_ = std::make_unique<UnwindTables>(sources, abi_);
  if (problem_.empty() && !tables_->problems().empty())
    problem_ = info_.path + ": " + tables_->problems().front();
  return *tables_;
}

const elf::SymbolTable& Module::symbols() {
  if (symbols_) return *symbols_;
  load();
  const elf::Image* image = file_ || info_.vdso ? table_image() : nullptr;
  const auto has_full_table = [](const elf::Image& i) {
    return std::ranges::any_of(i.sections(),
                               [](const elf::Section& s) { return s.type == elf::sht_symtab && s.size; });
  };
  if (!image || !has_full_table(*image)) {
    open_debug_file();
    if (debug_image_ && has_full_table(*debug_image_)) image = &*debug_image_;
  }
  symbols_ = image ? elf::SymbolTable::load(*image) : elf::SymbolTable();
  return *symbols_;
}

} // namespace sframe::walk
