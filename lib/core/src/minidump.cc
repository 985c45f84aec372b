// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minidumps (Windows SDK minidumpapiset.h; breakpad's src/google_breakpad/common/minidump_format.h): a
// header, a directory of streams, and streams that refer to data by offset ("RVA") and size. All is
// little-endian. The records' layouts are LLVM's (llvm/BinaryFormat/Minidump.h); LLVM's reader of the
// directory is not used, since one damaged stream makes it refuse the file.
//
//   ThreadList      count (4); Thread: id, stack memory, registers
//   ModuleList      count (4); Module: start, size, name, build ID. crashpad has only the names of libraries,
//                   without folders
//   MemoryList      count (4); address (8), size (4), offset (4)
//   Memory64List    count (8), offset of the first bytes (8); address (8), size (8): one after the other
//   Exception       the thread that died, and its registers before the signal handler ran;
//                   code = si_signo, flags = si_code, address = si_addr (Linux)
//   MiscInfo        size, flags, process ID (4 each), ...
//   MemoryInfoList  header size, entry size (4 each), count (8); MemoryInfo: permissions
//   ThreadNames     count (4); thread ID (4), offset of the name (8)
//   LinuxMaps, LinuxProcStatus, LinuxCMDLine, LinuxAuxv
//                   copies of /proc/PID/maps, status, cmdline, auxv; not written by crashpad
//
// A name is its length in bytes (4) and UTF-16.
//
// What is written is a selection: the stacks, what registers point to, a few bytes of code. What was mapped
// around them is known from LinuxMaps or MemoryInfoList, if at all.

#include "sframe/core/minidump.h"

#include "sframe/base/proc_text.h"
#include "sframe/base/text.h"
#include "sframe/core/core_format.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/number_hash.h"

#include <llvm/BinaryFormat/Minidump.h>
#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace sframe::core {

using namespace elf;

