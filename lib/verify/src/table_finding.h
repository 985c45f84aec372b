// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: reports findings about bytes of a table.

#pragma once

#include "sframe/verify/input.h"

namespace sframe::verify {

/// Reports a finding about the bytes at `offset` in a section of `table`. `at`: the one address concerned.
inline void report_in_table(const SframeTable& table, const SframePart& part, Id id, std::string message,
                            std::uint64_t offset, std::optional<Location> at, Sink& sink) {
  sink.add({.id = id,
            .at = at,
            .end = at ? at->pc : 0,
            .message = std::move(message),
            .table = std::string(table.name),
            .offset = part.offset + offset});
}

} // namespace sframe::verify
