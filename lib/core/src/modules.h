// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the ELF images that a process had mapped.

#pragma once

#include "sframe/core/core.h"

namespace sframe::core {

/// By address. `listed` are those that the file lists (CoreData::listed_modules). N log N.
std::vector<CoreModule> find_modules(const Core& core, std::vector<CoreModule> listed);

} // namespace sframe::core