namespace {

namespace md = llvm::minidump;
using llvm::support::ulittle32_t;
using llvm::support::ulittle64_t;

struct Kind {
  std::uint32_t type;
  std::string_view name;
};

constexpr std::uint32_t thread_names_type = 24; // ThreadNamesStream, unknown to LLVM

constexpr std::uint32_t number(md::StreamType type) {
  return static_cast<std::uint32_t>(type);
}

/// In the order of MinidumpReader::Stream.
constexpr Kind kinds[] = {{number(md::StreamType::ThreadList), "ThreadList"},
                          {number(md::StreamType::ModuleList), "ModuleList"},
                          {number(md::StreamType::MemoryList), "MemoryList"},
                          {number(md::StreamType::Exception), "Exception"},
                          {number(md::StreamType::SystemInfo), "SystemInfo"},
                          {number(md::StreamType::Memory64List), "Memory64List"},
                          {number(md::StreamType::MiscInfo), "MiscInfo"},
                          {number(md::StreamType::MemoryInfoList), "MemoryInfoList"},
                          {thread_names_type, "ThreadNames"},
                          {number(md::StreamType::LinuxProcStatus), "LinuxProcStatus"},
                          {number(md::StreamType::LinuxCMDLine), "LinuxCMDLine"},
                          {number(md::StreamType::LinuxAuxv), "LinuxAuxv"},
                          {number(md::StreamType::LinuxMaps), "LinuxMaps"}};

struct MiscInfo {
  ulittle32_t size, flags, process_id;
};
static_assert(sizeof(MiscInfo) == 12);
constexpr std::uint32_t has_process_id = 1; // MINIDUMP_MISC1_PROCESS_ID

struct ThreadName {
  ulittle32_t thread_id;
  ulittle64_t name;
};
static_assert(sizeof(ThreadName) == 12);

constexpr std::uint32_t cv_build_id = 0x4270454c, cv_pdb70 = 0x53445352; // "BpEL", "RSDS"
constexpr std::size_t guid_size = 16;
constexpr std::size_t longest_id = 64, longest_path = 4096; // bytes; UTF-16 units

struct System {
  md::OSPlatform id;
  std::string_view name;
};
constexpr System other_systems[] = {
    {md::OSPlatform::Win32S, "Windows"},  {md::OSPlatform::Win32Windows, "Windows"},
    {md::OSPlatform::Win32NT, "Windows"}, {md::OSPlatform::Win32CE, "Windows"},
    {md::OSPlatform::MacOSX, "macOS"},    {md::OSPlatform::IOS, "iOS"},
    {md::OSPlatform::Solaris, "Solaris"},
};

std::uint16_t machine_of(md::ProcessorArchitecture cpu) {
  constexpr std::uint16_t em_x86_64 = 62, em_aarch64 = 183;
  switch (cpu) {
  case md::ProcessorArchitecture::AMD64: return em_x86_64;
  case md::ProcessorArchitecture::ARM64:
  case md::ProcessorArchitecture::BP_ARM64: return em_aarch64;
  default: return 0;
  }
}

/// UTF-8. Units that are no valid UTF-16 become "?".
std::string to_utf8(std::span<const std::byte> units) {
  std::vector<llvm::UTF16> wide(units.size() / 2);
  for (std::size_t i = 0; i < wide.size(); ++i)
    wide[i] = load<std::uint16_t>(units.data() + 2 * i, ByteOrder::little);
  std::string text;
  if (llvm::convertUTF16ToUTF8String(wide, text)) return text;
  text.clear();
  for (const llvm::UTF16 unit : wide) text += unit < 0x80 ? static_cast<char>(unit) : '?';
  return text;
}

/// A path as the kernel wrote it into /proc/PID/maps: line feeds are "\012".
std::string unescaped(std::string_view path) {
  constexpr std::string_view line_feed = "\\012";
  std::string text;
  for (std::size_t at = path.find(line_feed); at != path.npos; at = path.find(line_feed)) {
    text += path.substr(0, at);
    text += '\n';
    path.remove_prefix(at + line_feed.size());
  }
  return text + std::string(path);
}

/// Memory protection constants of Windows, which minidumps of Linux use, too.
std::uint32_t flags_of(md::MemoryProtection protection) {
  constexpr std::uint32_t readable = 0xee, writable = 0xcc, executable = 0xf0;
  const auto bits = static_cast<std::uint32_t>(protection);
  return (bits & readable ? pf_r : 0) | (bits & writable ? pf_w : 0) | (bits & executable ? pf_x : 0);
}

bool is_vdso_name(std::string_view name) {
  return name == "[vdso]" || name.starts_with("linux-vdso") || name.starts_with("linux-gate");
}

bool has_fault_address(std::int32_t signal) {
  constexpr std::int32_t faults[] = {4, 5, 7, 8, 11, 31}; // SIGILL, TRAP, BUS, FPE, SEGV, SYS
  return std::ranges::find(faults, signal) != std::end(faults);
}

/// Sorted by address; parts that are in an earlier range, too, are removed.
template <class Range> void make_disjoint(std::vector<Range>& ranges, auto&& remove_front) {
  std::ranges::stable_sort(ranges, {}, &Range::start);
  std::uint64_t end = 0;
  std::erase_if(ranges, [&](Range& range) {
    if (range.start < end) {
      if (range.end() <= end) return true;
      remove_front(range, end - range.start);
    }
    end = range.end();
    return range.empty();
  });
}

class MinidumpReader {
public:
  /// `core` has the file's bytes, and nothing else yet; it is filled.
  explicit MinidumpReader(CoreData& core) : core_(core), bytes_(core.bytes), left_(core.bytes.size()) {}

  /// Fails for a file that is no minidump of Linux; what is damaged in it goes to the core's problems.
  Result<void> read();

private:
  /// The streams that are used, in the order of `kinds` in minidump.cc.
  enum Stream : std::uint8_t {
    thread_list,
    module_list,
    memory_list,
    exception,
    system_info,
    memory64_list,
    misc_info,
    memory_info_list,
    thread_names,
    linux_status,
    linux_command_line,
    linux_auxv,
    linux_maps,
    stream_count
  };
  /// Memory of the process that is in the file.
  struct Block : AddressRange {
    std::uint64_t offset; ///< in the file
  };
  /// Memory with the same permissions.
  struct Area : AddressRange {
    std::uint32_t flags; ///< pf_r, pf_w, pf_x
  };

