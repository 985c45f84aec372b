// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "sframe/files/access.h"

#include <memory>
#include <string>

namespace sframe::modules {

/// The result of the search for a module's image.
struct FoundFile {
  /// Of the file, or of memory; without an image if there is neither. Not nullptr.
  std::shared_ptr<files::SharedImage> image;
  std::string path; ///< of the file, as opened
  files::NamedBy named_by = files::NamedBy::core;
  std::string problem;        ///< why there is no file, or it is used without verification
  bool is_missing = false;    ///< there should be a file
  bool is_identified = false; ///< it has the build ID, or the code, that the process has
};

} // namespace sframe::modules
