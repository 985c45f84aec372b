// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what identifies a finding in the reports of build services: what survives a rebuild, as in a
// baseline, and a number where a function has several findings of a kind.

#pragma once

#include "sframe/verify/baseline.h"
#include "sframe/verify/findings.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sframe::verify {

/// Of one file, whose findings come in the same order each time.
class Fingerprints {
public:
  /// "libfoo.so:C102:foo:1". `function` is empty if the finding is about the section as a whole.
  std::string next(std::string_view path, Id id, const std::string& function) {
    const auto key = Baseline::key(path, check(id).name, function);
    return key.file + ":" + key.id + ":" + key.function + ":" + std::to_string(++seen_[key]);
  }

private:
  std::map<Baseline::Key, std::uint64_t> seen_;
};

} // namespace sframe::verify
