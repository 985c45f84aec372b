// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a module of this process: its sections in memory (ModuleBytes), and the tables for walks
// (ModuleTables). Tables are the sections as they are; a function is decoded when a walk meets it. A module
// that cannot be unloaded is read in place. Others are copied, because they may be unmapped while another
// thread's walk uses their tables.
//
// Another module may be loaded later in the place of one that was unloaded, with the loader's record at the
// same address, too. So a copy is used only as long as the build ID in memory is the one it was made with,
// or, without build ID, the headers and sections are. If these are too large to be compared in each walk,
// nothing is kept of them: a walk that meets the module reads its sections in place.

#pragma once

#include "cfi_table.h"
#include "mapped_memory.h"
#include "rule.h"
#include "section_bytes.h"
#include "sframe_table.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <link.h>

namespace sframe::here {

/// The loader's data for the module at an address, read without a lock (_dl_find_object() of glibc 2.35 or
/// later). Equal as long as the module is loaded; afterwards, those of another one may be equal, too.
struct Identity {
  const void* link_map = nullptr;
  const void* start = nullptr;
  const void* eh_frame_header = nullptr;

  /// Of the module at `pc`; all null if there is none, or no _dl_find_object(). Async-signal-safe.
  static Identity at(std::uint64_t pc);
  static bool available();

  friend bool operator==(const Identity&, const Identity&) = default;
};

struct ModuleBytes {
  std::uint64_t low = 0, high = 0; ///< addresses of the first byte and after the last
  Identity identity;
  bool stays = false;     ///< cannot be unloaded
  bool permanent = false; ///< that, or nothing tells whether it has been
  SectionBytes eh_frame, eh_frame_hdr, sframe;
  SectionBytes headers;  ///< those of the ELF file; empty if the module's first page does not have them all
  SectionBytes build_id; ///< without the note's header; empty if there is none that is long enough

  /// From the loader's description, without the sections. The module must stay mapped during the call.
  explicit ModuleBytes(const dl_phdr_info& info);

  /// The module at `pc`, with its sections, as describe_module_at() finds it. `stays`: as if it could not be
  /// unloaded.
  static std::optional<ModuleBytes> at(std::uint64_t pc, bool stays = false);

  /// Adds the sections in the module, which must stay mapped during the call.
  void find_sections(const dl_phdr_info& info);

  bool contains(std::uint64_t pc) const { return pc - low < high - low; }
  /// False if another module in its place could be taken for it.
  bool recognisable() const;
};

/// Describes the module with this ELF header at its start (the vdso), as the loader would.
dl_phdr_info describe_image(const void* header);

/// Describes the module at `pc` in the same way, without taking a lock: by _dl_find_object() and the mapped
/// headers. Nothing if there is none, or its headers are not at its start.
std::optional<dl_phdr_info> describe_module_at(std::uint64_t pc);

/// Shared by snapshots, by a reference count. Empty for a module that is not recognisable, except in place.
class ModuleTables {
public:
  /// Constant cost for a module that cannot be unloaded, if its linker has made search tables; others are
  /// copied. nullptr if memory ran out.
  static ModuleTables* make(const ModuleBytes& bytes);

  /// For make().
  explicit ModuleTables(const ModuleBytes& bytes);

  void use() const { users_.fetch_add(1, std::memory_order_relaxed); }
  /// Frees it if this was the last reference.
  void release() const;

  /// False if memory ran out.
  bool complete() const { return !copy_.failed() && sframe_.complete() && cfi_.complete(); }

  std::uint64_t low() const { return low_; }
  std::uint64_t high() const { return high_; }
  bool contains(std::uint64_t pc) const { return pc - low_ < high_ - low_; }

  /// True if the loader's data is the same for both: it is the same module, if nothing was unloaded in
  /// between.
  bool same_place(const ModuleBytes& bytes) const {
    return low_ == bytes.low && high_ == bytes.high && identity_ == bytes.identity &&
           permanent_ == bytes.permanent;
  }
  /// True if the sections are the same, too.
  bool made_from(const ModuleBytes& bytes) const;

  /// False if the module may have been unloaded: the loader has no module, or a different one, at `pc`. If
  /// the module is not recognisable, it may be a different one even so. Async-signal-safe; reads the module's
  /// memory.
  bool is_loaded(std::uint64_t pc) const {
    return permanent_ || (Identity::at(pc) == identity_ && has_same_bytes());
  }
  bool permanent() const { return permanent_; }
  bool recognisable() const { return recognisable_; }

  /// The rule for an address of this module: from SFrame first, or, with `all_registers`, from CFI first.
  /// `to` gets its operations.
  /// Async-signal-safe.
  std::optional<FrameRule> find(std::uint64_t pc, bool all_registers, Operations& to, Scratch& scratch) const;

  /// What its rules refer to.
  std::span<const std::byte> expressions() const { return cfi_.bytes(); }

  bool has_sframe() const { return sframe_.functions() != 0; }
  std::size_t functions() const { return sframe_.functions() + cfi_.functions(); }
  std::size_t memory() const { return copy_.memory() + sframe_.memory() + cfi_.memory(); }

private:
  bool has_same_bytes() const;

  mutable std::atomic<std::uint32_t> users_ = 1; ///< reference of its maker
  std::uint64_t low_, high_;
  Identity identity_;
  bool permanent_, recognisable_;
  Array<std::byte> copy_; ///< of the sections
  ModuleBytes sections_;  ///< in place, or in the copy
  SframeTable sframe_;
  CfiTable cfi_;
};

} // namespace sframe::here
