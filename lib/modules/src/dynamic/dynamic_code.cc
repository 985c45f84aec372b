// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists (List) have entries (Entry), whose code is in ranges (Range) sorted by address. read_lists() makes
// all entries again and keeps those that have not changed, with their modules; registration (dynamic/) has
// how each kind of list is read and copied. Users may have pointers to modules: a module whose code has
// changed is retired, and used again for other code at the next refresh(). Entries, headers and copied bytes
// are limited in total.

#include "sframe/modules/dynamic_code.h"

#include "dynamic/registration.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <utility>

namespace sframe::modules {

using dynamic::Listing;
using dynamic::Registration;

namespace {

/// A registration interface: the symbol of its list, or of a function that returns the list's address, and
/// the function that reads the list.
struct Interface {
  std::string_view symbol;
  bool is_function;
  void (*read)(unwind::Memory& memory, std::uint64_t head, Listing& listing);
};
constexpr Interface dyn_info = {"_U_dyn_info_list", false, dynamic::read_dyn_info_list};
constexpr Interface interfaces[] = {
    {"sframe_jit_list", false, dynamic::read_sframe_list},
    {"__jit_debug_descriptor", false, dynamic::read_jit_list},
    dyn_info,
    {"_U_dyn_info_list_addr", true, dynamic::read_dyn_info_list},
};

constexpr std::uint64_t max_headers = 1'000'000; ///< of ELF files, in all
constexpr std::string_view unnamed = "[jit]";

using Copy = Result<GeneratedCode> (*)(const Registration&, unwind::Memory&, std::uint64_t, Budget*);
/// By Registration::Form.
constexpr std::array<Copy, 4> copies = {dynamic::copy_elf_file, dynamic::copy_procedure, dynamic::copy_table,
                                        dynamic::copy_section};

Result<GeneratedCode> copy(const Registration& from, unwind::Memory& memory, std::uint64_t most,
                           Budget* budget) {
  return copies[static_cast<std::size_t>(from.form)](from, memory, most, budget);
}

std::uint64_t size_of(const GeneratedCode& code) {
  std::uint64_t size =
      code.image.size() + code.frames.size() + code.frames_index.size() + code.section.size();
  if (code.procedure)
    for (const ProcedureRegion& region : code.procedure->regions)
      size += sizeof region + region.operations.size() * sizeof(ProcedureOperation);
  return size;
}

/// Sets a flag during its lifetime.
class FlagGuard {
public:
  explicit FlagGuard(bool& flag) : flag_(flag) { flag_ = true; }
  ~FlagGuard() { flag_ = false; }
  FlagGuard(const FlagGuard&) = delete;
  FlagGuard& operator=(const FlagGuard&) = delete;

private:
  bool& flag_;
};

} // namespace

struct DynamicCode::List {
  void (*read)(unwind::Memory& memory, std::uint64_t head, Listing& listing);
  std::uint64_t head;
  const Module* module; ///< the module with the symbol; nullptr: the caller gave the address
};

struct DynamicCode::Range : AddressRange {
  std::size_t entry; ///< in entries_
};

struct DynamicCode::Entry {
  Registration registration;
  std::vector<AddressRange> code;
  bool tried = false; ///< whether making a module was tried
  Module* module = nullptr;
  std::shared_ptr<const GeneratedCode> copied; ///< if there is a module
};

DynamicCode::DynamicCode(unwind::AddressSpace& space, const FileOptions& files, ByteSource& memory,
                         std::deque<Module>& modules)
    : space_(space), files_(files), memory_(memory), modules_(modules) {}

DynamicCode::~DynamicCode() = default;

void DynamicCode::add_dyn_info_list(std::uint64_t address) {
  if (!address || reading_) return;
  add_list({dyn_info.read, address, nullptr});
  const FlagGuard guard(reading_);
  read_lists();
}

/// Searches modules added since the last search.
void DynamicCode::find_lists() {
  bool found = false;
  for (; searched_ < modules_.size(); ++searched_) {
    Module& module = modules_[searched_];
    if (module.generated()) continue;
    for (const Interface& interface : interfaces) {
      auto head = module.symbols().find_definition(interface.symbol);
      unwind::Memory memory(space_);
      if (head && interface.is_function) head = dynamic::constant_result(*head, memory);
      if (head) add_list({interface.read, *head, &module});
      found |= head.has_value();
    }
  }
  if (found) read_lists();
}

/// A symbol and a function may lead to the same list, and a new module may be at the place of an old one.
void DynamicCode::add_list(const List& list) {
  const auto known = std::ranges::find(lists_, list.head, &List::head);
  if (known == lists_.end())
    lists_.push_back(list);
  else
    *known = list;
}

/// Keeps existing entries whose code is the same.
void DynamicCode::read_lists() {
  unwind::Memory memory(space_);
  Listing listing{.max_entries = max_entries, .budget = files_.budget.get(), .entries = {}, .problems = {}};
  for (const List& list : lists_)
    if (!list.module || space_.rules_at(list.module->info().start) == list.module) // not unloaded
      list.read(memory, list.head, listing);
  problems_ = std::move(listing.problems);

  std::uint64_t budget = max_headers;
  std::vector<Entry> before = std::exchange(entries_, {});
  std::ranges::sort(before, {}, [](const Entry& entry) { return entry.registration.entry; });
  for (const Registration& registration : listing.entries) {
    Entry entry{.registration = registration, .code = {}, .copied = nullptr};
    if (registration.form == Registration::Form::elf_file)
      entry.code = find_code(registration, memory, budget);
    else
      entry.code = {registration.range};
    if (entry.code.empty()) add_problem(registration, "not an ELF file with code");
    const auto old = std::ranges::lower_bound(before, registration.entry, {},
                                              [](const Entry& one) { return one.registration.entry; });
    if (old != before.end() && old->registration == registration && old->code == entry.code) {
      entry = std::move(*old);
      old->module = nullptr; // keeps the module
    }
    entries_.push_back(std::move(entry));
  }
  for (Entry& entry : before) drop(entry);
  index();
}

/// The code has changed. Users of its module may still have a pointer to it.
void DynamicCode::drop(Entry& entry) {
  if (entry.module) retired_.push_back({entry.module, size_of(*entry.copied)});
  entry.module = nullptr;
  entry.copied.reset();
  entry.tried = false;
}

namespace {

/// Replaces one module of generated code by another, in place.
void replace(Module& module, ModuleInfo info, const AbiTraits& abi, const FileOptions& files,
             ByteSource& memory, std::shared_ptr<const GeneratedCode> code) {
  std::destroy_at(&module);
  std::construct_at(&module, std::move(info), abi, files, memory, std::move(code));
}

} // namespace

/// Modules are reused for other code, so that `modules_` does not grow without limit.
void DynamicCode::release_retired() {
  if (retired_.empty()) return;
  static const auto nothing = std::make_shared<const GeneratedCode>();
  free_.reserve(free_.size() + retired_.size());
  while (!retired_.empty()) {
    const RetiredModule retired = retired_.back();
    ModuleInfo info = retired.module->info();
    retired_.pop_back();
    replace(*retired.module, std::move(info), space_.abi(), files_, memory_, nothing);
    free_.push_back(retired.module);
    copied_ -= retired.size;
  }
}

void DynamicCode::add_problem(const Registration& registration, std::string_view what) {
  dynamic::add_problem(problems_,
                       "generated code registered at " + hex(registration.entry) + ": " + std::string(what));
}

void DynamicCode::index() {
  ranges_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i)
    for (const AddressRange& range : entries_[i].code) ranges_.push_back({range, i});
  // The search goes backwards, so at equal addresses the first in the lists, the newer one, comes last.
  std::ranges::sort(ranges_, [](const Range& a, const Range& b) {
    return a.start != b.start ? a.start < b.start : a.entry > b.entry;
  });
}