  Result<void> read_directory();
  Result<void> read_system();
  void read_threads();
  void read_exception();
  void read_thread_names();
  void read_process();
  void read_memory_list();
  void read_memory64_list();
  void read_mappings();
  std::vector<Area> areas() const;
  void add_memory(std::span<const Area> areas);
  std::vector<CoreModule> listed_modules();
  void set_name();

  void report(std::string what, std::uint64_t offset);
  template <class T> const T* record(Stream stream);
  template <class T> std::span<const T> list(Stream stream, std::uint64_t header, std::uint64_t count);
  template <class T> std::span<const T> counted(Stream stream);
  std::string_view text(Stream stream) const;
  std::string_view utf16_at(std::uint64_t offset, std::size_t most);
  std::span<const std::byte> located(std::uint64_t offset, std::uint64_t size);
  void add_block(std::uint64_t address, std::uint64_t offset, std::uint64_t size);

  CoreData& core_;
  std::span<const std::byte> bytes_;
  /// Of the file's size: what entries point to may overlap, but is read for this size only.
  std::uint64_t left_;
  std::array<std::span<const std::byte>, stream_count> streams_{};
  std::array<std::uint64_t, stream_count> offsets_{}; ///< of the streams in the file
  std::vector<MapsLine> maps_;
  std::vector<Block> blocks_;
};

} // namespace

bool is_minidump(std::span<const std::byte> bytes) {
  return to_llvm(bytes).starts_with("MDMP");
}

Result<void> MinidumpReader::read() {
  if (const auto done = read_directory(); !done) return done;
  if (const auto done = read_system(); !done) return done;
  maps_ = parse_maps(text(linux_maps));
  std::ranges::stable_sort(maps_, {}, &MapsLine::start);
  read_memory_list();
  read_memory64_list();
  read_threads();
  read_exception();
  read_thread_names();
  read_process();
  read_mappings();
  const std::vector<Area> known = areas();
  core_.has_permissions = !known.empty();
  add_memory(known);
  core_.listed_modules = listed_modules();
  set_name();
  return {};
}

void MinidumpReader::report(std::string what, std::uint64_t offset) {
  core_.problems.push_back({std::move(what), {}, offset});
}

Result<void> MinidumpReader::read_directory() {
  const auto header = table_at<md::Header>(bytes_, 0, 1);
  if (!header) return fail("minidump is too short for its header", {}, bytes_.size());
  const md::Header& file = header->front();
  if ((file.Version & 0xffff) != md::Header::MagicVersion)
    return fail("minidump of an unknown version", {}, offsetof(md::Header, Version));
  if (file.TimeDateStamp != 0) core_.time = file.TimeDateStamp;
  const std::uint64_t start = file.StreamDirectoryRVA;
  const std::uint64_t room = start < bytes_.size() ? (bytes_.size() - start) / sizeof(md::Directory) : 0;
  const std::uint64_t count = std::min<std::uint64_t>(file.NumberOfStreams, room);
  if (count == 0) return fail("minidump without streams", {}, start);
  if (count < file.NumberOfStreams) report("the minidump's directory runs past the end of the file", start);
  const auto entries = table_at<md::Directory>(bytes_, start, count);
  std::bitset<stream_count> seen;
  for (const md::Directory& entry : *entries) {
    const auto kind = std::ranges::find(kinds, number(entry.Type), &Kind::type);
    if (kind == std::end(kinds)) continue;
    const auto stream = static_cast<std::size_t>(kind - kinds);
    if (seen[stream]) continue; // the first one counts
    seen.set(stream);
    const std::uint64_t offset = entry.Location.RVA, size = entry.Location.DataSize;
    const std::uint64_t there = offset < bytes_.size() ? std::min(size, bytes_.size() - offset) : 0;
    if (there < size) {
      report("stream " + std::string(kind->name) + " runs past the end of the file", offset);
      core_.truncated = true;
    }
    // A list without entries has its count.
    if (size == 0 && stream == thread_list) report("stream " + std::string(kind->name) + " is empty", offset);
    if (there == 0) continue;
    streams_[stream] = bytes_.subspan(offset, there);
    offsets_[stream] = offset;
  }
  return {};
}

