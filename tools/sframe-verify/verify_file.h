// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One FILE of the command line: which of it is code, SFrame and CFI, and which checks are made.

#pragma once

#include <sframe/tool/messages.h>
#include <sframe/verify/report.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sframe::verify {

struct FileOptions {
  bool structure = true;
  bool cfi = true;
  std::string
      sframe; ///< --sframe: a raw section, an ELF file, or a folder of sidecars; empty: the section in FILE
  std::optional<std::uint64_t> sframe_address; ///< of a bare section; none: not given, which means 0
  std::string debug;                           ///< --debug: an ELF file; empty: none
};

/// Verifies FILE, or all members of an archive that have SFrame (at least one must). False where it could not
/// be done, which has been said.
bool verify_file(const std::string& path, const FileOptions& options, Report& report,
                 tool::Messages& messages);

} // namespace sframe::verify
