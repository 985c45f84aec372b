// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <span>

namespace sframe::profile {

/// The build ID of the vdso of this process; empty if there is none. Valid as long as the process.
std::span<const std::byte> own_vdso_id();

/// The vdso of this process, as an ELF image, if it has that build ID: another process of the same kernel has
/// the same. Empty if it is another one. Valid as long as the process.
std::span<const std::byte> own_vdso(std::span<const std::byte> build_id);

} // namespace sframe::profile