/// The record at the start of a stream; nullptr if there is none.
template <class T> const T* MinidumpReader::record(Stream stream) {
  if (streams_[stream].empty()) return nullptr;
  const auto found = table_at<T>(streams_[stream], 0, 1);
  if (found) return &found->front();
  report("stream " + std::string(kinds[stream].name) + " is too short", offsets_[stream]);
  return nullptr;
}

/// The entries after a header, as many as are there.
template <class T>
std::span<const T> MinidumpReader::list(Stream stream, std::uint64_t header, std::uint64_t count) {
  const auto bytes = streams_[stream];
  const std::uint64_t room = header < bytes.size() ? (bytes.size() - header) / sizeof(T) : 0;
  if (count > room)
    report("stream " + std::string(kinds[stream].name) + " has fewer entries than it says", offsets_[stream]);
  return table_at<T>(bytes, std::min<std::uint64_t>(header, bytes.size()), std::min(count, room)).value();
}

/// The entries of a list after their number. Some writers align entries to 8 bytes.
template <class T> std::span<const T> MinidumpReader::counted(Stream stream) {
  const auto* const count = record<ulittle32_t>(stream);
  if (!count) return {};
  const std::uint64_t size = sizeof(ulittle32_t) + *count * std::uint64_t{sizeof(T)};
  return list<T>(stream, streams_[stream].size() == size + 4 ? 8 : 4, *count);
}

std::string_view MinidumpReader::text(Stream stream) const {
  return to_llvm(streams_[stream]);
}

/// What an entry points to; empty if it is not in the file, or too much was read already.
std::span<const std::byte> MinidumpReader::located(std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes_.size() || size > bytes_.size() - offset || size > left_) return {};
  left_ -= size;
  return bytes_.subspan(offset, size);
}

/// A name of at most that many UTF-16 units; empty if it is not in the file. Lives as long as the core.
std::string_view MinidumpReader::utf16_at(std::uint64_t offset, std::size_t most) {
  const auto length = table_at<ulittle32_t>(bytes_, offset, 1);
  if (!length) return {};
  const std::uint64_t size = std::min<std::uint64_t>(length->front() / 2, most) * 2;
  const auto units = located(offset + sizeof(ulittle32_t), size);
  if (units.empty()) return {};
  core_.texts.push_front(to_utf8(units));
  const std::string& text = core_.texts.front();
  return std::string_view(text).substr(0, text.find('\0'));
}

Result<void> MinidumpReader::read_system() {
  const auto* const system = record<md::SystemInfo>(system_info);
  if (!system) return fail("minidump without the stream SystemInfo", {}, offsets_[system_info]);
  const md::OSPlatform platform = system->PlatformId;
  const auto other = std::ranges::find(other_systems, platform, &System::id);
  if (other != std::end(other_systems))
    return fail("minidump of " + std::string(other->name) + ": only those of Linux are supported", {},
                offsets_[system_info] + offsetof(md::SystemInfo, PlatformId));
  if (platform != md::OSPlatform::Linux && platform != md::OSPlatform::Android)
    return fail("minidump of an unknown system: only those of Linux are supported", {},
                offsets_[system_info] + offsetof(md::SystemInfo, PlatformId));
  core_.machine = machine_of(system->ProcessorArch);
  return {};
}

void MinidumpReader::add_block(std::uint64_t address, std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return;
  const std::uint64_t there = offset < bytes_.size() ? std::min(size, bytes_.size() - offset) : 0;
  core_.truncated |= there < size;
  if (there != 0) blocks_.push_back({{address, range_end(address, there) - address}, offset});
}

void MinidumpReader::read_memory_list() {
  for (const md::MemoryDescriptor& block : counted<md::MemoryDescriptor>(memory_list))
    add_block(block.StartOfMemoryRange, block.Memory.RVA, block.Memory.DataSize);
}

