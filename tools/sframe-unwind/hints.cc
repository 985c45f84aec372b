// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints.h"

#include "sframe/crash/packages.h"
#include "sframe/elf/image.h"
#include "sframe/files/debug_file.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

namespace {

std::string debug_package(const std::string& package) {
  return package + (package == "libc6" ? "-dbg" : "-dbgsym"); // the only one not made by debhelper
}

/// Why a module has no names. A file that is there but not used has a warning with the reason.
std::string reason(modules::Module& module) {
  if (!module.file().is_missing()) return "no symbols";
  const bool is_there = !module.file().problem().ends_with(std::strerror(ENOENT));
  return is_there ? "its file is not used: see the warning" : "its file is missing";
}

} // namespace

void print_hints(tool::Messages& messages, const Options& options, const Symbolizer& symbolizer) {
  if (options.no_files) return; // none is wanted
  if (const modules::Module* const module = symbolizer.not_searched())
    messages.note(module->info().path,
                  "its debug information is large, so that the line \"where\" is not looked "
                  "for in it; --source does");
  constexpr std::size_t most = 8;
  std::vector<std::pair<modules::Module*, std::size_t>> unnamed;
  std::vector<std::string> paths; // of the same number; empty where no package is to be looked for
  for (const auto& [module, addresses] : symbolizer.unnamed()) {
    if (module->generated() || module->info().vdso) continue;
    if (!module->file().is_missing() && module->symbols().source() == modules::ModuleSymbols::Source::full)
      continue; // code without one
    if (unnamed.size() == most) break;
    unnamed.emplace_back(module, addresses);
    const bool is_unverified = module->file().is_missing() && module->build_id().empty(); // a warning says so
    const bool here = !is_unverified && options.files.sysroot.empty();
    paths.push_back(here ? module->info().path : std::string());
  }
  const std::vector<crash::Package> packages = crash::installed_packages(paths);
  for (std::size_t i = 0; i < unnamed.size(); ++i) {
    const auto [module, addresses] = unnamed[i];
    const auto id = module->build_id();
    std::string what = "no names for " + std::to_string(addresses) +
                       (addresses == 1 ? " address: " : " addresses: ") + reason(*module);
    what += id.empty() ? ", and its build ID is not known" : "; build ID " + elf::to_hex(id);
    if (!packages[i].name.empty()) what += "; package " + debug_package(packages[i].name) + " may have them";
    if (!id.empty() && options.server && options.server->is_used())
      what += options.server->has_failed() ? "; not fetched: see the warning" : "; no server had them";
    else if (!id.empty() && !Debuginfod::has_servers())
      what += "; DEBUGINFOD_URLS may name a server that has them";
    else if (!id.empty())
      what += "; --debuginfod=on may fetch them";
    if (!id.empty()) what += "; --debug-dir DIR looks for DIR/" + elf::build_id_path(id, ".debug");
    messages.note(module->info().path, what);
  }
}

} // namespace sframe::unwind_tool
