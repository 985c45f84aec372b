// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the objects loaded by the dynamic loader, for cores that do not list the mapped files (no
// NT_FILE), and libraries none of whose mappings is of their file. Debuggers read the same list in live
// processes. (glibc <link.h>: DT_DEBUG in the program's dynamic section points to struct r_debug, which
// points to a chain of struct link_map.)

#pragma once

#include "sframe/core/core.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::process {

struct LinkedObject {
  std::uint64_t bias = 0;    ///< l_addr
  std::uint64_t dynamic = 0; ///< l_ld: an address in the process
  std::string name;          ///< l_name: empty for the program
};

/// The memory of a process, and its auxiliary vector.
struct LinkedMemory {
  ByteOrder order{};
  std::function<std::size_t(std::uint64_t address, std::span<std::byte> out)>
      read; ///< returns the bytes read
  std::function<std::optional<std::uint64_t>(std::uint64_t tag)> auxv;
};
LinkedMemory memory_of(const core::Core& core);

/// The address of the program's dynamic section, from its program headers in memory; nothing if these are
/// missing or it has none.
std::optional<std::uint64_t> dynamic_section(const LinkedMemory& memory);

/// The chain, as far as it can be read; empty if there is none. `dynamic` is the program's section.
std::vector<LinkedObject> linked_objects(const LinkedMemory& memory, std::uint64_t dynamic);

/// The string at the address, without its terminating zero; empty if it cannot be read.
std::string text_at(const LinkedMemory& memory, std::uint64_t address);

} // namespace sframe::process
