// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "module_list.h"

#include "sframe/elf/image.h"

namespace sframe::unwind_tool {

ModuleFiles files_of(modules::Module& module) {
  ModuleFiles files;
  files.file = module.file().path();
  files.debug_file = module.debug().path();
  const bool in_memory = module.info().vdso || module.generated();
  files.state = in_memory                                          ? "memory"
                : module.file().is_fetched()                       ? "fetched"
                : module.file().is_missing() || files.file.empty() ? "missing"
                                                                   : "found";
  const bool sframe = module.tables().has_sframe(), cfi = module.tables().has_cfi();
  files.table = sframe && cfi ? "SFrame, CFI" : sframe ? "SFrame" : cfi ? "CFI" : "neither";
  switch (module.symbols().source()) {
  case modules::ModuleSymbols::Source::none: files.names = "none"; break;
  case modules::ModuleSymbols::Source::dynamic: files.names = "dynamic"; break;
  case modules::ModuleSymbols::Source::full: files.names = "full"; break;
  case modules::ModuleSymbols::Source::debugdata: files.names = "debugdata"; break;
  }
  return files;
}

bool list_modules(process::ProcessState& process, tool::Output& out) {
  bool complete = true;
  for (modules::Module& module : process.modules()) {
    const modules::ModuleInfo& info = module.info();
    const ModuleFiles files = files_of(module);
    complete &= files.state != "missing";
    out << '\n';
    out.hex(info.start, 16) << '-';
    out.hex(info.end, 16) << "  ", out.safe(info.path.empty() ? "??" : info.path);
    if (info.deleted) out << " (deleted)";
    out << "\n  build ID " << (module.build_id().empty() ? "unknown" : elf::to_hex(module.build_id()));
    out << "\n  "
        << (files.state == "memory"    ? "in memory"
            : files.state == "found"   ? "file found"
            : files.state == "fetched" ? "file fetched"
                                       : "file missing");
    if (!files.file.empty() && files.file != info.path) out << ": ", out.safe(files.file);
    out << "; frames: " << files.table << "; names: " << files.names;
    if (!files.debug_file.empty()) out << "; debug file ", out.safe(files.debug_file);
    out << '\n';
    if (!module.file().problem().empty()) out << "  problem: ", out.safe(module.file().problem()) << '\n';
  }
  return complete;
}

bool load_modules(process::ProcessState& process) {
  bool complete = true;
  for (modules::Module& module : process.modules()) complete &= files_of(module).state != "missing";
  return complete;
}

} // namespace sframe::unwind_tool
