// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --against: whether a file has the call frame information of another one, from which it was made.

#pragma once

#include <sframe/base/budget.h>
#include <sframe/tool/app.h>

#include <string>

namespace sframe::verify {

struct AgainstOptions {
  std::string original; ///< --against
  std::string file;
  bool json = false;
  Limits limits = Limits::standard;
};

/// Compares the files, in the sandbox, and reports the result. Returns the exit code: 1 if they differ.
int compare_files(tool::App& app, const AgainstOptions& options);

} // namespace sframe::verify
