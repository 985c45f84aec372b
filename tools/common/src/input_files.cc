// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finder walks the inputs depth first, each folder's names sorted, so that the order of files is the same on
// all file systems. A folder that is inside itself (by a bind mount) is found by its ID among those that are
// open; symbolic links are followed only if they were named.

#include "sframe/tool/input_files.h"

#include "sframe/base/text.h"
#include "sframe/tool/app.h"
#include "sframe/tool/output_file.h"
#include "sframe/tool/process_limits.h"

#include "sframe/elf/archive.h"
#include "sframe/elf/file_kind.h"
#include "sframe/elf/image.h"
#include "sframe/elf/kept_places.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <sys/stat.h>

namespace sframe::tool {

namespace {

namespace fs = std::filesystem;
using Kind = FoundFile::Kind;

std::string name_of(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return (normal.has_filename() ? normal.filename() : normal.parent_path().filename()).string();
}

/// Where a listed path belongs in a mirrored tree.
std::string listed_place(const std::string& path) {
  std::string place = fs::path(path).lexically_normal().relative_path().string();
  while (place.ends_with('/')) place.pop_back();
  return place == "." ? std::string() : place;
}

Result<std::vector<std::string>> read_list(const std::string& path, char separator) {
  const auto file = elf::File::open(path);
  if (!file) return fail(path + ": " + file.error().text());
  std::string_view rest = as_text(file->bytes());
  std::vector<std::string> names;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    if (end != 0) names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!file->is_intact()) return fail(path + ": " + cut_input);
  return names;
}

const char* name_of_kind(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFSOCK: return "socket";
  case S_IFIFO: return "FIFO";
  case S_IFBLK:
  case S_IFCHR: return "device";
  default: return "special file";
  }
}

Kind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFREG: return Kind::regular;
  case S_IFDIR: return Kind::folder;
  case S_IFLNK: return Kind::symbolic_link;
  default: return Kind::special;
  }
}

constexpr const char* not_recursive = "is a directory (-r includes the files in it)";

/// A path as part of a folder's: "folder/", or nothing.
std::string as_prefix(const std::string& path) {
  return path.empty() || path.ends_with('/') ? path : path + '/';
}

bool is_excluded(std::span<const Glob> patterns, const std::string& path) {
  const std::string name = name_of(path);
  return std::ranges::any_of(patterns,
                             [&](const Glob& glob) { return glob.matches(path) || glob.matches(name); });
}

class Finder {
public:
  Finder(const NamedInputs& named, elf::File::Id output) : named_(named), output_(output) {}

  void add(const NamedInput& input) {
    if (!is_excluded(named_.excluded, input.path)) visit(input.path, input.place, {});
  }

  std::vector<FoundFile> take() { return std::move(found_); }

private:
  /// `below` is the path from the input; empty for the input itself.
  void visit(const std::string& path, const std::string& place, const std::string& below) {
    expect_files(1);
    FoundFile found{.path = path, .place = place};
    struct stat info {};
    if ((below.empty() ? ::stat : ::lstat)(elf::reachable(path).c_str(), &info) != 0)
      return add_failure(std::move(found), error_text("cannot open"));
    found.kind = kind_of(info.st_mode);
    found.id = {info.st_dev, info.st_ino};
    if (found.kind == Kind::folder) return visit_folder(std::move(found), below);
    if (found.kind == Kind::regular) found.size = static_cast<std::uint64_t>(info.st_size);
    if (found.kind == Kind::special) found.what = name_of_kind(info.st_mode);
    found_.push_back(std::move(found));
  }

