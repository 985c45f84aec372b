// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints.h"

#include "sframe/elf/debug_file.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace sframe::unwind_tool {

namespace {

/// The Debian package that has installed a file: dpkg keeps a list of paths for each. Empty if none has.
std::string package_of(const std::string& path) {
  namespace fs = std::filesystem;
  // The paths may be from before /lib was merged into /usr/lib.
  constexpr std::string_view usr = "/usr";
  const std::string line = '\n' + path + '\n';
  const std::string other = path.starts_with(usr) ? '\n' + path.substr(usr.size()) + '\n' : line;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/var/lib/dpkg/info", error)) {
    if (entry.path().extension() != ".list") continue;
    const auto file = elf::File::open_regular(entry.path().string());
    if (!file) continue;
    const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    if (text.find(line) == text.npos && text.find(other) == text.npos) continue;
    const std::string name = entry.path().stem().string();
    return name.substr(0, name.find(':')); // "libc6:amd64"
  }
  return {};
}

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
    const bool here = options.files.sysroot.empty() && module->info().path.starts_with('/');
    if (const std::string package = here ? package_of(module->info().path) : std::string(); !package.empty())
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