void MinidumpReader::read_memory64_list() {
  const auto* const header = record<md::Memory64ListHeader>(memory64_list);
  if (!header) return;
  std::uint64_t offset = header->BaseRVA;
  for (const md::MemoryDescriptor_64& block :
       list<md::MemoryDescriptor_64>(memory64_list, sizeof *header, header->NumberOfMemoryRanges)) {
    add_block(block.StartOfMemoryRange, offset, block.DataSize);
    offset = range_end(offset, block.DataSize);
  }
}

void MinidumpReader::read_threads() {
  std::size_t without = 0;
  std::uint64_t first_without = 0;
  const std::span<const md::Thread> threads = counted<md::Thread>(thread_list);
  // At most 4 bytes are for alignment.
  if (streams_[thread_list].size() >= threads.size_bytes() + sizeof(ulittle32_t) + sizeof(md::Thread))
    report("stream ThreadList has more entries than it says", offsets_[thread_list]);
  std::unordered_set<std::uint32_t, NumberHash> tids;
  std::size_t repeated = 0;
  for (const md::Thread& thread : threads) {
    if (!tids.insert(thread.ThreadId).second) {
      ++repeated;
      continue;
    }
    add_block(thread.Stack.StartOfMemoryRange, thread.Stack.Memory.RVA, thread.Stack.Memory.DataSize);
    const auto registers =
        decode_context(core_.machine, located(thread.Context.RVA, thread.Context.DataSize));
    if (registers)
      core_.threads.push_back({thread.ThreadId, 0, *registers});
    else if (without++ == 0)
      first_without = thread.Context.RVA;
  }
  if (repeated != 0)
    report("stream ThreadList has " + sframe::counted(repeated, "thread") + " with the ID of an earlier one",
           offsets_[thread_list]);
  if (without != 0 && find_abi(core_.machine, core_.byte_order))
    report(sframe::counted(without, "thread") + (without == 1 ? " has" : " have") + " no usable registers",
           first_without);
}

/// Moves the thread that died to the front. A list of threads may have it in its signal handler: what counts
/// are its registers before that.
void MinidumpReader::read_exception() {
  const auto* const found = record<md::ExceptionStream>(exception);
  if (!found) return;
  const md::Exception& details = found->ExceptionRecord;
  const std::uint32_t tid = found->ThreadId;
  const auto registers =
      decode_context(core_.machine, located(found->ThreadContext.RVA, found->ThreadContext.DataSize));
  auto& threads = core_.threads;
  auto thread = std::ranges::find(threads, tid, &CoreThread::tid);
  if (thread == threads.end() && registers) thread = threads.insert(thread, {tid, 0, *registers});
  if (thread == threads.end()) return;
  if (registers) thread->registers = *registers;
  std::rotate(threads.begin(), thread, thread + 1);
  // Without a signal, the writer was asked for the dump.
  constexpr std::uint32_t last_signal = 64;
  if (details.ExceptionCode == 0 || details.ExceptionCode > last_signal) return;
  SignalInfo info{.signal = static_cast<std::int32_t>(details.ExceptionCode),
                  .code = static_cast<std::int32_t>(details.ExceptionFlags.value())};
  threads.front().signal = info.signal;
  const std::uint32_t parameters = details.NumberParameters;
  // breakpad did not always write the code; a fault sent by a process is rare.
  if (has_fault_address(info.signal) && info.code == 0 && parameters == 0) return;
  info.address = details.ExceptionAddress;
  if (info.signal == sigsys && parameters != 0)
    info.system_call = static_cast<std::uint32_t>(details.ExceptionInformation[0]);
  // crashpad has the sender in parameters; breakpad has it in the address, where siginfo has both.
  if (info.code <= 0 && parameters >= 2) {
    info.sender = static_cast<std::uint32_t>(details.ExceptionInformation[0]);
    info.sender_user = static_cast<std::uint32_t>(details.ExceptionInformation[1]);
  } else if (info.code <= 0) {
    info.sender = static_cast<std::uint32_t>(info.address);
    info.sender_user = static_cast<std::uint32_t>(info.address >> 32);
    info.has_sender = info.sender != 0;
  }
  core_.signal_info = info;
}

