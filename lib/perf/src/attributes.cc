// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// perf_event_open(2): the attribute, and the fields of samples in the order in which they are read here.

#include "attributes.h"

#include "sframe/bytes.h"

#include <array>
#include <bit>
#include <string_view>

namespace sframe::perf {

namespace {

/// PERF_SAMPLE_*
enum : std::uint64_t {
  has_ip = 1 << 0,
  has_tid = 1 << 1,
  has_time = 1 << 2,
  has_address = 1 << 3,
  has_read = 1 << 4,
  has_callchain = 1 << 5,
  has_id = 1 << 6,
  has_cpu = 1 << 7,
  has_period = 1 << 8,
  has_stream = 1 << 9,
  has_raw = 1 << 10,
  has_branches = 1 << 11,
  has_registers = 1 << 12,
  has_stack = 1 << 13,
  has_identifier = 1 << 16,
};

/// PERF_FORMAT_*
enum : std::uint64_t {
  read_enabled = 1 << 0,
  read_running = 1 << 1,
  read_id = 1 << 2,
  read_group = 1 << 3,
  read_lost = 1 << 4,
};

constexpr std::uint64_t branch_index = 1 << 17; // PERF_SAMPLE_BRANCH_HW_INDEX

struct KnownEvent {
  std::uint32_t type;
  std::uint64_t config;
  std::string_view name;
};
/// Names by type and number, where the recording has none.
constexpr KnownEvent known_events[] = {
    {0, 0, "cycles"},       {0, 1, "instructions"},     {0, 2, "cache-references"}, {0, 3, "cache-misses"},
    {0, 4, "branches"},     {0, 5, "branch-misses"},    {1, 0, "cpu-clock"},        {1, 1, "task-clock"},
    {1, 2, "page-faults"},  {1, 3, "context-switches"}, {1, 4, "cpu-migrations"},   {1, 5, "minor-faults"},
    {1, 6, "major-faults"},
};

/// The number of the bits of `mask` that the event has.
std::size_t count(const Event& event, std::uint64_t mask) {
  return static_cast<std::size_t>(std::popcount(event.sample_type & mask));
}

void skip_read(const Event& event, Fields& fields) {
  const std::uint64_t format = event.read_format;
  const auto words = [&](std::uint64_t mask) {
    return static_cast<std::uint64_t>(std::popcount(format & mask));
  };
  if ((format & read_group) == 0)
    return fields.skip(8 * (1 + words(read_enabled | read_running | read_id | read_lost)));
  const std::uint64_t values = fields.u64();
  fields.skip(8 * words(read_enabled | read_running));
  const std::uint64_t each = 8 * (1 + words(read_id | read_lost));
  // Not a product that wraps.
  fields.skip(values <= fields.left().size() / each ? values * each : ~std::uint64_t{0});
}

bool read_callchain(Fields& fields, SampleFields& sample) {
  const std::uint64_t entries = fields.u64();
  if (entries > fields.left().size() / 8) return false;
  sample.callchain.reserve(entries);
  for (std::uint64_t i = 0; i < entries; ++i) sample.callchain.push_back(fields.u64());
  return true;
}

bool skip_branches(const Event& event, Fields& fields) {
  const std::uint64_t entries = fields.u64();
  if (event.branch_type & branch_index) fields.skip(8);
  constexpr std::uint64_t size = 24;
  if (entries > fields.left().size() / size) return false;
  fields.skip(entries * size);
  return true;
}

void read_stack(Fields& fields, SampleFields& sample) {
  sample.wanted_stack = fields.u64();
  if (sample.wanted_stack == 0) return;
  sample.stack = fields.bytes(sample.wanted_stack);
  const std::uint64_t used = fields.u64();
  if (used < sample.stack.size()) sample.stack = sample.stack.first(used);
}

} // namespace

std::uint32_t attribute_size(std::span<const std::byte> bytes, ByteOrder order) {
  const auto size = load<std::uint32_t>(bytes.data() + 4, order);
  return size == 0 ? smallest_attribute : size;
}

Event read_attribute(std::span<const std::byte> bytes, ByteOrder order) {
  Fields fields(bytes, order);
  Event event;
  event.type = fields.u32();
  fields.skip(4);
  event.config = fields.u64();
  event.period = fields.u64();
  event.sample_type = fields.u64();
  event.read_format = fields.u64();
  const std::uint64_t flags = fields.u64();
  // Bit fields: the first one is at the end of the word that a machine loads first.
  const auto flag = [&](unsigned bit) {
    return (flags >> (order == ByteOrder::big ? 63 - bit : bit) & 1) != 0;
  };
  event.has_frequency = flag(10);
  event.samples_ids = flag(18);
  event.has_build_ids = flag(34);
  fields.skip(24); // wakeup_events, bp_type, config1, config2
  event.branch_type = fields.u64();
  event.user_registers = fields.u64();
  fields.skip(8); // sample_stack_user, clockid
  event.interrupted_registers = fields.u64();
  fields.skip(4); // aux_watermark
  event.max_stack = fields.u16();
  for (const KnownEvent& known : known_events)
    if (known.type == event.type && known.config == event.config) event.name = known.name;
  return event;
}

std::optional<std::size_t> id_in_sample(const Event& event) {
  if (event.sample_type & has_identifier) return 0;
  if ((event.sample_type & has_id) == 0) return std::nullopt;
  return 8 * count(event, has_ip | has_tid | has_time | has_address);
}

std::optional<std::size_t> time_in_sample(const Event& event) {
  if ((event.sample_type & has_time) == 0) return std::nullopt;
  return 8 * count(event, has_identifier | has_ip | has_tid);
}

std::optional<std::size_t> id_from_end(const Event& event) {
  if (!event.samples_ids) return std::nullopt;
  if (event.sample_type & has_identifier) return 0;
  if ((event.sample_type & has_id) == 0) return std::nullopt;
  return 8 * count(event, has_stream | has_cpu);
}

std::size_t size_at_end(const Event& event) {
  return 8 * count(event, has_tid | has_time | has_id | has_stream | has_cpu | has_identifier);
}

CommonFields read_common(const Event& event, std::span<const std::byte> bytes, ByteOrder order) {
  Fields fields(bytes, order);
  CommonFields common;
  if (event.sample_type & has_tid) {
    fields.skip(4);
    common.tid = fields.u32();
  }
  if (event.sample_type & has_time) common.time = fields.u64();
  return common;
}

std::optional<SampleFields> read_sample(const Event& event, std::span<const std::byte> body,
                                        ByteOrder order) {
  Fields fields(body, order);
  SampleFields sample;
  const std::uint64_t type = event.sample_type;
  if (type & has_identifier) fields.skip(8);
  if (type & has_ip) sample.ip = fields.u64();
  if (type & has_tid) {
    sample.pid = fields.u32();
    sample.tid = fields.u32();
  }
  if (type & has_time) sample.time = fields.u64();
  fields.skip(8 * count(event, has_address | has_id | has_stream));
  if (type & has_cpu) {
    sample.cpu = fields.u32();
    fields.skip(4);
  }
  sample.period = event.has_frequency ? 1 : event.period;
  if (type & has_period) sample.period = fields.u64();
  if (type & has_read) skip_read(event, fields);
  if (type & has_callchain && !read_callchain(fields, sample)) return std::nullopt;
  if (type & has_raw) fields.skip(fields.u32());
  if (type & has_branches && !skip_branches(event, fields)) return std::nullopt;
  if (type & has_registers) {
    sample.registers_abi = fields.u64();
    const auto words = static_cast<std::uint64_t>(std::popcount(event.user_registers));
    if (sample.registers_abi != 0) sample.registers = fields.bytes(8 * words);
  }
  if (type & has_stack) read_stack(fields, sample);
  return fields.good() ? std::optional(std::move(sample)) : std::nullopt;
}

} // namespace sframe::perf
