// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First files and their fields; then what prevents tracing a process or stopping a thread, as a sentence for
// the user. The state of a process can change between two reads: a missing file reads as empty, and callers
// treat empty as unknown.

#include "live/proc_files.h"

#include "sframe/bytes.h"
#include "sframe/elf/file_systems.h"
#include "sframe/elf/tagged_values.h"
#include "sframe/process/live_process.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace sframe::process {

namespace live {

namespace {

std::uint64_t decimal(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_kernel_thread(std::uint32_t pid) {
  // Field 9 of stat; the name before it is in parentheses and may hold any character.
  constexpr std::uint64_t pf_kthread = 0x00200000;
  const std::string stat = read_proc(pid, "stat");
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 9 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  return at != std::string::npos && decimal(std::string_view(stat).substr(at + 1)) & pf_kthread;
}

} // namespace

std::string proc_path(std::uint32_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + '/' + std::string(name);
}

std::string read_proc(std::uint32_t pid, std::string_view name) {
  return read_proc_file(proc_path(pid, name));
}

bool may_look_up(const std::string& path) {
  return !elf::find_obstacle(path, {.root = {}, .network = true});
}

std::uint64_t resident_bytes(std::uint32_t pid) {
  const std::string statm = read_proc(pid, "statm"); // pages: of addresses, resident, ...
  const std::size_t space = statm.find(' ');
  if (space == std::string::npos) return 0;
  return decimal(std::string_view(statm).substr(space + 1)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<std::uint32_t> list_threads(std::uint32_t pid) {
  std::vector<std::uint32_t> tids;
  std::error_code error;
  for (std::filesystem::directory_iterator at(proc_path(pid, "task"), error), end; !error && at != end;
       at.increment(error))
    tids.push_back(static_cast<std::uint32_t>(decimal(at->path().filename().native())));
  std::ranges::sort(tids);
  return tids;
}

char thread_state(std::uint32_t pid, std::uint32_t tid) {
  const std::string state = status_value(read_proc(pid, "task/" + std::to_string(tid) + "/status"), "State");
  return state.empty() ? '\0' : state.front();
}

ThreadTimes thread_times(std::uint32_t pid, std::uint32_t tid) {
  const std::string both = read_proc(pid, "task/" + std::to_string(tid) + "/schedstat");
  const std::size_t space = std::min(both.find(' '), both.size());
  return {decimal(both), decimal(std::string_view(both).substr(std::min(space + 1, both.size())))};
}

bool has_ended(std::uint32_t pid, std::uint32_t tid) {
  const char state = thread_state(pid, tid);
  return state == '\0' || state == 'Z' || state == 'X';
}

std::uint32_t living_thread(std::uint32_t pid) {
  if (!has_ended(pid, pid)) return pid;
  for (const std::uint32_t tid : list_threads(pid))
    if (!has_ended(pid, tid)) return tid;
  return pid;
}

int open_of_living(std::uint32_t pid, const char* name) {
  constexpr int most_tries = 100;
  for (int i = 1;; ++i) {
    const std::uint32_t tid = living_thread(pid);
    const int fd = ::open(proc_path(tid, name).c_str(), O_RDONLY | O_CLOEXEC);
    // A thread that has ended has no program and no memory any more.
    const int error = errno;
    const bool ended = error == ENOENT || error == ESRCH;
    if (fd >= 0 || !ended || i == most_tries || read_proc(pid, "status").empty()) {
      errno = error;
      return fd;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string thread_name(std::uint32_t pid, std::uint32_t tid) {
  std::string name = read_proc(pid, "task/" + std::to_string(tid) + "/comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

std::size_t read_memory(std::uint32_t tid, std::uint64_t address, std::span<std::byte> out) {
  iovec here{out.data(), out.size()};
  iovec there{reinterpret_cast<void*>(address), out.size()};
  ssize_t got = ::process_vm_readv(static_cast<pid_t>(tid), &here, 1, &there, 1, 0);
  if (got <= 0 && address <= static_cast<std::uint64_t>(INT64_MAX)) {
    // If the system call is forbidden, and for mappings that it cannot read.
    const int fd = ::open(proc_path(tid, "mem").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(address));
    if (fd >= 0) ::close(fd);
  }
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::optional<std::uint64_t> auxiliary_value(std::string_view auxv, std::uint64_t tag) {
  return elf::find_value(std::as_bytes(std::span(auxv)), host_order, tag);
}

std::vector<elf::MappedImage> find_images(std::uint32_t tid, std::span<const MapsLine> lines, ByteOrder order,
                                          std::uint64_t program_headers,
                                          std::span<const std::uint64_t> starts) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> numbers;
  std::vector<elf::Mapping> mappings;
  for (const MapsLine& line : lines) {
    elf::Mapping mapping{.start = line.start,
                         .end = line.end,
                         .file_offset = line.offset,
                         .path = line.path,
                         .executable = line.executable};
    const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
    if (line.inode != 0 || line.is_vdso())
      mapping.file = numbers.try_emplace({line.device, line.inode}, next).first->second;
    mappings.push_back(mapping);
  }
  std::vector<std::byte> page(elf::header_window);
  const auto read = [&](std::uint64_t address) {
    return std::span<const std::byte>(page).first(read_memory(tid, address, page));
  };
  auto images = elf::find_images(mappings, order, read, program_headers, starts);
  std::erase_if(images, [](const elf::MappedImage& image) {
    return std::ranges::none_of(image.mappings, [](const elf::Mapping& m) { return *m.executable; });
  });
  return images;
}

namespace {

/// The tracer of a thread with that status, as text; empty if there is none or it is `ignored_tracer`. The
/// kernel reports the tracer as a thread.
std::string tracer_of(const std::string& thread_status, std::uint32_t ignored_tracer) {
  const std::string tracer = status_value(thread_status, "TracerPid");
  if (tracer.empty() || tracer == "0") return {};
  const auto tid = static_cast<std::uint32_t>(decimal(tracer));
  if (tid == ignored_tracer) return {};
  const std::string group = status_value(read_proc(tid, "status"), "Tgid");
  if (group.empty() || group == tracer) return "process " + tracer + " (" + thread_name(tid, tid) + ")";
  const auto pid = static_cast<std::uint32_t>(decimal(group));
  return "process " + group + " (" + thread_name(pid, pid) + "), thread " + tracer + " (" +
         thread_name(pid, tid) + ")";
}

std::string thread_status(std::uint32_t pid, std::uint32_t tid) {
  return read_proc(pid, "task/" + std::to_string(tid) + "/status");
}

/// The child made by vfork() that the thread waits for: it shares the memory.
std::optional<std::uint32_t> vfork_child(std::uint32_t pid, std::uint32_t tid) {
  constexpr int same_memory = 1; // KCMP_VM
  const std::string children = read_proc(pid, "task/" + std::to_string(tid) + "/children");
  for (std::string_view rest = children; !rest.empty();) {
    const auto child = static_cast<std::uint32_t>(decimal(rest));
    if (child && ::syscall(SYS_kcmp, pid, child, same_memory, 0, 0) == 0) return child;
    rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
  }
  return std::nullopt;
}

} // namespace

bool is_traced_by(std::uint32_t pid, std::uint32_t tid, std::uint32_t tracer) {
  return status_value(thread_status(pid, tid), "TracerPid") == std::to_string(tracer);
}

std::string explain_unstopped(std::uint32_t pid, std::uint32_t tid) {
  const std::string prefix = "thread " + std::to_string(tid) + " could not be stopped: it is waiting ";
  if (const auto child = vfork_child(pid, tid))
    return prefix + "in vfork() for process " + std::to_string(*child) + ", which runs on its stack";
  return prefix + "uninterruptibly in the kernel";
}

namespace {

/// As find_obstacle(), but `ignored_tracer` is no obstacle.
std::optional<Problem> find_obstacle_but(std::uint32_t pid, std::uint32_t ignored_tracer) {
  const auto problem = [](std::string why) { return Problem{std::move(why), {}, {}}; };
  const std::string status = read_proc(pid, "status");
  if (status.empty()) return problem("no such process");
  if (pid == static_cast<std::uint32_t>(::getpid())) return problem("a process cannot trace itself");
  const std::string group = status_value(status, "Tgid");
  if (group != std::to_string(pid)) return problem("this is a thread ID; its process is " + group);
  // The leader may have ended while other threads run: that is a zombie, too, but has threads.
  if (status_value(status, "State").starts_with('Z') && list_threads(pid).size() < 2)
    return problem("zombie: exited, but not yet reaped by its parent");
  if (is_kernel_thread(pid)) return problem("kernel threads cannot be traced");
  if (const std::string tracer = tracer_of(status, ignored_tracer); !tracer.empty())
    return problem("already traced by " + tracer);
  return std::nullopt;
}

} // namespace

std::optional<Problem> find_obstacle(std::uint32_t pid) {
  return find_obstacle_but(pid, 0);
}

Problem explain_refusal(std::uint32_t pid, int error) {
  // The state may have changed since find_obstacle(). The calling thread may have seized some threads before
  // others were refused.
  const auto own = static_cast<std::uint32_t>(::gettid());
  if (auto obstacle = find_obstacle_but(pid, own)) return std::move(*obstacle);
  if (error != EPERM && error != EACCES)
    return {std::string("cannot trace the process: ") + std::strerror(error), {}, {}};
  // Threads may have different tracers.
  for (const std::uint32_t tid : list_threads(pid))
    if (const std::string tracer = tracer_of(thread_status(pid, tid), own); !tracer.empty())
      return {"thread " + std::to_string(tid) + " is already traced by " + tracer, {}, {}};
  const std::string uids = status_value(read_proc(pid, "status"), "Uid");
  const std::string owner = uids.substr(0, uids.find('\t'));
  std::string why = "no permission to trace the process";
  if (owner != std::to_string(::geteuid())) why += ": it belongs to user " + owner;
  int scope = 0;
  if (const int fd = ::open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC); fd >= 0) {
    char digit = '0';
    if (::read(fd, &digit, 1) == 1) scope = digit - '0';
    ::close(fd);
  }
  if (scope) why += " (kernel.yama.ptrace_scope is " + std::to_string(scope) + ")";
  return {why, {}, {}};
}

Problem explain_nothing_stopped(std::uint32_t pid, std::optional<std::uint32_t> only) {
  if (auto obstacle = find_obstacle_but(pid, static_cast<std::uint32_t>(::gettid())))
    return std::move(*obstacle);
  if (only && has_ended(pid, *only)) return {"thread " + std::to_string(*only) + " has ended", {}, {}};
  return {"all threads ended while they were to be stopped", {}, {}};
}

} // namespace live

namespace {

/// Of the program's ELF header.
Result<const AbiTraits*> abi_of(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return fail("the process's program is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return fail("32-bit programs are not supported");
  const auto order = header.e_ident[EI_DATA] == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  const AbiTraits* abi =
      find_abi(load<std::uint16_t>(reinterpret_cast<const std::byte*>(&header.e_machine), order), order);
  if (!abi || !unwind::find_unwind_abi(abi->id))
    return fail("SFrame does not support this program's machine");
  return abi;
}

/// If the file cannot be read: from memory. Linkers put the program headers right after the ELF header.
Elf64_Ehdr header_in_memory(std::uint32_t tid) {
  Elf64_Ehdr header{};
  const std::string auxv = live::read_proc(tid, "auxv");
  const std::uint64_t headers = live::auxiliary_value(auxv, elf::at_phdr).value_or(0);
  (void)live::read_memory(tid, headers - sizeof header, std::as_writable_bytes(std::span(&header, 1)));
  return header;
}

} // namespace

Result<const AbiTraits*> find_process_abi(std::uint32_t pid) {
  const std::uint32_t tid = live::living_thread(pid);
  const std::string program = live::proc_path(tid, "exe");
  if (!live::may_look_up(program)) return abi_of(header_in_memory(tid));
  const int fd = live::open_of_living(pid, "exe");
  if (fd < 0) return unexpected(live::explain_refusal(pid, errno));
  auto abi = live::read_program_abi(fd);
  ::close(fd);
  return abi;
}

Result<const AbiTraits*> live::read_program_abi(int fd) {
  Elf64_Ehdr header{};
  (void)!::read(fd, &header, sizeof header); // what is missing is no ELF header
  return abi_of(header);
}

} // namespace sframe::process