void MinidumpReader::read_thread_names() {
  constexpr std::size_t longest = 64;
  const auto names = counted<ThreadName>(thread_names);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> by_thread;
  by_thread.reserve(names.size());
  for (const ThreadName& name : names) by_thread.emplace_back(name.thread_id, name.name);
  std::ranges::stable_sort(by_thread, {}, &std::pair<std::uint32_t, std::uint64_t>::first);
  for (CoreThread& thread : core_.threads) {
    const auto found =
        std::ranges::lower_bound(by_thread, thread.tid, {}, &std::pair<std::uint32_t, std::uint64_t>::first);
    if (found != by_thread.end() && found->first == thread.tid)
      thread.name = utf16_at(found->second, longest);
  }
}

/// breakpad's status is that of the thread that died, whose line "Tgid" is the process.
void MinidumpReader::read_process() {
  const auto* const misc = record<MiscInfo>(misc_info);
  const std::string group = status_value(text(linux_status), "Tgid");
  std::uint32_t pid = misc && misc->flags & has_process_id ? std::uint32_t{misc->process_id} : 0;
  if (pid == 0) std::from_chars(group.data(), group.data() + group.size(), pid);
  if (pid == 0 && !core_.threads.empty()) pid = core_.threads.front().tid;
  core_.pid = pid;

  std::string_view arguments = text(linux_command_line);
  while (!arguments.empty() && core_.command_line.size() < Core::max_arguments) {
    const std::string_view argument = arguments.substr(0, arguments.find('\0'));
    core_.command_line.push_back(argument);
    arguments.remove_prefix(std::min(argument.size() + 1, arguments.size()));
  }
  TaggedValueCursor pairs(streams_[linux_auxv], core_.byte_order);
  while (const auto pair = pairs.next()) core_.auxv.push_back(*pair);
}

/// The name of the process is that of its first thread.
void MinidumpReader::set_name() {
  constexpr std::size_t longest = 15; // as the kernel keeps
  const auto first = std::ranges::find(core_.threads, core_.pid, &CoreThread::tid);
  if (first != core_.threads.end()) core_.name = first->name;
  const std::string_view status = text(linux_status);
  if (core_.name.empty() && status_value(status, "Pid") == std::to_string(core_.pid)) {
    core_.texts.push_front(status_value(status, "Name"));
    core_.name = core_.texts.front();
  }
  if (!core_.name.empty()) return;
  for (const CoreModule& module : core_.listed_modules)
    if (module.main) core_.name = module.path.substr(module.path.rfind('/') + 1).substr(0, longest);
}

void MinidumpReader::read_mappings() {
  for (const MapsLine& line : maps_) {
    std::string_view path = line.path;
    if (!path.starts_with('/')) continue;
    if (path.contains('\\')) {
      core_.texts.push_front(unescaped(path));
      path = core_.texts.front();
    }
    core_.mappings.push_back({line.start, line.end, line.offset, path});
  }
}

/// The permissions of memory, by address.
std::vector<MinidumpReader::Area> MinidumpReader::areas() const {
  std::vector<Area> areas;
  for (const MapsLine& line : maps_)
    areas.push_back({AddressRange::between(line.start, line.end),
                     (line.readable ? pf_r : 0) | (line.writable ? pf_w : 0) | (line.executable ? pf_x : 0)});
  if (const auto header = table_at<md::MemoryInfoListHeader>(streams_[memory_info_list], 0, 1);
      areas.empty() && header && header->front().SizeOfEntry >= sizeof(md::MemoryInfo)) {
    const std::uint64_t size = header->front().SizeOfEntry;
    std::uint64_t at = header->front().SizeOfHeader, left = header->front().NumberOfEntries;
    for (; left != 0; at += size, --left) {
      const auto info = table_at<md::MemoryInfo>(streams_[memory_info_list], at, 1);
      if (!info) break;
      const md::MemoryInfo& area = info->front();
      if (area.State == md::MemoryState::Commit)
        areas.push_back({{area.BaseAddress, area.RegionSize}, flags_of(area.Protect)});
    }
  }
  make_disjoint(areas, [](Area& area, std::uint64_t front) {
    area.start += front;
    area.size -= front;
  });
  return areas;
}

