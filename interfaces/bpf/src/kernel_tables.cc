// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table is an array in the kernel, written once, then frozen, and mapped here for stacks that are finished
// in user space. The order of changes is that of kernel_tables.h.

#include "kernel_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace sframe::bpf {

namespace {

constexpr std::size_t max_unpublished = 256; ///< each has an open file
constexpr std::size_t max_threads = 16;      ///< that wait for the kernel, all for the same event

/// Of the kernel's pages, where programs cannot know it. False with errno.
bool set_page_size([[maybe_unused]] const bpf_object* object) {
#ifdef __aarch64__
  const int map = bpf_object__find_map_fd_by_name(object, ".data.sframe");
  const std::uint32_t zero = 0;
  const auto bits = static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned long>(::getpagesize())));
  return map >= 0 && bpf_map_update_elem(map, &zero, &bits, BPF_ANY) == 0;
#else
  return true;
#endif
}

} // namespace

bool KernelTables::open(bpf_object* object) {
  const auto find = [&](const char* name) { return bpf_object__find_map_fd_by_name(object, name); };
  tables_ = find("sframe_tables");
  files_ = find("sframe_files");
  windows_ = find("sframe_windows");
  codes_ = find("sframe_codes");
  uses_ = find("sframe_uses");
  if (uses_ >= 0 && tables_ >= 0 && files_ >= 0 && windows_ >= 0 && codes_ >= 0) return set_page_size(object);
  errno = ENOENT;
  return false;
}

/// It is frozen: neither side can write to it afterwards.
std::optional<LoadedTable> KernelTables::load(std::span<const std::byte> bytes) {
  const auto no_room = [&] {
    ++counts_.no_room;
    return std::nullopt;
  };
  const std::uint64_t used = counts_.bytes + bytes.size();
  const bool has_slot = !free_slots_.empty() || next_slot_ < SFRAME_BPF_MAX_TABLES - 1;
  if ((used > max_bytes_ || !has_slot) &&
      !(make_room_ && make_room_(std::max<std::uint64_t>(used, max_bytes_ + 1) - max_bytes_)))
    return no_room();
  const std::uint32_t slot = free_slots_.empty() ? next_slot_ : free_slots_.back();
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP;
  FileDescriptor map(bpf_map_create(BPF_MAP_TYPE_ARRAY, "sframe_table", sizeof(std::uint32_t),
                                    sizeof(std::uint64_t), static_cast<std::uint32_t>(bytes.size() / 8),
                                    &options));
  const std::size_t size = bytes.size();
  const auto map_words = [&](int protection) -> void* {
    if (map.number() < 0) return MAP_FAILED;
    return ::mmap(nullptr, size, protection, MAP_SHARED, map.number(), 0);
  };
  void* const writable = map_words(PROT_READ | PROT_WRITE);
  if (writable == MAP_FAILED) return no_room();
  std::memcpy(writable, bytes.data(), size);
  ::munmap(writable, size);
  bpf_map_freeze(map.number());
  void* const words = map_words(PROT_READ);
  if (words == MAP_FAILED) return no_room();
  LoadedTable made{.slot = slot, .size = size};
  made.memory.reset(words, [size](void* memory) { ::munmap(memory, size); });
  sframe_bpf_open(
      {static_cast<const unsigned char*>(words), size / 8, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__}, size / 8,
      &made.header);
  if (unpublished_.size() == max_unpublished) publish();
  unpublished_.push_back({slot, std::move(map)});
  if (free_slots_.empty())
    ++next_slot_;
  else
    free_slots_.pop_back();
  ++counts_.tables;
  counts_.bytes += size;
  counts_.rows += made.header.num_rows;
  return made;
}

void KernelTables::publish() {
  if (unpublished_.empty()) return;
  std::atomic<std::size_t> next = 0, failed = 0;
  const auto put = [&] {
    for (std::size_t i = next++; i < unpublished_.size(); i = next++) {
      const int map = unpublished_[i].map.number();
      failed += bpf_map_update_elem(tables_, &unpublished_[i].slot, &map, BPF_ANY) != 0;
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min(unpublished_.size(), max_threads) - 1;
    try {
      while (others.size() < wanted) others.emplace_back(put);
    } catch (const std::system_error&) { // fewer do it, too
    }
    put();
  }
  counts_.no_room += failed;
  unpublished_.clear();
}

void KernelTables::unload(const LoadedTable& table) {
  publish();
  bpf_map_delete_elem(tables_, &table.slot); // waits for programs that run
  free_slots_.push_back(table.slot);
  free_codes_.insert(free_codes_.end(), left_codes_.begin(), left_codes_.end());
  left_codes_.clear();
  --counts_.tables;
  counts_.bytes -= table.size;
  counts_.rows -= table.header.num_rows;
}

/// A change of a slot does; the last one is for nothing else.
void KernelTables::wait() {
  if (left_codes_.empty()) return;
  const std::uint32_t last = SFRAME_BPF_MAX_TABLES - 1;
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP;
  const FileDescriptor empty(bpf_map_create(BPF_MAP_TYPE_ARRAY, "sframe_empty", sizeof(std::uint32_t),
                                            sizeof(std::uint64_t), 1, &options));
  const int number = empty.number();
  if (number < 0 || bpf_map_update_elem(tables_, &last, &number, BPF_ANY) != 0) return; // the next one waits
  free_codes_.insert(free_codes_.end(), left_codes_.begin(), left_codes_.end());
  left_codes_.clear();
}

std::optional<std::uint32_t> KernelTables::add_code(sframe_bpf_code& code) {
  code.serial = next_serial_++;
  if (next_serial_ == 0) next_serial_ = 1; // after thousands of millions: what was found then is long gone
  const std::uint32_t number = free_codes_.empty() ? next_code_ : free_codes_.back();
  if (number == SFRAME_BPF_MAX_TABLES || bpf_map_update_elem(codes_, &number, &code, BPF_ANY) != 0) {
    ++counts_.no_room;
    return std::nullopt;
  }
  const std::uint64_t use = now();
  bpf_map_update_elem(uses_, &number, &use, BPF_ANY);
  if (free_codes_.empty())
    ++next_code_;
  else
    free_codes_.pop_back();
  return number;
}

void KernelTables::change_code(std::uint32_t number, const sframe_bpf_code& code) {
  bpf_map_update_elem(codes_, &number, &code, BPF_EXIST);
}

std::uint64_t KernelTables::last_use(std::uint32_t number) const {
  std::uint64_t use = 0;
  return bpf_map_lookup_elem(uses_, &number, &use) == 0 ? use : now();
}

std::uint64_t KernelTables::now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const auto seconds = static_cast<std::uint64_t>(time.tv_sec);
  return (seconds * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec)) >> SFRAME_BPF_USE_BITS;
}

bool KernelTables::set_file(const sframe_bpf_key& file, std::uint64_t word) {
  return bpf_map_update_elem(files_, &file, &word, BPF_ANY) == 0;
}

void KernelTables::remove_file(const sframe_bpf_key& file) {
  bpf_map_delete_elem(files_, &file);
}

bool KernelTables::set_window(const sframe_bpf_window& window, std::uint64_t word) {
  publish();
  return bpf_map_update_elem(windows_, &window, &word, BPF_ANY) == 0;
}

void KernelTables::remove_window(const sframe_bpf_window& window) {
  bpf_map_delete_elem(windows_, &window);
}

} // namespace sframe::bpf
