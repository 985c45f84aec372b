// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The debug information that lookups have opened, so that several kinds of them (source.h) share it.

#pragma once

#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)

namespace sframe::modules {

class Module;
class DebugInfoCache;
struct [[gnu::visibility("hidden")]] DebugInfo; // llvm_debug_info.h
[[gnu::visibility("hidden")]] DebugInfo* find_debug_info(Module& module, DebugInfoCache& cache,
                                                         std::uint64_t lookup_pc);

/// Memory grows with the number of units used. Used in one thread at a time. Must not outlive the modules.
class DebugInfoCache {
public:
  DebugInfoCache();
  ~DebugInfoCache();
  DebugInfoCache(const DebugInfoCache&) = delete;
  DebugInfoCache& operator=(const DebugInfoCache&) = delete;

private:
  friend DebugInfo* find_debug_info(Module& module, DebugInfoCache& cache, std::uint64_t lookup_pc);
  struct [[gnu::visibility("hidden")]] Images;
  std::unique_ptr<Images> images_;
};

} // namespace sframe::modules

#pragma GCC visibility pop
