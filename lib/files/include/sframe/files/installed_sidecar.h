// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sidecars that are installed where debug files are, for files without a section of their own. companions.h
// has those in the directory that the user names.

#pragma once

#include "sframe/files/companions.h"

#include <cstddef>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::files {

/// The sidecar with that build ID, of an image from `origin`: DIR/.build-id/xx/yyyy.sframe in the folders of
/// FileAccess::debug_folders(), by the rules for debug files. Nothing if there is none. Costs an attempt to
/// open per folder.
FoundSidecar find_installed_sidecar(const FileAccess& access, std::span<const std::byte> build_id,
                                    const AbiTraits& abi, const Origin& origin);

} // namespace sframe::files

#pragma GCC visibility pop