  void visit_folder(FoundFile folder, const std::string& below) {
    if (folder.id == output_ || is_excluded(named_.excluded_folders, below.empty() ? folder.path : below))
      return;
    if (!named_.recursive) return add_failure(std::move(folder), not_recursive);
    if (std::ranges::count(open_folders_, folder.id))
      return add_failure(std::move(folder), "the directory contains itself");
    std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(elf::reachable(folder.path).c_str()), ::closedir);
    if (!open) return add_failure(std::move(folder), error_text("cannot open the directory"));
    found_.push_back(folder);
    open_folders_.push_back(folder.id);
    const std::vector<std::string> names = read_names(*open, folder);
    open.reset(); // one descriptor, however deep the tree
    for (const std::string& name : names) {
      const std::string inside = as_prefix(below) + name;
      if (!is_excluded(named_.excluded, inside))
        visit(as_prefix(folder.path) + name, as_prefix(folder.place) + name, inside);
    }
    open_folders_.pop_back();
  }

  /// Sorted. After an error, what was read.
  std::vector<std::string> read_names(DIR& open, const FoundFile& folder) {
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(&open)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    if (errno != 0) add_failure(folder, error_text("cannot read the directory"));
    std::ranges::sort(names);
    return names;
  }

  static std::string error_text(const char* doing) {
    return std::string(doing) + ": " + std::strerror(errno);
  }

  void add_failure(FoundFile found, std::string what) {
    found.kind = Kind::failure;
    found.what = std::move(what);
    found_.push_back(std::move(found));
  }

  const NamedInputs& named_;
  const elf::File::Id output_;
  std::vector<FoundFile> found_;
  std::vector<elf::File::Id> open_folders_; ///< from the input to the current folder
};

/// True if the path is the file `output`, and it has nothing that a mistyped -o should not replace.
bool is_report(const std::string& path, const std::string& output) {
  if (output == "-" || !is_same_file(path, output)) return false;
  const auto file = elf::File::open_regular(path);
  return file && !elf::Image::is_elf(file->bytes()) && !elf::is_archive(file->bytes());
}

} // namespace

void add_input_options(OptionList& cli, InputOptions& options) {
  cli.add_flag("-r,--recursive", options.recursive,
               "Include all files in directories; symbolic links are not followed")
      .group(input_group)
      .common();
  cli.add_option("--files-from", options.files_from,
                 "Read more inputs from FILE, one per line; - is standard input")
      .type_name("FILE")
      .group(input_group);
  cli.add_flag("-0,--null", options.null_separated, "Names in the file of --files-from end with a zero byte")
      .group(input_group);
  cli.add_option(
         "--exclude", options.excluded,
         "Leave out files and directories whose name, or path below an INPUT directory, matches GLOB; only "
         "directories if it ends with / (repeatable)")
      .type_name("GLOB")
      .one_value_each()
      .group(input_group);
}

void add_missing_option(OptionList& cli, Missing& missing, const std::string& text) {
  static const Choices<Missing> names = {
      {"error", Missing::error}, {"warn", Missing::warn}, {"skip", Missing::skip}};
  cli.add_choice("--missing", missing, names, text).group(input_group).common();
}

bool may_have_section(const elf::Image& image) {
  // Of an end mark alone, as the start files of a C library have it.
  constexpr std::uint64_t end_mark = 4;
  if (image.type() == elf::et_core) return false;
  if (image.sections().empty())
    return !image.executable_addresses().empty() && image.find_segment(elf::pt_gnu_eh_frame) != nullptr;
  const auto any = [&](const auto& matches) {
    return std::ranges::any_of(image.sections(), [&](const elf::SectionHeader& section) {
      return section.type != elf::sht_nobits && matches(section);
    });
  };
  return any([](const elf::SectionHeader& s) { return s.allocated() && s.executable() && s.size != 0; }) &&
         any([](const elf::SectionHeader& s) {
           return (s.is_named(".eh_frame") || s.is_named(".debug_frame")) && s.size > end_mark;
         });
}

void MissingSections::warn(Messages& messages) const {
  if (paths_.empty()) return;
  const std::size_t count = paths_.size();
  messages.warning(
      paths_.front(),
      "code and call frame information, but no section" +
          (count == 1 ? std::string() : "; " + std::to_string(count) + " files in all have none") +
          " (-v names " + (count == 1 ? "it" : "them") +
          ", --missing=error makes this an error, --missing=skip drops the warning)");
}

