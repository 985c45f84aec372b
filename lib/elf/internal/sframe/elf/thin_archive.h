// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The refusal that reading and writing of archives share.

#pragma once

namespace sframe::elf {

inline constexpr const char* thin_archive_text =
    "thin archive: contains only file names; pass these files instead";

} // namespace sframe::elf
