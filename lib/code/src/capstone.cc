// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "capstone.h"

#include "sframe/code/disassembly.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#define SFRAME_TEXT_OF(x) #x
#define SFRAME_TEXT(x) SFRAME_TEXT_OF(x)

namespace sframe::code {

namespace {

template <class Function> bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

/// Capstone 4 does not check all of its allocations (cs_open() for ARM64 and SystemZ: MCRegisterInfo).
/// Without memory it gets some that is reserved, enough for a handle and an instruction, and its caller
/// throws afterwards (took_reserve()).
class Reserve {
public:
  void* take(std::size_t size) {
    constexpr std::size_t alignment = alignof(std::max_align_t);
    const std::scoped_lock lock(mutex_);
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    if (rounded < size || rounded > bytes_.size() - used_) return nullptr;
    void* const taken = std::memset(bytes_.data() + used_, 0, rounded);
    used_ += rounded, ++live_;
    return taken;
  }
  bool has(const void* memory) const {
    const auto* const byte = static_cast<const std::byte*>(memory);
    return !std::less<>()(byte, bytes_.data()) && std::less<>()(byte, bytes_.data() + bytes_.size());
  }
  void give_back() {
    const std::scoped_lock lock(mutex_);
    if (--live_ == 0) used_ = 0;
  }

private:
  std::mutex mutex_;
  std::size_t used_ = 0, live_ = 0;
  alignas(std::max_align_t) std::array<std::byte, 256 << 10> bytes_{};
};

constinit Reserve reserve;
thread_local bool took = false;

void* allocate(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory || size == 0) return memory;
  took = true;
  return reserve.take(size);
}

void* allocate_zeros(std::size_t count, std::size_t size) {
  void* const memory = std::calloc(count, size);
  if (memory || count == 0 || size == 0) return memory;
  took = true;
  return size > SIZE_MAX / count ? nullptr : reserve.take(count * size);
}

/// Only for arrays of several instructions, whose failure is checked.
void* reallocate(void* memory, std::size_t size) {
  return reserve.has(memory) ? nullptr : std::realloc(memory, size);
}

void release(void* memory) {
  if (reserve.has(memory))
    reserve.give_back();
  else
    std::free(memory);
}

std::optional<Capstone> load() {
  constexpr const char* name = "libcapstone.so." SFRAME_TEXT(CS_API_MAJOR);
  void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  // Once more: the loader does not tell want of memory from want of the file.
  if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  Capstone found{};
  if (!library || !find(library, "cs_open", found.open) || !find(library, "cs_close", found.close) ||
      !find(library, "cs_option", found.option) || !find(library, "cs_disasm", found.disasm) ||
      !find(library, "cs_free", found.free))
    return std::nullopt;
  cs_opt_mem memory = {allocate, allocate_zeros, reallocate, release, std::vsnprintf};
  found.option(0, CS_OPT_MEM, reinterpret_cast<std::size_t>(&memory));
  return found; // stays loaded
}

} // namespace

const Capstone* capstone() {
  static const std::optional<Capstone> loaded = load();
  return loaded ? &*loaded : nullptr;
}

bool took_reserve() {
  return std::exchange(took, false);
}

const char* disassembler_library() {
  return SFRAME_CAPSTONE_LIBRARY;
}

} // namespace sframe::code
