// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/breakpoints.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <elf.h>
#include <fcntl.h>
#include <span>
#include <string>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sframe::process::live {

namespace {

/// The instruction, and the distance from its start at which a thread stops.
#if defined(__x86_64__)
constexpr std::array<unsigned char, 1> breakpoint{0xcc}; // int3
constexpr std::uint64_t pc_after = 1;
#elif defined(__aarch64__)
constexpr std::array<unsigned char, 4> breakpoint{0x00, 0x00, 0x20, 0xd4}; // brk #0
constexpr std::uint64_t pc_after = 0;
#else
constexpr std::array<unsigned char, 0> breakpoint{};
constexpr std::uint64_t pc_after = 0;
#endif
static_assert(breakpoint.size() <= sizeof(std::uint32_t));

/// For where /proc/PID/mem cannot be written: /proc is mounted read-only (in containers), or the kernel
/// refuses writes to memory that the process may only execute. The process has to be stopped.
bool transfer_by_words(std::uint32_t pid, std::uint64_t address, std::span<std::byte> bytes, bool write) {
  for (std::byte& other : bytes) {
    const std::uint64_t place = address++, start = place & ~std::uint64_t{sizeof(long) - 1};
    errno = 0;
    long word = ::ptrace(PTRACE_PEEKDATA, pid, start, 0);
    if (errno != 0) return false;
    std::byte& own = std::as_writable_bytes(std::span(&word, 1))[place - start];
    (write ? own : other) = write ? other : own;
    if (write && ::ptrace(PTRACE_POKEDATA, pid, start, word) != 0) return false;
  }
  return true;
}

/// Also writes to memory that the process may only execute.
bool transfer(std::uint32_t pid, std::uint64_t address, void* data, bool write) {
  const std::span bytes(static_cast<std::byte*>(data), breakpoint.size());
  const std::string path = "/proc/" + std::to_string(pid) + "/mem";
  const int fd = ::open(path.c_str(), (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  ssize_t done = -1;
  if (fd >= 0) {
    const auto at = static_cast<off_t>(address);
    done = write ? ::pwrite(fd, data, bytes.size(), at) : ::pread(fd, data, bytes.size(), at);
    ::close(fd);
  }
  return done == static_cast<ssize_t>(bytes.size()) || transfer_by_words(pid, address, bytes, write);
}

} // namespace

bool Breakpoints::are_supported() {
  return !breakpoint.empty();
}

void Breakpoints::insert(std::uint32_t pid, std::uint64_t address) {
  if (places_.contains({pid, address})) return;
  std::uint32_t old = 0;
  auto bytes = breakpoint;
  if (!transfer(pid, address, &old, false) || !transfer(pid, address, bytes.data(), true)) return;
  places_[{pid, address}] = old;
}

void Breakpoints::copy(std::uint32_t parent, std::uint32_t child) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
  for (auto at = places_.lower_bound({parent, 0}); at != places_.end() && at->first.first == parent; ++at)
    all.emplace_back(at->first.second, at->second);
  for (const auto& [address, old] : all) places_[{child, address}] = old;
}

void Breakpoints::forget(std::uint32_t pid) {
  std::erase_if(places_, [&](const auto& entry) { return entry.first.first == pid; });
}

void Breakpoints::remove_all() {
  if (std::exchange(removed_, true)) return;
  for (auto& [place, old] : places_) (void)transfer(place.first, place.second, &old, true);
}

std::optional<std::uint64_t> Breakpoints::executed(std::uint32_t pid, std::uint64_t pc) const {
  const std::uint64_t address = pc - pc_after;
  return places_.contains({pid, address}) ? std::optional(address) : std::nullopt;
}

void Breakpoints::move(std::uint32_t tid, std::uint64_t address) {
#if defined(__x86_64__) || defined(__aarch64__)
  user_regs_struct registers{};
  iovec part{&registers, sizeof registers};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part) != 0 || part.iov_len != sizeof registers) return;
#  if defined(__x86_64__)
  registers.rip = address;
#  else
  registers.pc = address;
#  endif
  (void)::ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &part);
#else
  (void)tid, (void)address;
#endif
}

} // namespace sframe::process::live
