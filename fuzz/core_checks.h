// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of every core, whatever its file: memory ranges are within the file and agree with reads,
// modules are found at their own mappings, rows have no Rule::fixed, and a signal's code has both a name and
// a meaning. No file is opened.

#pragma once

#include "cost.h"

#include "sframe/process/process_state.h"

#include <algorithm>
#include <array>

namespace sframe::fuzz {

inline constexpr std::size_t max_asked = 64; // ranges, modules

inline void check_memory(const core::Core& core, std::size_t file_size) {
  std::size_t left = max_asked;
  for (const core::MemoryRange& range : core.memory()) {
    require(range.present <= range.size);
    const auto bytes = core.bytes_at(range.start);
    const core::MemoryRange* found = core.range_at(range.start);
    require(found && bytes.size() <= found->present && bytes.size() <= file_size);
    std::array<std::byte, 32> copy;
    const std::size_t read = core.read(range.start, copy);
    const std::size_t same = std::min(read, bytes.size());
    require(read >= std::min(copy.size(), bytes.size()));
    require(std::ranges::equal(std::span(copy).first(same), bytes.first(same)));
    if (--left == 0) break;
  }
}

inline void ask_tables(modules::Module& module, std::uint64_t address) {
  const modules::LinkAddress link = module.link(address);
  modules::UnwindTables& tables = module.tables();
  static unwind::CfiMatch cfi; // large
  const auto sframe = tables.find_sframe(link);
  const bool has_cfi = tables.find_cfi(link, cfi);
  if (sframe) require(sframe->row.ra.kind != Rule::Kind::fixed && sframe->row.fp.kind != Rule::Kind::fixed);
  const auto extent = tables.function_at(link);
  if (has_cfi) require(extent.has_value());
  if (extent) require(link.value - extent->start < extent->size);
}

inline void check_modules(process::CoreSpace& space) {
  std::size_t left = max_asked;
  for (modules::Module& module : space.modules()) {
    const modules::ModuleInfo& info = module.info();
    for (const modules::ModuleMapping& mapping : info.mappings) {
      require(mapping.start < mapping.end);
      if (space.module_at(mapping.start) != &module) continue; // mappings of a hostile core overlap
      ask_tables(module, mapping.start);
      ask_tables(module, mapping.end - 1);
    }
    if (info.entry) ask_tables(module, *info.entry);
    for (const modules::ModuleMapping& mapping : info.mappings)
      for (std::uint64_t at = mapping.start, i = 0; at < mapping.end && i < 32; ++i, at += 16)
        ask_tables(module, at);
    if (--left == 0) break;
  }
}

/// What the core says of the process: its sizes are bounded by the file's and by those of the notes.
inline void check_process(const core::Core& core, std::size_t file_size) {
  constexpr std::size_t longest_arguments = 80;
  require(core.is_minidump() || core.arguments().size() <= longest_arguments);
  require(core.arguments().size() <= 2 * file_size);
  require(core.command_line().size() <= core::Core::max_arguments);
  require(core.is_minidump() || !core.time());
  for (const elf::TaggedValue& value : core.auxiliary_vector()) require(value.tag != 0);
  for (const Problem& problem : core.problems()) require(!problem.what.empty());
}

inline void check_signal(const core::Core& core) {
  require(!core::signal_name(core.signal()).empty());
  const auto& info = core.signal_info();
  if (!info) return;
  const core::SignalCode code = core::signal_code(info->signal, info->code);
  require(code.name.empty() == code.meaning.empty());
}

inline int check_core(const std::uint8_t* data, std::size_t size) {
  const Cost cost(size, many_passes);
  const auto core = core::Core::parse(std::as_bytes(std::span(data, size)));
  if (!core) return 0;
  check_memory(*core, size);
  check_process(*core, size);
  check_signal(*core);
  const auto process = process::CoreProcess::create(*core, {.open_files = false});
  if (!process) return 0;
  for (const process::Thread& thread : (*process)->threads())
    (*process)->space().module_at(thread.registers.pc);
  check_modules((*process)->space());
  return 0;
}

} // namespace sframe::fuzz
