// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what the dynamic loader of a dead process had loaded, for cores that do not list the mapped files
// (no NT_FILE): the list that debuggers follow in live processes, in the core's memory. (glibc <link.h>:
// DT_DEBUG of the program's dynamic section leads to struct r_debug, that to a chain of struct link_map.)

#pragma once

#include "sframe/elf/core.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sframe::process {

struct LinkedObject {
  std::uint64_t bias = 0;    ///< l_addr
  std::uint64_t dynamic = 0; ///< l_ld: an address in it
  std::string name;          ///< l_name: empty for the program
};

/// Where the program's dynamic section is, by its program headers in the core's memory; nothing where these
/// are not there, or it has none.
std::optional<std::uint64_t> dynamic_section(const elf::Core& core);

/// The chain, as far as it can be followed; empty where there is none. `dynamic` is the program's section.
std::vector<LinkedObject> linked_objects(const elf::Core& core, std::uint64_t dynamic);

/// The text at the address, up to its zero; empty where it cannot be read.
std::string text_at(const elf::Core& core, std::uint64_t address);

} // namespace sframe::process
