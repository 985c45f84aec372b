// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: reading files in /proc about a process (proc(5)).

#pragma once

#include "sframe/abi.h"
#include "sframe/base/problem.h"
#include "sframe/base/proc_text.h"
#include "sframe/elf/mapped_images.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::process::live {

/// "/proc/PID/NAME".
std::string proc_path(std::uint32_t pid, std::string_view name);

/// The whole file; empty if it cannot be read.
std::string read_proc(std::uint32_t pid, std::string_view name);

/// False if the path leads into a file system that does not answer (elf/file_systems.h).
bool may_look_up(const std::string& path);

/// Resident memory of the process in bytes; 0 if it is gone.
std::uint64_t resident_bytes(std::uint32_t pid);

/// The process's threads, by tid; empty if it is gone.
std::vector<std::uint32_t> list_threads(std::uint32_t pid);

/// True if the thread is gone, or has ended and is not yet reaped.
bool has_ended(std::uint32_t pid, std::uint32_t tid);

/// The thread's state, a letter of proc(5): 'R' runs or is ready to, 'S' sleeps. 0 if it is gone.
char thread_state(std::uint32_t pid, std::uint32_t tid);

/// Nanoseconds of a thread (/proc/PID/task/TID/schedstat): on a processor, and ready but without one. 0 if it
/// is gone, or the kernel does not count them.
struct ThreadTimes {
  std::uint64_t used = 0, delayed = 0;
};
ThreadTimes thread_times(std::uint32_t pid, std::uint32_t tid);

/// True if the thread is traced by the thread `tracer`.
bool is_traced_by(std::uint32_t pid, std::uint32_t tid, std::uint32_t tracer);

/// A thread through which /proc and process_vm_readv(2) access the process's memory: the leader, or another
/// one if the leader has ended first.
std::uint32_t living_thread(std::uint32_t pid);

/// Opens /proc/TID/NAME of a living thread for reading; -1 and errno if it cannot be had. Threads that end
/// meanwhile, as all but one do in execve(2), are no reason to give up.
int open_of_living(std::uint32_t pid, const char* name);

/// A thread's name (comm).
std::string thread_name(std::uint32_t pid, std::uint32_t tid);

/// Reads the process's memory through one of its threads; the number of bytes that could be read.
std::size_t read_memory(std::uint32_t tid, std::uint64_t address, std::span<std::byte> out);

/// The value of the auxiliary vector `auxv` (/proc/PID/auxv) for a tag.
std::optional<std::uint64_t> auxiliary_value(std::string_view auxv, std::uint64_t tag);

/// The images with code among the lines of /proc/PID/maps, and the vdso; see elf::find_images(). `tid` is a
/// thread through which memory is read.
std::vector<elf::MappedImage> find_images(std::uint32_t tid, std::span<const MapsLine> lines, ByteOrder order,
                                          std::uint64_t program_headers,
                                          std::span<const std::uint64_t> starts = {});

/// The ABI of the program in an open file. Fails as find_process_abi() does.
Result<const AbiTraits*> read_program_abi(int fd);

/// Why a process cannot be traced, as far as it is known in advance: no such process, a thread of another
/// process, a zombie, a kernel thread, this process itself, or traced by another program.
std::optional<Problem> find_obstacle(std::uint32_t pid);

/// The reason of a refusal by the kernel with `error` (an errno).
Problem explain_refusal(std::uint32_t pid, int error);

/// Why no thread, or not the only one that was wanted, could be stopped although the kernel has not refused.
Problem explain_nothing_stopped(std::uint32_t pid, std::optional<std::uint32_t> only);

/// Why a thread did not stop when requested, as text.
std::string explain_unstopped(std::uint32_t pid, std::uint32_t tid);

} // namespace sframe::process::live
