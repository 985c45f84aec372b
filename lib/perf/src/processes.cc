// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of records (perf_event_open(2)):
//
//   comm        pid tid name                           misc bit 13: after exec
//   fork, exit  pid ppid tid ptid time
//   mmap        pid tid start(8) size(8) offset(8) name
//   mmap2       pid tid start(8) size(8) offset(8) device and inode, or a build ID (24)  prot flags name

#include "processes.h"

#include "sframe/base/text.h"
#include "sframe/profile/own_vdso.h"
#include "sframe/steppers/steppers.h"

#include <algorithm>
#include <sys/utsname.h>
#include <utility>

namespace sframe::perf {

namespace {

constexpr std::uint16_t misc_exec = 1 << 13, misc_build_id = 1 << 14;
constexpr std::size_t most_walks = 32; ///< each has caches of rules

/// Without the one that takes words of the stack for return addresses: in a profile, a stack that is cut is
/// better than one with frames of former calls.
unwind::StepperList steppers(const AbiTraits& abi) {
  unwind::StepperList list = steppers::default_steppers(abi, nullptr);
  std::erase_if(list, [](const auto& stepper) { return stepper->name() == "scan"; });
  return list;
}

std::string own_release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "?";
}

/// What the kernel names that is no file.
bool is_file(const std::string& path) {
  return path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/memfd:") &&
         !path.starts_with("/SYSV") && !path.starts_with("/dev/zero");
}

} // namespace

Walk::Walk(const AbiTraits& abi, std::shared_ptr<Mappings> of, ModuleCache& modules, Budget* budget)
    : mappings(std::move(of)), space(abi, *mappings, modules, budget),
      walker(space, unwind::StepperGroup(steppers(abi))) {}

/// Each mapping needs a record of 48 bytes or more, but a fork may copy all of a process.
Processes::Processes(const Data& data, profile::RecordingBuilder& builder, ModuleCache& modules,
                     const AbiTraits* abi, Budget* budget)
    : data_(data), builder_(builder), modules_(modules), abi_(abi), budget_(budget),
      is_own_kernel_(data.kernel_release() == own_release()),
      mappings_left_((std::uint64_t{1} << 18) + 4 * std::uint64_t{data.size()}) {}

Processes::Process& Processes::of(std::uint32_t pid) {
  Process& process = processes_[pid];
  if (!process.mappings) use(process, std::make_shared<Mappings>());
  return process;
}

void Processes::use(Process& process, std::shared_ptr<Mappings> mappings) {
  if (process.mappings) --process.mappings->users;
  ++mappings->users;
  process.mappings = std::move(mappings);
}

void Processes::take(const Record& record) {
  switch (record.type) {
  case RecordType::comm: return name(record);
  case RecordType::fork: return fork(record);
  case RecordType::exit: return exit(record);
  case RecordType::mmap:
  case RecordType::mmap2: return map(record);
  default: return;
  }
}

void Processes::name(const Record& record) {
  Fields body(record.body, data_.byte_order());
  const std::uint32_t pid = body.u32(), tid = body.u32();
  std::string text = body.text();
  if (!body.good()) return;
  if (pid == tid) {
    Process& process = of(pid);
    process.name = text;
    if (record.misc & misc_exec) use(process, std::make_shared<Mappings>());
  }
  thread_names_[tid] = std::move(text);
}

void Processes::fork(const Record& record) {
  Fields body(record.body, data_.byte_order());
  const std::uint32_t pid = body.u32(), parent = body.u32(), tid = body.u32(), parent_tid = body.u32();
  if (!body.good()) return;
  if (const auto named = thread_names_.find(parent_tid); named != thread_names_.end())
    thread_names_[tid] = std::string(named->second);
  if (pid == parent) return; // a thread
  const std::string parent_name = of(parent).name;
  const std::shared_ptr<Mappings> mappings = of(parent).mappings;
  Process& child = of(pid);
  child.name = parent_name;
  use(child, mappings);
}

void Processes::exit(const Record& record) {
  Fields body(record.body, data_.byte_order());
  const std::uint32_t pid = body.u32();
  body.skip(4);
  const std::uint32_t tid = body.u32();
  // Samples of a process that ends may still follow: only threads are forgotten, when they are not the first.
  if (body.good() && pid != tid) thread_names_.erase(tid);
}

