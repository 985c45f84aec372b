// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: sections and rules in C and C++.

#pragma once

#include "sframe/c/section.h"

#include "sframe/builder.h"
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

/// Its `size` is 0.
sframe_row to_c(const FrameRow& row);

/// Nothing if one of its rules is none.
std::optional<FrameRow> from_c(const sframe_row& row);

/// Why a function cannot be written, as a status and a text.
sframe_status report_refusal(sframe_error* error, const Refusal& refusal);

/// The caller's function and rows. Anything but SFRAME_OK has been reported.
sframe_status take_function(const sframe_function* function, const sframe_row* rows, std::size_t num_rows,
                            Fde& fde, std::vector<FrameRow>& taken, sframe_error* error);

/// Reports an error of Section::fde(): a wrong number is the caller's mistake.
sframe_status report_missing_function(sframe_error* error, const Error& what);

/// Nothing if one of them is NULL.
std::optional<std::vector<Section>> take_sections(const sframe_section* const* sections, std::size_t count);

} // namespace sframe::c
