// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/debug_files.h"

#include <sframe/elf/file_systems.h>
#include <sframe/files/companions.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

namespace sframe::tool {

Option add_trust_option(OptionList& cli, files::FileTrust& trust, const std::string& input) {
  using files::FileTrust;
  static const Choices<FileTrust> names = {
      {"none", FileTrust::none}, {"build-id", FileTrust::build_id}, {"all", FileTrust::all}};
  const auto now = std::ranges::find(names, trust, &std::pair<std::string, FileTrust>::second);
  return cli.add_choice("--trust", trust, names,
                        "Files named in " + input +
                            " to read: none, those whose build ID matches (build-id), or also those for "
                            "which it has no build ID (all) (default: " +
                            now->first + ")");
}

void add_debug_file_options(OptionList& cli, DebugFileOptions& options) {
  cli.add_option("--debug-dir", options.files.more_debug_dirs,
                 "Look up debug files, for names, and sidecars in DIR first, then in " +
                     std::string(files::default_debug_folder) + " (repeatable)")
      .type_name("DIR")
      .one_value_each();
  cli.add_option("--sysroot", options.files.sysroot,
                 "Look up debug files and sidecars in DIR, the root folder of another system: below DIR" +
                     std::string(files::default_debug_folder))
      .type_name("DIR");
  add_debuginfod_options(cli, options.servers, nullptr);
}

std::optional<std::string> wrong_with_debug_files(const DebugFileOptions& options) {
  if (const std::string& root = options.files.sysroot; !root.empty())
    if (const auto wrong = wrong_with_folder(root)) return "--sysroot: " + root + ": " + *wrong;
  return wrong_with_servers(options.servers);
}

void start_server(DebugFileOptions& options, Messages& messages) {
  options.files.server = start_debuginfod(options.servers, messages);
}

std::optional<std::string> wrong_with_folder(const std::string& folder) {
  if (auto obstacle = elf::find_obstacle(folder, {.root = {}, .network = true})) return obstacle;
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return std::filesystem::exists(folder, ignored) ? "not a directory" : "does not exist";
}

std::vector<std::string> debug_file_places(std::span<const std::string> inputs,
                                           const files::FileOptions& options) {
  std::set<std::string> places;
  for (const std::string& input : inputs) {
    std::error_code unknown;
    if (input == "-" || std::filesystem::is_directory(input, unknown)) continue;
    const auto directory = std::filesystem::path(input).parent_path();
    places.insert(directory.empty() ? "." : directory.string());
  }
  std::vector<std::string> all(places.begin(), places.end());
  for (std::string& directory : files::FileAccess(options).debug_folders({}))
    all.push_back(std::move(directory));
  all.push_back(options.sysroot);
  if (options.server) all.push_back(Debuginfod::make_cache_folder());
  return all;
}

std::optional<files::OpenedFile> look_up_debug_file(const std::string& path, const elf::Image& image,
                                                    files::FileOptions options, MessageSink& messages) {
  if (image.budget()) // not its owner
    options.budget = std::shared_ptr<Budget>(std::shared_ptr<void>(), image.budget());
  std::vector<files::Rejected> rejected;
  const files::FileAccess access(options);
  auto found = files::find_debug_file(access, image, {.path = path}, &rejected);
  if (!found && !image.find_section(".debug_info"))
    found = files::fetch_debug_file(access, image.build_id(), image.abi(), &rejected);
  for (const files::Rejected& other : rejected)
    messages.warning(path, "debug file not used: " + other.path + ": " + other.why);
  if (!found) return std::nullopt;
  found->file().accept();
  messages.detail(path, "debug file " + found->path());
  return found;
}

files::FoundSidecar look_up_sidecar(const std::string& path, const elf::Image& image,
                                    files::FileOptions options, Budget& budget) {
  if (image.relocatable() || !image.abi() || !image.sframe_tables().empty()) return {};
  options.budget = std::shared_ptr<Budget>(std::shared_ptr<void>(), &budget); // not its owner
  return files::find_installed_sidecar(files::FileAccess(options), image.build_id(), *image.abi(),
                                       {.path = path});
}

elf::SymbolTable load_symbols(const elf::Image& image, const elf::Image* debug) {
  if (debug)
    if (auto symbols = elf::SymbolTable::load(*debug); !symbols.symbols().empty()) return symbols;
  return elf::SymbolTable::load(image);
}

} // namespace sframe::tool
