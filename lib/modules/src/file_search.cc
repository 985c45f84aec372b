// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates are tried in the order of who names them: the user (EXECUTABLE), the kernel (a live process),
// the core. The first that check() accepts is the file: its build ID is the process's, or its code is that in
// memory, or nobody can tell and the trust allows it. If none is, the image in the process's memory is used,
// which in cores mostly has the headers only. Code in memory is compared as far as it is there; the bytes are
// charged to the budget before that.

#include "file_search.h"

#include "image_data.h"

#include <algorithm>
#include <utility>

namespace sframe::modules {

namespace {

using files::FileTrust;
using files::NamedBy;

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

/// A core may have the first bytes of the build ID only, and zeros in place of the others.
bool starts_with_id(const elf::Image& file, std::span<const std::byte> cut_id) {
  const auto id = file.build_id();
  const std::size_t size = std::min(id.size(), cut_id.size());
  const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
  return size != 0 && same(id.first(size), cut_id.first(size)) &&
         std::ranges::all_of(cut_id.subspan(size), is_zero);
}

} // namespace

bool has_right_id(const ModuleInfo& info, const elf::Image& file) {
  if (info.build_id_cut) return starts_with_id(file, info.build_id);
  bool found = false;
  const auto differ = [&](std::span<const std::byte> a, std::span<const std::byte> b) {
    const bool both = !a.empty() && !b.empty();
    found |= both;
    return both && !same(a, b);
  };
  const auto of_linker = [](std::span<const std::byte> id, std::span<const std::byte> go_id) {
    return same(id, go_id) ? std::span<const std::byte>() : id;
  };
  return !differ(info.go_build_id, file.go_build_id()) &&
         !differ(of_linker(info.build_id, info.go_build_id),
                 of_linker(file.build_id(), file.go_build_id())) &&
         found;
}

expected<FoundFile, std::string> served_file(const ModuleInfo& info, const AbiTraits& abi,
                                             const files::FileAccess& access) {
  auto file = access.fetch(files::ServedFile::executable, info.build_id);
  if (!file) return unexpected(std::string());
  FoundFile found;
  found.image = access.share(std::move(*file), files::OpenFiles::Role::module);
  const elf::Image* const image = found.image->image();
  if (!image || image->abi() != &abi || !has_right_id(info, *image))
    return unexpected(std::string("the file from the server has another build ID"));
  found.named_by = NamedBy::server;
  found.path = found.image->file()->path();
  return found;
}

/// The bytes are mapped, but the kernel did not write them into the core. The image's headers do have their
/// address and size; a section has no build ID, so the size is all there is to check.
std::optional<elf::File> served_section_of(const ModuleInfo& info, const files::FileAccess& access,
                                           const elf::Image* image) {
  const elf::Segment* const segment = image ? image->find_segment(elf::pt_gnu_sframe) : nullptr;
  if (!segment || segment->file_size == 0) return std::nullopt;
  auto file = access.fetch(files::ServedFile::section, info.build_id, ".sframe");
  if (!file || file->bytes().size() != segment->file_size) return std::nullopt;
  return std::move(*file);
}

FoundFile FileSearch::run() {
  const files::FileOptions& options = access_.options();
  const bool is_named = info_.main && !options.executable.empty();
  FoundFile found;
  if (info_.assumed && !is_named) {
    found.problem = "cannot tell the executable from the core; pass EXECUTABLE";
    found.is_missing = true;
  }
  if (!info_.vdso && options.open_files && (is_named || !info_.path.empty())) {
    Attempt attempt = is_named ? open_executable() : open_own();
    if (attempt) {
      attempt->is_missing = found.is_missing;
      if (attempt->problem.empty()) attempt->problem = std::move(found.problem);
      return std::move(*attempt);
    }
    found.problem = std::move(attempt.error().problem);
    found.is_missing = true;
  }
  found.named_by = last_opened_;
  found.image = image_in_memory();
  return found;
}

/// If the user names a different build, the file named by the core may still match.
FileSearch::Attempt FileSearch::open_executable() {
  const std::string& executable = access_.options().executable;
  Attempt named = open(executable, NamedBy::user);
  if (named || info_.assumed || info_.path == executable) return named;
  Attempt own = open_own();
  if (!own) return named;
  own->problem = named.error().problem + "; using " + info_.path;
  return own;
}

/// The file named by the process.
FileSearch::Attempt FileSearch::open_own() {
  if (info_.path.empty()) return unexpected(Refused());
  if (!info_.file.empty()) return open(info_.file, NamedBy::kernel);
  if (info_.path.contains('/') || !info_.folders || info_.build_id.empty())
    return open(info_.path, NamedBy::core);
  return open_in_folders();
}

FileSearch::Attempt FileSearch::open_in_folders() {
  Refused refused;
  for (const std::string& folder : *info_.folders) {
    Attempt attempt = open(folder + '/' + info_.path, NamedBy::core);
    if (attempt) {
      attempt->problem.clear();
      return attempt;
    }
    if (attempt.error().was_opened && !refused.was_opened) refused = std::move(attempt.error());
  }
  if (refused.was_opened) return unexpected(std::move(refused));
  refused.problem = why_not("/" + info_.path, NamedBy::core);
  if (refused.problem.empty())
    refused.problem = info_.path + ": not found in the library directories; the core has no path";
  return unexpected(std::move(refused));
}

/// Without a build ID to compare, the file's bytes would be taken for the process's memory: the reason not to
/// open a file; empty if it may be opened.
std::string FileSearch::why_not(const std::string& path, NamedBy by) {
  const files::FileOptions& options = access_.options();
  if (by != NamedBy::core) return {};
  const std::string other_way =
      info_.main ? "; pass EXECUTABLE" : "; pass --sysroot for the files of another machine";
  if (!path.starts_with('/')) return path + ": not opened: the core has only a relative path" + other_way;
  if (options.trust == FileTrust::none && options.sysroot.empty())
    return path + ": not opened: named only by the core (--trust=none)" + other_way;
  if (!info_.build_id.empty() || has_code_in_memory()) return {};
  if (info_.deleted) return path + ": the mapped file was deleted, and its build ID is unknown";
  if (options.trust == FileTrust::all) return {};
  return path + ": not opened: the core has no build ID to verify it" +
         (info_.main ? "; pass EXECUTABLE or --trust=all"
                     : "; pass --trust=all to use it without verification");
}

FileSearch::Attempt FileSearch::open(const std::string& path, NamedBy by) {
  if (std::string why = why_not(path, by); !why.empty()) return unexpected(Refused{std::move(why)});
  auto file = access_.open(path, by);
  const std::string shown = by == NamedBy::core ? elf::path_in_root(access_.options().sysroot, path) : path;
  if (!file) return unexpected(Refused{shown + ": " + file.error().text()});
  last_opened_ = by;
  FoundFile found;
  found.path = file->path();
  found.named_by = by;
  found.image = access_.share(std::move(*file), files::OpenFiles::Role::module);
  Attempt checked = check(std::move(found), shown);
  if (checked) checked->image->file()->file().accept();
  return checked;
}

/// Whether the file is the one that was mapped. `shown`: its path, for people.
FileSearch::Attempt FileSearch::check(FoundFile file, const std::string& shown) {
  const auto refuse = [&](const std::string& why) { return unexpected(Refused{shown + ": " + why, true}); };
  const elf::Image* const image = file.image->image();
  if (!image) return refuse(file.image->problem());
  if (image->abi() != &abi_) return refuse("wrong machine");
  if (file.named_by == NamedBy::kernel) return file;
  if (has_right_id(info_, *image) || has_right_code(*image)) {
    file.is_identified = true;
    return file;
  }
  if (!info_.build_id.empty()) return refuse(why_other(*image, file.named_by));
  if (info_.deleted) return refuse("the mapped file was deleted, and its build ID is unknown");
  if (file.named_by == NamedBy::core && access_.options().trust != FileTrust::all)
    return refuse("not used: its code is not that in the core, which has no build ID to verify it");
  if (has_other_code(file)) return refuse("not used: its code is not that in the core");
  file.problem = shown + ": used without verification: the core has no build ID for it";
  return file;
}

/// Nothing is shown of a file that only the core names and that does not belong to the process.
std::string FileSearch::why_other(const elf::Image& file, NamedBy by) const {
  const std::string id = file.build_id().empty() ? "has none"
                         : by == NamedBy::user   ? elf::to_hex(file.build_id())
                                                 : "has another";
  return "build ID mismatch: core " + elf::to_hex(info_.build_id) + ", file " + id;
}

/// True if the process's memory has all code of the image and, unless only that is asked, it is equal to that
/// of the file: then the file is the right one, whatever its build ID.
bool FileSearch::has_code(const elf::Image& image, std::uint64_t bias, bool equal) {
  std::uint64_t size = 0;
  for (const elf::CodeRange& range : image.executable_ranges()) {
    size += range.size;
    for (std::uint64_t at = range.start; at != range.end();) {
      const auto memory = memory_.memory_at(to_process(LinkAddress(at), bias));
      const std::uint64_t part = std::min<std::uint64_t>(memory.size(), range.end() - at);
      if (part == 0) return false;
      const auto file = equal ? image.read(at, part) : std::nullopt;
      if (equal && !(file && same(*file, memory.first(part)))) return false;
      at += part;
    }
  }
  constexpr std::uint64_t least = 64; // less is in many files
  return size >= least;
}

/// As has_code(), before there is a file: by the headers in memory.
bool FileSearch::has_code_in_memory() {
  const auto bytes =
      info_.header_address ? memory_.memory_at(info_.header_address) : std::span<const std::byte>{};
  const auto image = elf::Image::parse(bytes);
  return image && info_.bias && has_code(*image, *info_.bias, false);
}

/// Whether the code in memory shows that the file is the one that was mapped.
bool FileSearch::has_right_code(const elf::Image& file) {
  if (!info_.bias) return false;
  Budget* const budget = access_.budget();
  std::uint64_t size = 0;
  for (const elf::CodeRange& range : file.executable_ranges()) size += range.size;
  return (!budget || budget->take(Resource::section_bytes, size)) && has_code(file, *info_.bias, true);
}

/// True if code in memory, as far as it is there, shows that the file is not the one that was mapped.
/// Debuggers and others change single instructions.
bool FileSearch::has_other_code(const FoundFile& found) {
  const elf::Image& file = *found.image->image();
  const auto bias = find_bias(info_, file, data_of(*found.image).bias_finder);
  Budget* const budget = access_.budget();
  std::uint64_t compared = 0, different = 0;
  for (const elf::CodeRange& range : file.executable_ranges()) {
    if (!bias || (budget && !budget->take(Resource::section_bytes, range.size))) return false;
    for (std::uint64_t at = range.start; at != range.end();) {
      const Address address = to_process(LinkAddress(at), *bias);
      const auto stored = file.bytes_at(at), memory = memory_.memory_at(address);
      if (stored.empty()) break;
      const std::uint64_t to_page_end = smallest_page - address.value % smallest_page;
      std::uint64_t part = std::min<std::uint64_t>({to_page_end, range.end() - at, stored.size()});
      if (!memory.empty()) {
        part = std::min<std::uint64_t>(part, memory.size());
        compared += part;
        for (std::size_t i = 0; i < part; ++i) different += stored[i] != memory[i];
      }
      at += part;
    }
  }
  constexpr std::uint64_t least = 16, share = 256;
  return different > least + compared / share;
}

/// The image in the process's memory: all of the vdso, usually only the headers of others.
std::shared_ptr<files::SharedImage> FileSearch::image_in_memory() {
  auto none = std::make_shared<files::SharedImage>();
  const auto bytes =
      info_.header_address ? memory_.memory_at(info_.header_address) : std::span<const std::byte>{};
  Budget* const budget = access_.budget();
  if (bytes.empty() || (budget && budget->is_used_up(Resource::section_bytes))) return none;
  auto image = elf::Image::parse(bytes, budget);
  if (!image || image->abi() != &abi_) return none;
  // Many modules may have the same bytes as their headers.
  const std::uint64_t headers =
      image->segments().size() * sizeof(elf::Segment) + image->sections().size() * sizeof(elf::SectionHeader);
  if (budget && !budget->take(Resource::section_bytes, headers)) return none;
  return std::make_shared<files::SharedImage>(std::move(*image));
}

} // namespace sframe::modules
