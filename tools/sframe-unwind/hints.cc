// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints.h"

#include "packages.h"

#include "sframe/elf/debug_file.h"
#include "sframe/elf/image.h"

#include <span>
#include <string>

namespace sframe::unwind_tool {

namespace {

std::string debug_package(const std::string& package) {
  return package + (package == "libc6" ? "-dbg" : "-dbgsym"); // the only one not made by debhelper
}

} // namespace

void print_hints(tool::Messages& messages, const Options& options, const Symbolizer& symbolizer) {
  if (options.no_files) return;   // none is wanted
  constexpr std::size_t most = 8; // modules: looking for a package takes some milliseconds
  std::size_t count = 0;
  for (const auto& [module, addresses] : symbolizer.unnamed()) {
    if (module->generated() || module->info().vdso) continue;
    if (!module->file_missing() && module->names() == modules::Module::Names::full)
      continue; // code without one
    if (++count > most) break;
    const auto id = module->build_id();
    std::string what = "no names for " + std::to_string(addresses) +
                       (addresses == 1 ? " address: " : " addresses: ") +
                       (module->file_missing() ? "its file is missing" : "no symbols");
    what += id.empty() ? ", and its build ID is not known" : "; build ID " + elf::to_hex(id);
    const bool is_unverified = module->file_missing() && id.empty(); // it may be there: a warning says so
    const bool here = !is_unverified && options.files.sysroot.empty() && module->info().path.starts_with('/');
    if (const std::string package =
            here ? installed_packages(std::span(&module->info().path, 1)).front().name : std::string();
        !package.empty())
      what += "; package " + debug_package(package) + " may have them";
    if (!id.empty() && options.server && options.server->is_used())
      what += "; no server had them";
    else if (!id.empty() && !Debuginfod::has_servers())
      what += "; DEBUGINFOD_URLS may name a server that has them";
    else if (!id.empty())
      what += "; --debuginfod=on may fetch them";
    if (!id.empty()) what += "; --debug-dir DIR looks for DIR/" + elf::build_id_path(id, ".debug");
    messages.note(module->info().path, what);
  }
}

} // namespace sframe::unwind_tool