Result<NamedInputs> name_inputs(const InputOptions& options) {
  NamedInputs named{.inputs = {}, .excluded = {}, .excluded_folders = {}, .recursive = options.recursive};
  if (options.null_separated && options.files_from.empty()) return fail("-0 needs --files-from");
  for (const std::string& pattern : options.excluded) {
    const bool of_folders = pattern.size() > 1 && pattern.ends_with('/');
    auto glob = Glob::parse(std::string_view(pattern).substr(0, pattern.size() - of_folders));
    if (!glob) return fail("--exclude " + pattern + ": " + glob.error().text());
    (of_folders ? named.excluded_folders : named.excluded).push_back(std::move(*glob));
  }
  for (const std::string& path : options.inputs) {
    std::error_code ignored;
    named.inputs.push_back({path, fs::is_directory(path, ignored) ? std::string() : name_of(path)});
  }
  if (options.files_from.empty()) return named;
  auto list = read_list(options.files_from, options.null_separated ? '\0' : '\n');
  if (!list) return unexpected(list.error());
  for (std::string& path : *list) {
    std::string place = listed_place(path);
    named.inputs.push_back({std::move(path), std::move(place)});
  }
  return named;
}

std::vector<FoundFile> find_files(const NamedInputs& named, elf::File::Id output) {
  Finder finder(named, output);
  for (const NamedInput& input : named.inputs) finder.add(input);
  return finder.take();
}

bool is_tree(const InputOptions& options) {
  return options.recursive || !options.files_from.empty();
}

Result<void> require_inputs(const InputOptions& options, std::string_view name) {
  if (options.inputs.empty() && options.files_from.empty())
    return fail("no " + std::string(name) + " given (--help shows the options)");
  return {};
}

std::optional<std::string> unsuitable_file(std::span<const std::byte> bytes, bool tree) {
  if (bytes.empty()) return "empty file";
  if (!elf::Image::is_elf(bytes))
    return elf::with_file_kind("not an ELF file, archive or SFrame section", bytes);
  return unsuitable_member(bytes, tree);
}

std::optional<std::string> unsuitable_member(std::span<const std::byte> bytes, bool tree) {
  if (!elf::Image::is_elf(bytes)) return "not an ELF file";
  if (tree && elf::Image::is_32_bit(bytes)) return elf::Image::is_32_bit_text;
  return std::nullopt;
}

bool skip_in_tree(bool tree, MessageSink& messages, std::string_view path, std::string_view why) {
  if (tree) messages.detail(path, std::string("skipped: ").append(why));
  return tree;
}

std::vector<std::string> paths(const NamedInputs& named) {
  std::vector<std::string> all;
  for (const NamedInput& input : named.inputs) all.push_back(input.path);
  return all;
}

std::vector<std::string> paths(const InputList& list) {
  std::vector<std::string> all;
  for (const InputFile& input : list.files) all.push_back(input.path);
  return all;
}

InputList list_files(const NamedInputs& named, bool tree, const std::string& output) {
  InputList list;
  if (!tree) {
    for (const NamedInput& input : named.inputs) {
      if (is_excluded(named.excluded, input.path)) continue;
      std::error_code ignored;
      list.files.push_back({input.path, fs::is_directory(input.path, ignored) ? not_recursive : ""});
    }
    expect_files(list.files.size());
    return list;
  }
  std::set<elf::File::Id> seen;
  for (FoundFile& file : find_files(named)) {
    switch (file.kind) {
    case Kind::folder: break;
    case Kind::failure: list.files.push_back({std::move(file.path), std::move(file.what)}); break;
    case Kind::symbolic_link:
    case Kind::special: ++list.skipped; break;
    case Kind::regular:
      if (!seen.insert(file.id).second)
        ++list.skipped;
      else if (!is_report(file.path, output))
        list.files.push_back({std::move(file.path), {}});
    }
  }
  return list;
}

} // namespace sframe::tool
