// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: checks of the tables of SFrame and of the file's headers for them.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Checks the relocations of .sframe (S018): one per function, for its start. Does nothing unless the section
/// is in a relocatable object. Functions without a relocation give one finding per section. N log N in the
/// relocations.
void check_relocations(const Input& input, Sink& sink);

/// Checks PT_GNU_SFRAME against the section that it must cover (S019, S024). Does nothing if the file has no
/// PT_GNU_SFRAME, or no section headers to compare it with.
void check_segment(const Input& input, Sink& sink);

/// Checks PT_LOAD against the functions (S025): one finding for all functions of a linked file that are
/// outside every PT_LOAD. Does nothing for relocatable objects, or without an image.
void check_loaded(const Input& input, Sink& sink);

/// True if [address, address + size) is in one PT_LOAD with all of these flags.
bool in_one_mapping(const elf::Image& image, std::uint64_t address, std::uint64_t size, std::uint32_t flags);

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
