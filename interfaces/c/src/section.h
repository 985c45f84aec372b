// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: sections and rules in C and C++.

#pragma once

#include "sframe/c/section.h"

#include "sframe/elf/file.h"
#include "sframe/section.h"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

struct sframe_section {
  sframe::Section section;
};

namespace sframe::c {

sframe_rule to_c(const Rule& rule);

/// Nothing if it is no rule.
std::optional<Rule> from_c(const sframe_rule& rule);

/// Reports an error of Section::fde(): a wrong number is the caller's mistake.
sframe_status report_missing_function(sframe_error* error, const Error& what);

/// Nothing if one of them is NULL.
std::optional<std::vector<Section>> take_sections(const sframe_section* const* sections, std::size_t count);

} // namespace sframe::c