void Processes::map(const Record& record) {
  if (record.mode() == mode_kernel) return map_kernel(record);
  Fields body(record.body, data_.byte_order());
  const std::uint32_t pid = body.u32();
  body.skip(4);
  const std::uint64_t start = body.u64(), size = body.u64();
  Mapping mapping;
  mapping.mapped.offset = body.u64();
  constexpr std::uint32_t executable = 4;
  std::uint32_t protection = executable;
  if (record.type == RecordType::mmap2) {
    const auto id = body.bytes(24);
    protection = body.u32();
    body.skip(4);
    // Linux (6.18) sets the bit of the record also for events that have not asked, if another one has.
    const bool may_have_id = record.event && record.event->has_build_ids;
    if (body.good() && may_have_id && record.misc & misc_build_id) {
      const std::size_t used = std::min<std::size_t>(std::to_integer<std::size_t>(id[0]), 20);
      mapping.mapped.build_id.assign(id.begin() + 4, id.begin() + 4 + static_cast<std::ptrdiff_t>(used));
    }
  }
  mapping.mapped.path = body.text();
  if (!body.good() || size == 0 || size > ~start || (protection & executable) == 0) return;
  mapping.end = mapping.mapped.end = start + size;
  mapping.mapped.start = start;
  mapping.has_file = is_file(mapping.mapped.path);
  const auto known = data_.build_ids().find(mapping.mapped.path);
  if (mapping.mapped.build_id.empty() && known != data_.build_ids().end())
    mapping.mapped.build_id = known->second;
  if (mapping.mapped.is_vdso() && mapping.mapped.build_id.empty() && is_own_kernel_) {
    const auto own = profile::own_vdso_id();
    mapping.mapped.build_id.assign(own.begin(), own.end());
  }
  mapping.file = file_of(mapping, pid);
  add(pid, start, std::move(mapping));
}

/// All of the kernel is one file. The name of its first mapping ends with a symbol, whose address is in the
/// place of the offset.
void Processes::map_kernel(const Record& record) {
  Fields body(record.body, data_.byte_order());
  body.skip(24);
  const std::uint64_t address = body.u64();
  if (record.type == RecordType::mmap2) body.skip(32);
  const std::string name = body.text();
  constexpr std::string_view prefix = "[kernel.kallsyms]";
  if (kernel_symbol_.first.empty() && body.good() && name.starts_with(prefix))
    kernel_symbol_ = {name.substr(prefix.size()), address};
}

std::uint32_t Processes::file_of(const Mapping& mapping, std::uint32_t pid) {
  profile::File file;
  file.path = mapping.mapped.path;
  file.build_id = mapping.mapped.build_id;
  if (mapping.mapped.is_vdso())
    file.kind = profile::FileKind::vdso;
  else if (!mapping.has_file) {
    file.kind = profile::FileKind::generated;
    file.process = process(pid);
  }
  return builder_.file(file);
}

void Processes::add(std::uint32_t pid, std::uint64_t start, Mapping mapping) {
  Process& process = of(pid);
  const bool is_shared = process.mappings->users > 1;
  const std::uint64_t cost = 2 + (is_shared ? process.mappings->by_start.size() : 0);
  if (cost > mappings_left_) {
    mappings_left_ = 0;
    return;
  }
  mappings_left_ -= cost;
  if (is_shared) {
    auto own = std::make_shared<Mappings>(*process.mappings);
    own->users = 0;
    use(process, std::move(own));
  }
  process.mappings->add(start, std::move(mapping));
  for (const auto& walk : walks_)
    if (walk->mappings == process.mappings) {
      walk->space.changed();
      walk->walker.forget_memory();
      walk->outermost.clear();
    }
}

std::uint32_t Processes::process(std::uint32_t pid) {
  return builder_.process(pid, of(pid).name);
}

std::uint32_t Processes::thread(std::uint32_t pid, std::uint32_t tid) {
  const auto named = thread_names_.find(tid);
  const std::string& name = named == thread_names_.end() ? of(pid).name : named->second;
  return builder_.thread(tid, process(pid), name);
}

Walk& Processes::walk(std::uint32_t pid) {
  const std::shared_ptr<Mappings>& mappings = of(pid).mappings;
  const auto known =
      std::ranges::find_if(walks_, [&](const auto& walk) { return walk->mappings == mappings; });
  if (known != walks_.end()) {
    std::rotate(walks_.begin(), known, known + 1);
    return *walks_.front();
  }
  if (walks_.size() == most_walks) walks_.pop_back();
  walks_.push_front(std::make_unique<Walk>(*abi_, mappings, modules_, budget_));
  return *walks_.front();
}

std::uint32_t Processes::kernel() {
  profile::File file{.kind = profile::FileKind::kernel, .path = "[kernel]"};
  if (const auto id = data_.build_ids().find(std::string_view("[kernel.kallsyms]"));
      id != data_.build_ids().end())
    file.build_id = id->second;
  return builder_.file(file);
}

} // namespace sframe::perf
