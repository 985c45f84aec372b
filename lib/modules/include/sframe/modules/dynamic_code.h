// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds code that a process generated and registered (generated_code.h), and makes modules of it. An address
// space that uses it asks it for the module at an executable address that is in no file:
//
//   Module* module_at(std::uint64_t address) override {
//     Module* mapped = mapped_module(address);
//     if (mapped && mapped->file().is_image()) return mapped;
//     Module* generated = is_code(address) ? generated_.module_at(address) : nullptr;
//     return generated ? generated : mapped;
//   }
//
// The first such question searches the modules for the symbols sframe_jit_list, __jit_debug_descriptor and
// _U_dyn_info_list, each of which may occur several times, and reads the lists that start there. What an
// entry describes is copied when an address in it is asked for.
//
// The lists are in the process's memory, which may be inconsistent (caught during an update) or overwritten.
// A list is followed up to its first unreadable entry; a cycle ends it as well.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/unwind/address_space.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sframe::modules::dynamic { // private
struct Registration;
}

#pragma GCC visibility push(default)

namespace sframe::modules {

class DynamicCode {
public:
  static constexpr std::size_t max_entries = 100'000;                ///< of all lists together
  static constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30; ///< of copies that are kept at once

  /// Reads from `space` and searches `modules`, including new ones, for the lists; modules found are
  /// appended to `modules`. All arguments must outlive the object; `files` and `memory` are for Module. Does
  /// nothing yet.
  DynamicCode(unwind::AddressSpace& space, const FileOptions& files, ByteSource& memory,
              std::deque<Module>& modules);
  ~DynamicCode();

  /// Adds the unw_dyn_info_list_t at an address that no symbol leads to; 0 has no effect.
  void add_dyn_info_list(std::uint64_t address);

  /// The module of the registered code at the address, or nullptr. If ranges overlap, the one with the
  /// highest start, else the first in the lists. Logarithmic after the first question; a module is made when
  /// first asked for. If the process changes or unregisters code, its module stays valid until the refresh()
  /// after the one that detects it. It is empty from then on, and may be reused for other code.
  Module* module_at(std::uint64_t address);

  /// To be called when the process has run: reads the lists, and what was copied, again, if anything was
  /// found before. True if something has changed; unchanged modules stay.
  bool refresh();

  /// Bytes of the copies kept now.
  std::uint64_t copied() const { return copied_; }

  /// Problems of the lists, one line each; of very many, the first 100 and a line that says so.
  std::span<const std::string> problems() const { return problems_; }

private:
  struct [[gnu::visibility("hidden")]] List;
  struct [[gnu::visibility("hidden")]] Range;
  struct [[gnu::visibility("hidden")]] Entry;
  /// The module of unregistered or changed code, and the size of its copy in bytes.
  struct RetiredModule {
    Module* module;
    std::uint64_t size;
  };
  void find_lists();
  void add_list(const List& list);
  void read_lists();
  void index();
  void add_problem(const dynamic::Registration& registration, std::string_view what);
  Module* make_module(Entry& entry);
  void drop(Entry& entry);
  void release_retired();

  unwind::AddressSpace& space_;
  const FileOptions& files_;
  ByteSource& memory_;
  std::deque<Module>& modules_;
  std::size_t searched_ = 0; ///< the first of modules_ not searched yet
  bool reading_ = false;     ///< reading may ask the address space for modules, which may ask this object
  std::uint64_t copied_ = 0; ///< bytes, including those of retired_
  std::vector<List> lists_;
  std::vector<Entry> entries_;
  std::vector<Range> ranges_;          ///< by start
  std::vector<RetiredModule> retired_; ///< since the last refresh()
  std::vector<Module*> free_;          ///< those of modules_ that are empty
  std::vector<std::string> problems_;
};

} // namespace sframe::modules

#pragma GCC visibility pop
