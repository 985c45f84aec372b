// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names that are added to a finished recording.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sframe::profile_tool {

class NameIndex {
public:
  /// `names` must outlive the object.
  explicit NameIndex(std::vector<std::string>& names) : names_(names) {}

  /// The index of an equal name, which is added if it is new here.
  std::uint32_t add(std::string_view name) {
    const auto [at, is_new] =
        indices_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return at->second;
  }

private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, std::uint32_t> indices_;
};

} // namespace sframe::profile_tool
