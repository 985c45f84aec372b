// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a module of this process: what it has in memory (ModuleBytes), and the tables made from that
// (ModuleTables, for walks).

#pragma once

#include "rules.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <link.h>

namespace sframe::here {

/// Bytes of one section: the module's own, or a copy.
struct SectionBytes {
  std::span<const std::byte> bytes;
  std::uint64_t address = 0;   ///< where the module has them
  std::uint64_t data_base = 0; ///< what DW_EH_PE_datarel counts from
};

/// What the loader says of the module at an address, without lock (_dl_find_object() of glibc 2.35 on). Equal
/// as long as the module is there.
struct Identity {
  const void* link_map = nullptr;
  const void* start = nullptr;
  const void* eh_frame_header = nullptr;

  /// Of the module at `pc`; all null where there is none, or no such C library. Async-signal-safe.
  static Identity at(std::uint64_t pc);
  static bool available();

  friend bool operator==(const Identity&, const Identity&) = default;
};

struct ModuleBytes {
  std::uint64_t low = 0, high = 0; ///< addresses of the first byte and behind the last
  Identity identity;
  bool permanent = false; ///< cannot be unloaded
  SectionBytes eh_frame, sframe;

  /// From the loader's description, without the sections. The module must stay mapped during the call.
  explicit ModuleBytes(const dl_phdr_info& info);

  /// Adds the sections, as they are in the module, likewise.
  void find_sections(const dl_phdr_info& info);

  bool contains(std::uint64_t pc) const { return pc - low < high - low; }
};

/// The module at whose start the ELF header is mapped (the vdso), described as the loader would.
dl_phdr_info describe_image(const void* header);

/// The module at `pc`, likewise, without asking anybody who has a lock: by _dl_find_object(), and its headers
/// as they are mapped. Nothing where there is none, or where its headers are not at its start.
std::optional<dl_phdr_info> describe_module_at(std::uint64_t pc);

/// Shared by snapshots, which count themselves.
class ModuleTables {
public:
  /// Compiles the sections. Faulty parts of them are left out. Linear in their rows. nullptr where there is
  /// no memory.
  static ModuleTables* make(const ModuleBytes& bytes);

  /// For make().
  explicit ModuleTables(const ModuleBytes& bytes);

  void use() const { users_.fetch_add(1, std::memory_order_relaxed); }
  /// The last one frees it.
  void release() const;

  std::uint64_t low() const { return low_; }
  std::uint64_t high() const { return high_; }
  bool contains(std::uint64_t pc) const { return pc - low_ < high_ - low_; }

  /// True where the loader says the same of both: they are one module, if nothing was unloaded in between.
  bool same_place(const ModuleBytes& bytes) const {
    return low_ == bytes.low && high_ == bytes.high && identity_ == bytes.identity &&
           permanent_ == bytes.permanent;
  }
  /// True where the sections are the same, too.
  bool made_from(const ModuleBytes& bytes) const;

  /// False where the module may have gone since: the loader knows nothing or another one at `pc`.
  bool is_loaded(std::uint64_t pc) const { return permanent_ || Identity::at(pc) == identity_; }
  bool permanent() const { return permanent_; }

  /// The rule for an address of this module: first SFrame's, or, to recover all registers, first CFI's.
  std::optional<std::uint32_t> find(std::uint64_t pc, bool all_registers) const;

  const RuleSet& rules() const { return rules_; }
  bool has_sframe() const { return sframe_.size() != 0; }
  std::size_t rows() const { return sframe_.size() + cfi_.size(); }
  std::size_t memory() const { return rules_.memory() + sframe_.memory() + cfi_.memory(); }

private:
  mutable std::atomic<std::uint32_t> users_ = 1; ///< whoever made it
  std::uint64_t low_, high_;
  Identity identity_;
  bool permanent_;
  bool complete_; ///< memory was enough
  std::uint64_t fingerprint_; ///< of the sections' bytes
  RuleSet rules_;
  RowTable sframe_, cfi_;
};

} // namespace sframe::here