/// What is mapped, in pieces: each either is completely in the file, or not at all.
void MinidumpReader::add_memory(std::span<const Area> areas) {
  const auto remove_front = [](Block& block, std::uint64_t front) {
    block.start += front;
    block.size -= front;
    block.offset += front;
  };
  make_disjoint(blocks_, remove_front);
  auto block = blocks_.begin();
  // Adds the blocks' parts below `end`.
  const auto add_blocks = [&](std::uint64_t end, std::uint32_t flags, auto&& before) {
    for (; block != blocks_.end() && block->start < end; ++block) {
      before(block->start);
      const std::uint64_t size = std::min(block->end(), end) - block->start;
      core_.memory.push_back({{block->start, size}, size, flags, block->offset});
      if (size == block->size) continue;
      remove_front(*block, size);
      break;
    }
  };
  for (const Area& area : areas) {
    add_blocks(area.start, pf_r, [](std::uint64_t) {});
    std::uint64_t at = area.start;
    const auto add_missing = [&](std::uint64_t end) {
      if (at < end) core_.memory.push_back({{at, end - at}, 0, area.flags});
    };
    add_blocks(area.end(), area.flags, [&](std::uint64_t start) {
      add_missing(start);
      at = std::min(block->end(), area.end());
    });
    add_missing(area.end());
  }
  add_blocks(last_address, areas.empty() ? 0 : pf_r, [](std::uint64_t) {});
}

/// By address. Their sizes are those of the images or, from breakpad, of what is mapped.
std::vector<CoreModule> MinidumpReader::listed_modules() {
  std::vector<CoreModule> modules;
  const auto entries = counted<md::Module>(module_list);
  modules.reserve(entries.size());
  for (const md::Module& entry : entries) {
    if (entry.SizeOfImage == 0) continue;
    CoreModule module;
    module.path = utf16_at(entry.ModuleNameRVA, longest_path);
    module.start = entry.BaseOfImage;
    module.end = range_end(entry.BaseOfImage, entry.SizeOfImage);
    if (module.start == module.end) continue; // at the last address: ranges end there
    module.listed = true;
    module.main = &entry == entries.data();
    module.vdso = is_vdso_name(module.path);
    if (module.vdso) module.path = "[vdso]";
    const auto id =
        located(entry.CvRecord.RVA, std::min<std::uint64_t>(entry.CvRecord.DataSize, 4 + longest_id));
    const auto signature = load_at<std::uint32_t>(id, 0, ByteOrder::little);
    if (signature == cv_build_id) module.build_id.assign(id.begin() + 4, id.end());
    if (signature == cv_pdb70 && id.size() >= 4 + guid_size) {
      module.build_id.assign(id.begin() + 4, id.begin() + 4 + guid_size);
      module.build_id_cut = true;
    }
    // What has no build ID.
    if (std::ranges::all_of(module.build_id, [](std::byte byte) { return byte == std::byte{}; }))
      module.build_id.clear();
    modules.push_back(std::move(module));
  }
  std::ranges::stable_sort(modules, {}, &CoreModule::start);
  const auto same = std::ranges::unique(modules, {}, &CoreModule::start);
  modules.erase(same.begin(), same.end());
  for (std::size_t i = 0; i < modules.size(); ++i) {
    CoreModule& module = modules[i];
    if (i + 1 < modules.size()) module.end = std::min(module.end, modules[i + 1].start);
    module.mappings.push_back({module.start, module.end, 0, module.path});
  }
  return modules;
}

namespace {

Result<CoreData> read_minidump(std::span<const std::byte> file) {
  CoreData core{.bytes = file};
  if (const auto done = MinidumpReader(core).read(); !done) return unexpected(done.error());
  return core;
}

} // namespace

const CoreFormat formats::minidump = {is_minidump, read_minidump};

} // namespace sframe::core
