// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints.h"

#include "sframe/elf/image.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

namespace {

/// A module with frames that have no name.
struct Unnamed {
  modules::Module* module;
  std::size_t addresses;
  crash::Package package; ///< without a name if it is not known
};

/// Why a module has no names. A file that is there but not used has a warning with the reason.
std::string reason(modules::Module& module) {
  if (!module.file().is_missing()) return "no symbols";
  const bool is_there = !module.file().problem().ends_with(std::strerror(ENOENT));
  return is_there ? "its file is not used: see the warning" : "its file is missing";
}

std::string count(std::size_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + ' ' + (number == 1 ? one : many);
}

std::vector<Unnamed> list_unnamed(const Options& options, const Symbolizer& symbolizer,
                                  crash::InstalledPackages& installed) {
  constexpr std::size_t most = 64;
  std::vector<Unnamed> list;
  std::vector<std::string> paths; // of the same number; empty where no package is to be looked for
  for (const auto& [module, addresses] : symbolizer.unnamed()) {
    if (module->generated() || module->info().vdso) continue;
    if (!module->file().is_missing() && module->symbols().source() == modules::ModuleSymbols::Source::full)
      continue; // code without one
    if (list.size() == most) break;
    auto noted = crash::noted_package(*module);
    const bool is_unverified = module->file().is_missing() && module->build_id().empty(); // a warning says so
    const bool here = !noted && !is_unverified && options.files.sysroot.empty();
    paths.push_back(here ? module->info().path : std::string());
    list.push_back({module, addresses, noted.value_or(crash::Package())});
  }
  std::vector<crash::Package> packages = installed.find(paths);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].package.name.empty()) list[i].package = std::move(packages[i]);
  return list;
}

/// Where else names could be from. `place`: the debug file below a debug directory.
std::string advice(const Options& options, const std::string& place) {
  std::string text;
  const bool is_served = options.server && options.server->is_used();
  if (!is_served && !tool::Debuginfod::has_servers())
    text = "DEBUGINFOD_URLS may name a server that has them; ";
  else if (!is_served)
    text = "--debuginfod=on may fetch them; ";
  return text + "--debug-dir DIR looks for DIR/" + place;
}

/// Notes of modules of which no package is known.
void print_others(tool::Messages& messages, const Options& options, std::span<const Unnamed> others) {
  constexpr std::size_t most = 8;
  bool have_ids = false;
  for (const auto& [module, addresses, package] : others.first(std::min(most, others.size()))) {
    const auto id = module->build_id();
    have_ids |= !id.empty();
    std::string what = "no names for " + count(addresses, "address", "addresses") + ": " + reason(*module) +
                       (id.empty() ? ", and its build ID is not known" : "; build ID " + elf::to_hex(id));
    if (!id.empty() && options.server && options.server->is_used())
      what += options.server->has_failed() ? "; not fetched: see the warning" : "; no server had them";
    if (!id.empty() && others.size() == 1) what += "; " + advice(options, elf::build_id_path(id, ".debug"));
    messages.note(module->info().path, what);
  }
  if (others.size() > most)
    messages.note({}, "no names in " + count(others.size() - most, "other file", "other files"));
  if (have_ids && others.size() > 1)
    messages.note({}, "for these: " + advice(options, ".build-id/, by build ID"));
}

} // namespace

void print_hints(tool::Messages& messages, const Options& options, const Symbolizer& symbolizer,
                 crash::InstalledPackages& installed) {
  if (options.no_files) return; // none is wanted
  if (const modules::Module* const module = symbolizer.not_searched())
    messages.note(module->info().path,
                  "its debug information is large, so that the line \"where\" is not looked "
                  "for in it; --source does");
  std::vector<Unnamed> others;
  std::vector<crash::Package> packages;
  std::size_t addresses = 0, files = 0;
  for (Unnamed& one : list_unnamed(options, symbolizer, installed)) {
    if (crash::commands_for_symbols(std::span(&one.package, 1)).empty()) {
      others.push_back(std::move(one));
      continue;
    }
    packages.push_back(std::move(one.package));
    addresses += one.addresses;
    ++files;
    messages.detail(one.module->info().path, "no names for " + count(one.addresses, "address", "addresses") +
                                                 ": " + reason(*one.module) + "; build ID " +
                                                 elf::to_hex(one.module->build_id()));
  }
  std::string commands;
  for (const std::string& command : crash::commands_for_symbols(packages))
    commands += (commands.empty() ? "" : "; ") + command;
  if (!commands.empty())
    messages.note({}, "no names for " + count(addresses, "address", "addresses") + " in " +
                          count(files, "file", "files") + ": " + commands);
  print_others(messages, options, others);
}

} // namespace sframe::unwind_tool
