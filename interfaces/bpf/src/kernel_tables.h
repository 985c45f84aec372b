// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernel has: tables in slots, code (struct sframe_bpf_code) in numbers, and the words that lead to
// code, by file or window.
//
// A slot or number is used again for something else only when no walk has it: first the word changes, then
// the table is taken out of its slot, for which the kernel waits for programs that run. It also waits after a
// table was put into a slot, 10 ms and more: so this is done for many at once. Words that lead to them are
// written before: a walk that finds an empty slot is left to user space, which has the table.

#pragma once

#include "sframe/bpf/mapped_file.h"
#include "sframe/bpf/table.h"
#include "sframe/bpf/tables.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

struct bpf_object;

namespace sframe::bpf {

struct LoadedTable {
  std::uint32_t slot = 0;
  sframe_bpf_table header{};
  std::size_t size = 0;                    ///< in bytes
  bool is_partial = false;                 ///< that of the first step: FileTables::Step
  std::shared_ptr<const void> memory = {}; ///< the kernel's words, mapped
};

class KernelTables {
public:
  KernelTables(sframe_bpf_counts& counts, std::uint64_t max_bytes) : counts_(counts), max_bytes_(max_bytes) {}

  /// False with errno: ENOENT if the maps are not there.
  bool open(bpf_object* object);

  /// Asked for so many bytes if a table has no room: frees some, or returns false.
  void set_make_room(std::function<bool(std::uint64_t bytes)> make_room) {
    make_room_ = std::move(make_room);
  }

  /// Gives the kernel a table, which must be valid. Nothing if there is no room. It is in its slot after
  /// publish().
  std::optional<LoadedTable> load(std::span<const std::byte> bytes);
  /// Puts all tables that were loaded into their slots.
  void publish();
  /// No word leads to code with the table any more.
  void unload(const LoadedTable& table);

  /// The number of the code, whose serial it sets. Nothing if there is no room.
  std::optional<std::uint32_t> add_code(sframe_bpf_code& code);
  /// Of code that walks may have, only `partial` may change.
  void change_code(std::uint32_t number, const sframe_bpf_code& code);
  /// To be called between the change of the word that led to it and the unload() that ends its use: until
  /// that it is not used again.
  void remove_code(std::uint32_t number) { left_codes_.push_back(number); }

  /// When the code was last found by a stack, or was added; in the unit of now().
  std::uint64_t last_use(std::uint32_t number) const;
  static std::uint64_t now();

  /// False if there is no room for it.
  bool set_file(const sframe_bpf_key& file, std::uint64_t word);
  void remove_file(const sframe_bpf_key& file);
  bool set_window(const sframe_bpf_window& window, std::uint64_t word);
  void remove_window(const sframe_bpf_window& window);

  /// Waits until no program has what was removed.
  void wait();

private:
  struct Unpublished {
    std::uint32_t slot;
    FileDescriptor map;
  };

  sframe_bpf_counts& counts_;
  std::uint64_t max_bytes_;
  std::function<bool(std::uint64_t bytes)> make_room_;
  int uses_ = -1, tables_ = -1, files_ = -1, windows_ = -1, codes_ = -1;
  std::uint32_t next_slot_ = 0, next_code_ = 0, next_serial_ = 1;
  std::vector<Unpublished> unpublished_;
  std::vector<std::uint32_t> free_slots_, free_codes_, left_codes_;
};

} // namespace sframe::bpf
