// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --emit=bpf-table: the section's rows as a table for BPF programs (docs/bpf.md). Only with SFRAME_BPF.

#pragma once

#include "generate.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::gen {

/// Of the files in a directory, which are named after build IDs.
inline constexpr const char* bpf_table_extension = ".sframe-bpf";

/// The table of a section that was made for `address`.
Result<std::vector<std::byte>> make_bpf_table(const Input& input, std::span<const std::byte> section,
                                              std::uint64_t address);

} // namespace sframe::gen