Module* DynamicCode::module_at(std::uint64_t address) {
  if (reading_) return nullptr;
  const FlagGuard guard(reading_);
  find_lists();
  constexpr std::ptrdiff_t max_overlap = 16;
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::start);
  const auto first = after - std::min(after - ranges_.begin(), max_overlap);
  for (auto at = after; at != first;)
    if ((--at)->contains(address))
      if (Module* module = make_module(entries_[at->entry])) return module;
  return nullptr;
}

Module* DynamicCode::make_module(Entry& entry) {
  if (std::exchange(entry.tried, true)) return entry.module;
  unwind::Memory memory(space_);
  Budget* const budget = files_.budget.get();
  auto code = copy(entry.registration, memory, max_bytes - std::min(copied_, max_bytes), budget);
  if (!code) {
    add_problem(entry.registration, code.error().text());
    return nullptr;
  }
  auto copied = std::make_shared<const GeneratedCode>(std::move(*code));
  ModuleInfo info;
  info.path = unnamed;
  if (entry.registration.form == Registration::Form::table)
    if (std::string name = dynamic::copy_string(memory, entry.registration.name, budget); !name.empty())
      info.path = std::move(name);
  info.start = std::ranges::min(entry.code, {}, &AddressRange::start).start;
  info.end = std::ranges::max(entry.code, {}, &AddressRange::end).end();
  info.bias = entry.registration.load_offset;
  if (free_.empty()) {
    entry.module = &modules_.emplace_back(std::move(info), space_.abi(), files_, memory_, copied);
  } else {
    entry.module = free_.back();
    free_.pop_back();
    replace(*entry.module, std::move(info), space_.abi(), files_, memory_, copied);
  }
  entry.copied = std::move(copied);
  copied_ += size_of(*entry.copied);
  return entry.module;
}

bool DynamicCode::refresh() {
  if (reading_ || lists_.empty()) return false;
  const FlagGuard guard(reading_);
  release_retired();
  const auto picture = [this] {
    std::vector<std::tuple<std::uint64_t, std::uint64_t, const Module*>> all;
    for (const Range& range : ranges_)
      all.emplace_back(range.start, range.size, entries_[range.entry].module);
    return all;
  };
  const auto before = picture();
  read_lists();
  unwind::Memory memory(space_);
  for (Entry& entry : entries_) {
    if (!entry.tried) continue;
    // What could not be copied is tried again when it is asked for: here the total would have no limit.
    const auto now =
        entry.copied ? copy(entry.registration, memory, max_bytes, files_.budget.get()) : fail("");
    if (now && *now == *entry.copied) continue;
    drop(entry);
  }
  return picture() != before;
}

} // namespace sframe::modules
