// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct UCD_info;

/// Appends the pcs of a thread's frames, at most `most`, and asks each frame for all that the interface has.
void _Ux86_64_fuzz_walk(UCD_info* core, unsigned thread, std::vector<std::uint64_t>& pcs, std::size_t most);
void _Uaarch64_fuzz_walk(UCD_info* core, unsigned thread, std::vector<std::uint64_t>& pcs, std::size_t most);
void _Us390x_fuzz_walk(UCD_info* core, unsigned thread, std::vector<std::uint64_t>& pcs, std::size_t most);
