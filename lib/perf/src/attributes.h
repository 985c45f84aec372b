// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: perf_event_attr, and what follows from it: which fields records have, and where.

#pragma once

#include "sframe/perf/data.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::perf {

inline constexpr std::size_t smallest_attribute = 64; // PERF_ATTR_SIZE_VER0

/// The size that an attribute has by its own word.
std::uint32_t attribute_size(std::span<const std::byte> bytes, ByteOrder order);
/// Of at least the smallest size; fields of later versions may be missing.
Event read_attribute(std::span<const std::byte> bytes, ByteOrder order);

/// Where a sample has the event's identifier, in bytes; nothing if it has none, or behind what has no fixed
/// size.
std::optional<std::size_t> id_in_sample(const Event& event);
std::optional<std::size_t> time_in_sample(const Event& event);
/// Where other records have it: bytes between it and their end.
std::optional<std::size_t> id_from_end(const Event& event);
/// The bytes of such fields at the end of other records.
std::size_t size_at_end(const Event& event);

struct CommonFields {
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
};
CommonFields read_common(const Event& event, std::span<const std::byte> bytes, ByteOrder order);

std::optional<SampleFields> read_sample(const Event& event, std::span<const std::byte> body, ByteOrder order);

} // namespace sframe::perf
