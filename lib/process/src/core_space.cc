// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modules are those of core::Core, completed by the dynamic loader's list (r_debug) where the core lacks
// names or a library's first page. Memory is the core's; where the kernel left a page out since it is in a
// file, the file's, if the module accepts the file. A page that was writable may differ from its file: it is
// not read from there unless the core is complete.

#include "sframe/process/core_space.h"

#include "link_map.h"

#include "sframe/unwind/abi.h"

#include <algorithm>
#include <iterator>

namespace sframe::process {

namespace {

modules::ModuleInfo info_of(const core::CoreModule& module) {
  modules::ModuleInfo info;
  info.set_path(module.path);
  info.vdso = module.vdso;
  info.start = module.start;
  info.end = module.end;
  info.bias = module.bias;
  info.build_id = module.build_id;
  info.go_build_id = module.go_build_id;
  info.header_address = module.header_address;
  info.assumed = module.assumed;
  info.placed = module.path.empty() || module.listed;
  info.build_id_cut = module.build_id_cut;
  for (const elf::Mapping& m : module.mappings)
    info.mappings.push_back({m.start, m.end, m.file_offset, m.moved});
  return info;
}

/// Where libraries usually are: with the program, or where the dynamic loader looks without being told
/// (ld.so(8)), in the layouts of Debian and others.
std::vector<std::string> library_folders(const AbiTraits& abi, const core::CoreModule* program) {
  std::vector<std::string> folders;
  if (program && program->path.starts_with('/')) {
    const std::string beside(program->path.substr(0, program->path.rfind('/')));
    for (const char* const folder : {"", "/lib", "/../lib"}) folders.push_back(beside + folder);
  }
  const std::string machine = std::string(abi.llvm_arch) + "-linux-gnu";
  for (const std::string& folder :
       {"lib/" + machine, "usr/lib/" + machine, std::string("lib64"), std::string("usr/lib64"),
        std::string("lib"), std::string("usr/lib"), "usr/local/lib/" + machine, std::string("usr/local/lib")})
    folders.push_back('/' + folder);
  return folders;
}

} // namespace

CoreSpace::CoreSpace(const core::Core& core, modules::FileOptions files)
    : core_(core), files_(std::move(files).for_space()), generated_(*this, files_, *this, modules_) {
  const core::CoreModule* executable =
      elf::find_program([&](std::uint64_t tag) { return core.auxv(tag); },
                        [&](std::uint64_t address) { return core.module_at(address); });
  if (!executable)
    if (const auto named = std::ranges::find(core.modules(), true, &core::CoreModule::main);
        named != core.modules().end())
      executable = &*named;
  std::vector<LinkedObject> linked;
  const LinkedMemory memory = memory_of(core);
  if (const auto dynamic = dynamic_section(memory)) linked = linked_objects(memory, *dynamic);
  std::shared_ptr<const std::vector<std::string>> folders;
  if (core.is_minidump())
    folders = std::make_shared<const std::vector<std::string>>(library_folders(*core.abi(), executable));
  for (const core::CoreModule& module : core.modules()) {
    modules::ModuleInfo info = info_of(module);
    if (!info.path.empty() && !info.path.contains('/')) info.folders = folders;
    const bool main = &module == executable;
    info.main = main;
    if (main) info.entry = core.auxv(elf::at_entry);
    if (info.path.empty()) info.path = name_of(info, linked);
    modules_.emplace_back(std::move(info), *core.abi(), files_, *this);
    if (main) main_ = &modules_.back();
  }
  if (linked.empty() && core.mappings().empty()) linked = linked_by_executable();
  add_linked(linked);
  // If several claim the same place, the first one is used.
  std::ranges::stable_sort(linked_, {}, &Linked::start);
  const auto others = std::ranges::unique(linked_, {}, &Linked::start);
  linked_.erase(others.begin(), others.end());
}

/// Names missing in the core's notes: the program's as started, a library's as loaded.
std::string CoreSpace::name_of(const modules::ModuleInfo& info, std::span<const LinkedObject> linked) const {
  if (info.main && !files_.executable.empty()) return files_.executable;
  if (info.main && !info.assumed) return text_at(memory_of(core_), core_.auxv(elf::at_execfn).value_or(0));
  for (const LinkedObject& object : linked)
    if (info.contains(object.dynamic)) return object.name;
  return {};
}

/// If the core lacks the program's headers, the program's file has the address of the dynamic section.
std::vector<LinkedObject> CoreSpace::linked_by_executable() {
  const elf::Image* image = main_ && !files_.executable.empty() ? main_->image() : nullptr;
  const elf::Segment* dynamic = image ? image->find_segment(elf::pt_dynamic) : nullptr;
  return dynamic ? linked_objects(memory_of(core_), dynamic->address + main_->bias())
                 : std::vector<LinkedObject>();
}

/// Libraries that core::Core has not found: their first page is not in the core, or none of their mappings is
/// of their file. A library ends at the start of the next one, or at the end of its memory segment.
void CoreSpace::add_linked(std::span<const LinkedObject> linked) {
  std::vector<std::uint64_t> starts;
  for (const core::CoreModule& module : core_.modules()) starts.push_back(module.start);
  for (const LinkedObject& object : linked) starts.push_back(object.bias);
  std::ranges::sort(starts);
  for (const LinkedObject& object : linked) {
    const core::MemoryRange* range = core_.range_at(object.dynamic);
    if (!range || object.name.empty() || object.bias > object.dynamic || core_.module_at(object.dynamic))
      continue;
    const core::MemoryRange* const end_of_all = core_.memory().data() + core_.memory().size();
    while (range + 1 != end_of_all && range[1].start == range->start + range->size) ++range;
    modules::ModuleInfo info;
    info.path = object.name;
    info.bias = info.start = object.bias;
    info.end = range->start + range->size;
    if (const auto next = std::ranges::upper_bound(starts, object.dynamic); next != starts.end())
      info.end = std::min(info.end, *next);
    info.placed = true;
    if (elf::Image::is_elf(core_.bytes_at(object.bias))) info.header_address = object.bias;
    info.mappings.push_back({info.start, info.end, 0});
    const auto where = AddressRange::between(info.start, info.end);
    modules_.emplace_back(std::move(info), *core_.abi(), files_, *this);
    linked_.push_back({where, &modules_.back()});
  }
}

modules::Module* CoreSpace::module_at(std::uint64_t address) {
  modules::Module* mapped = mapped_module(address);
  if (mapped && mapped->file().is_image()) return mapped;
  modules::Module* generated = is_code(address) ? generated_.module_at(address) : nullptr;
  return generated ? generated : mapped;
}

modules::Module* CoreSpace::mapped_module(std::uint64_t address) {
  if (const Linked* linked = range_at(linked_, address)) return linked->module;
  const core::CoreModule* module = core_.module_at(address);
  return module ? &modules_[static_cast<std::size_t>(module - core_.modules().data())] : nullptr;
}

/// A writable page may differ from the file; if the kernel left it out, it did not. In a truncated core this
/// is unknown, and in a minidump, which lacks also what was relocated and then made read-only.
std::span<const std::byte> CoreSpace::from_file(std::uint64_t address) {
  const core::MemoryRange* range = core_.range_at(address);
  if (range && range->flags & elf::pf_w && (core_.truncated() || core_.is_minidump())) return {};
  modules::Module* module = mapped_module(address);
  if (module && core_.is_minidump() && module->is_writable(address)) return {};
  return module ? module->file_bytes_at(address) : std::span<const std::byte>{};
}

std::span<const std::byte> CoreSpace::view(std::uint64_t address) {
  const auto bytes = core_.bytes_at(address);
  return bytes.empty() ? from_file(address) : bytes;
}

std::uint64_t CoreSpace::code_address_mask() {
  if (code_mask_) return *code_mask_;
  std::uint64_t signature = 0, highest = 0;
  for (const core::CoreThread& thread : core_.threads())
    if (!signature) signature = thread.code_pac_mask;
  for (const core::MemoryRange& range : core_.memory())
    highest = std::max(highest, range.start + (range.size - 1));
  code_mask_ = unwind::code_address_mask(abi(), signature, highest);
  return *code_mask_;
}

bool CoreSpace::is_code(std::uint64_t address) {
  if (const core::MemoryRange* range = core_.range_at(address); range && core_.has_permissions())
    return range->flags & elf::pf_x;
  // Some cores have no segments for clean file pages, and some minidumps no permissions.
  modules::Module* module = mapped_module(address);
  return module && module->is_code(address);
}

} // namespace sframe::process
