// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds code that a process generated and registered (generated_code.h), and makes modules of it. An address
// space that has one asks it for the module at an address that is executable and in no file:
//
//   Module* module_at(std::uint64_t address) override {
//     Module* mapped = mapped_module(address);
//     if (mapped && mapped->is_image()) return mapped;
//     Module* generated = is_code(address) ? generated_.module_at(address) : nullptr;
//     return generated ? generated : mapped;
//   }
//
// Nothing is done before the first such question: then the modules are searched for the symbols
// __jit_debug_descriptor and _U_dyn_info_list, each of which may be there several times, and the lists that
// start there are read. What an entry describes is copied when an address in it is asked for.
//
// The lists are in memory of the process, which may have been in the middle of changing them, or have written
// over them. Entries are followed up to the first that cannot be read; a circle ends a list as well.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/unwind/address_space.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sframe::modules {

namespace dynamic {
struct Registration;
}

class DynamicCode {
public:
  static constexpr std::size_t max_entries = 100'000;                ///< of all lists together
  static constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30; ///< of copies that are kept at once

  /// Reads from `space` and searches `modules` for the lists, new ones as well; what is found is added at the
  /// end of `modules`. All must outlive the object; `files` and `memory` are for Module. Does nothing yet.
  DynamicCode(unwind::AddressSpace& space, const FileOptions& files, ByteSource& memory,
              std::deque<Module>& modules);
  ~DynamicCode();

  /// Tells of an unw_dyn_info_list_t that no symbol leads to; 0 has no effect.
  void add_dyn_info_list(std::uint64_t address);

  /// The module of the registered code at the address, or nullptr. Where ranges overlap, the one that starts
  /// last, else the first in the lists. Logarithmic after the first question; a module is made at its first.
  /// Code that the process has changed or taken off its lists keeps its module until the refresh() after the
  /// one that finds out; from then on the module is empty, and may become that of other code.
  Module* module_at(std::uint64_t address);

  /// The process ran: reads the lists again, and what was copied, if anything was found before. True where
  /// something is not what it was; modules that are the same stay.
  bool refresh();

  /// Bytes of copies that are kept now.
  std::uint64_t copied() const { return copied_; }

  /// What is wrong with the lists, one line each.
  std::span<const std::string> problems() const { return problems_; }

private:
  struct List;
  struct Range;
  struct Entry;
  /// A module of code that is no more, and the bytes of its copy.
  struct Former {
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
  void release_former();

  unwind::AddressSpace& space_;
  const FileOptions& files_;
  ByteSource& memory_;
  std::deque<Module>& modules_;
  std::size_t searched_ = 0; ///< the first of modules_ that was not searched
  bool busy_ = false;        ///< reading may ask the address space for modules
  std::uint64_t copied_ = 0; ///< bytes, those of former_ as well
  std::vector<List> lists_;
  std::vector<Entry> entries_;
  std::vector<Range> ranges_;  ///< by start
  std::vector<Former> former_; ///< since the last refresh()
  std::vector<Module*> free_;  ///< those of modules_ that are empty
  std::vector<std::string> problems_;
};

} // namespace sframe::modules
