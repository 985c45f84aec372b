// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "program.h"

#include <sframe/elf/file.h>
#include <sframe/elf/image.h>
#include <sframe/files/opened_file.h>
#include <sframe/section.h>

#include <algorithm>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sframe::verify {

namespace {

/// True if the list of --check has "run".
bool selects_run(std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == "run") return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::optional<elf::File::Id> id_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return elf::File::Id{info.st_dev, info.st_ino};
}

/// The rows of a file that the program uses; empty if it has none, or they cannot be read. Verification of
/// the file reports that afterwards.
std::optional<RowTable> load_rows(const std::string& path, const FileOptions& options) {
  auto opened = elf::File::open_regular(path);
  if (!opened || !elf::Image::is_elf(opened->bytes())) return std::nullopt;
  files::OpenedFile file(std::move(*opened), options.limits);
  const auto& image = file.image();
  if (!image) return std::nullopt;
  Input::Sources sources{.image = &*image};
  sources.cfi = false;
  sources.budget = &file.budget();
  std::optional<files::OpenedFile> other;
  if (!options.sframe.empty()) {
    const auto from = sframe_path(options, &*image);
    if (!from || ::access(from->c_str(), F_OK) != 0) return std::nullopt;
    auto opened_other = elf::File::open(*from);
    if (!opened_other) return std::nullopt;
    other.emplace(std::move(*opened_other), options.limits);
    if (has_magic(other->bytes())) {
      sources.use_raw = true;
      sources.raw = other->bytes();
      sources.raw_address = options.sframe_address.value_or(0);
    } else {
      if (!other->image() || other->image()->sframe_tables().empty()) return std::nullopt;
      sources.sframe_image = other->known_image();
    }
  } else if (image->sframe_tables().empty()) {
    return std::nullopt;
  }
  const auto input = Input::load(sources);
  if (!input) return std::nullopt;
  return RowTable(*input);
}

} // namespace

SplitArguments split_arguments(std::span<char* const> arguments) {
  bool is_run = false, is_list = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    constexpr std::string_view option = "--check=";
    if (argument == "--") {
      if (!is_run) break;
      const auto rest = arguments.subspan(i + 1);
      return {arguments.first(i), {rest.begin(), rest.end()}};
    }
    if (argument.starts_with(option)) is_run |= selects_run(argument.substr(option.size()));
    if (is_list) is_run |= selects_run(argument);
    is_list = argument == "--check";
  }
  return {arguments, {}};
}

Result<run::Outcome> follow_program(const ProgramOptions& program, const FileOptions& options) {
  std::vector<elf::File::Id> only;
  for (const std::string& file : program.files)
    if (const auto id = id_of(file)) only.push_back(*id);
  return run::run(
      {.command = program.command,
       .max_steps = program.max_steps,
       .from = program.from,
       .emulator = program.emulator,
       .limits = options.limits,
       .rows_of = [&](const std::string& path, const elf::File::Id& id) -> std::optional<RowTable> {
         if (!program.files.empty() && std::ranges::find(only, id) == only.end()) return std::nullopt;
         return load_rows(path, options);
       }});
}

} // namespace sframe::verify
