// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// parse() reads the header; scan() goes through the records of a block and lists those that are needed with
// their times; what is compressed is collected, unpacked as one stream, and scanned then. Everything in the
// file is checked: sizes against what is left, numbers of elements against their size.

#include "sframe/perf/data.h"

#include "attributes.h"

#include "sframe/base/text.h"
#include "sframe/bytes.h"
#include "sframe/elf/unpack.h"

#include <algorithm>
#include <utility>

namespace sframe::perf {

namespace {

constexpr std::uint64_t magic_file = 0x32454c4946524550; // "PERFILE2"
constexpr std::size_t header_size = 104, pipe_header_size = 16, record_header = 8;

/// Records of perf itself.
enum : std::uint32_t {
  header_attr = 64,
  tracing_data = 66,
  header_build_id = 67,
  auxtrace = 71,
  event_update = 78,
  header_feature = 80,
  compressed = 81,
  compressed2 = 83,
};

/// Bits of the features.
enum : std::uint32_t {
  feature_build_id = 2,
  feature_release = 4,
  feature_arch = 6,
  feature_command = 11,
  feature_events = 12,
  feature_clock = 29,
  feature_count = 256,
};

bool is_needed(std::uint32_t type) {
  switch (static_cast<RecordType>(type)) {
  case RecordType::mmap:
  case RecordType::lost:
  case RecordType::comm:
  case RecordType::exit:
  case RecordType::fork:
  case RecordType::sample:
  case RecordType::mmap2:
  case RecordType::lost_samples:
  case RecordType::callchain_deferred: return true;
  }
  return false;
}

} // namespace

std::span<const std::byte> Fields::bytes(std::uint64_t size) {
  if (size > left_.size()) {
    good_ = false;
    left_ = {};
    return {};
  }
  const auto found = left_.first(size);
  left_ = left_.subspan(size);
  return found;
}

std::uint64_t Fields::number(std::size_t size) {
  const auto found = bytes(size);
  return found.empty() ? 0 : load_sized(found.data(), static_cast<std::uint32_t>(size), order_);
}

std::string Fields::text() {
  const std::string_view all = as_text(left_);
  const std::size_t size = std::min(all.find('\0'), all.size());
  return std::string(as_text(bytes(size)));
}

std::string Fields::counted_text() {
  const std::string_view all = as_text(bytes(u32()));
  return std::string(all.substr(0, all.find('\0')));
}

struct Data::Parts {
  ByteOrder order = ByteOrder::little;
  std::vector<std::unique_ptr<Event>> events;
  std::map<std::uint64_t, Event*> by_id;
  std::uint64_t ids_left = 0; ///< that may be read: lists of several events can be the same bytes
  std::vector<std::string> command;
  std::map<std::string, std::vector<std::byte>, std::less<>> build_ids;
  std::string machine, release;
  std::uint64_t wall_clock = 0, clock = 0; ///< at the same moment; 0: not known
  std::vector<Problem> problems;
  std::optional<elf::Unpacked> unpacked;
  Budget* budget = nullptr;
  std::uint64_t file_size = 0;

  struct Entry {
    std::uint64_t time;
    const std::byte* at;
  };
  std::vector<Entry> entries;
  std::vector<std::byte> packed; ///< the stream of compressed records
  std::uint64_t last_time = 0;

  void note(std::string what) { problems.push_back({std::move(what), {}, std::nullopt}); }
  Fields fields(std::span<const std::byte> bytes) const { return {bytes, order}; }

  void add_event(Event event);
  void read_file(std::span<const std::byte> bytes);
  void read_features(std::span<const std::byte> bytes, std::uint64_t at,
                     std::span<const std::uint64_t, 4> bits);
  void read_feature(std::uint32_t feature, std::span<const std::byte> bytes);
  void read_build_ids(std::span<const std::byte> bytes);
  void read_build_id(std::uint16_t misc, Fields body);
  void read_events(Fields fields);
  void read_update(Fields fields);
  void scan(std::span<const std::byte> bytes, bool is_cut_reported);
  std::uint64_t scan_record(std::uint32_t type, std::uint16_t misc, std::span<const std::byte> record);
  void unpack();
  const Event* event_of(std::uint32_t type, std::span<const std::byte> body) const;
  Record record_at(const std::byte* at) const;
};

void Data::Parts::add_event(Event event) {
  if (events.size() >= 65'536) return;
  events.push_back(std::make_unique<Event>(std::move(event)));
  for (const std::uint64_t id : events.back()->ids) by_id.try_emplace(id, events.back().get());
}

/// Sections may be anywhere in the file, or beyond its end.
void Data::Parts::read_file(std::span<const std::byte> bytes) {
  Fields header = fields(bytes.subspan(16, header_size - 16));
  const std::uint64_t attribute_size = header.u64();
  const std::uint64_t attributes_at = header.u64(), attributes_size = header.u64();
  const std::uint64_t data_at = header.u64();
  std::uint64_t data_size = header.u64();
  header.skip(16); // event types: of old versions
  std::array<std::uint64_t, 4> features{};
  for (std::uint64_t& word : features) word = header.u64();
  const auto section = [&](std::uint64_t at, std::uint64_t size) {
    const std::uint64_t start = std::min<std::uint64_t>(at, bytes.size());
    return bytes.subspan(start, std::min<std::uint64_t>(size, bytes.size() - start));
  };
  constexpr std::uint64_t ids_size = 16;
  const auto attributes = section(attributes_at, attributes_size);
  if (attribute_size < smallest_attribute + ids_size) return note("the attributes are too small");
  for (std::uint64_t at = 0; attribute_size <= attributes.size() - at; at += attribute_size) {
    Event event = read_attribute(attributes.subspan(at, attribute_size - ids_size), order);
    Fields where = fields(attributes.subspan(at + attribute_size - ids_size, ids_size));
    const std::uint64_t ids_at = where.u64();
    const auto ids = section(ids_at, where.u64());
    const std::uint64_t count = std::min<std::uint64_t>(ids.size() / 8, ids_left);
    ids_left -= count;
    for (Fields id = fields(ids.first(count * 8)); !id.left().empty();) event.ids.push_back(id.u64());
    add_event(std::move(event));
  }
  // perf writes the sizes and the features at its end: without them, it did not come that far.
  const bool is_unfinished = data_size == 0;
  if (is_unfinished) {
    note("perf has not finished the file");
    data_size = bytes.size() - std::min<std::uint64_t>(data_at, bytes.size());
  } else {
    read_features(bytes, data_at + data_size, features);
  }
  const auto records = section(data_at, data_size);
  if (records.size() < data_size) note("the file is cut off");
  scan(records, is_unfinished || records.size() < data_size);
}

void Data::Parts::read_features(std::span<const std::byte> bytes, std::uint64_t at,
                                std::span<const std::uint64_t, 4> bits) {
  if (at > bytes.size()) return;
  Fields list = fields(bytes.subspan(at));
  for (std::uint32_t feature = 0; feature < feature_count; ++feature) {
    if ((bits[feature / 64] >> feature % 64 & 1) == 0) continue;
    const std::uint64_t start = list.u64(), size = list.u64();
    if (!list.good()) return;
    if (start <= bytes.size() && size <= bytes.size() - start)
      read_feature(feature, bytes.subspan(start, size));
  }
}

void Data::Parts::read_feature(std::uint32_t feature, std::span<const std::byte> bytes) {
  Fields body = fields(bytes);
  switch (feature) {
  case feature_build_id: return read_build_ids(bytes);
  case feature_release: release = body.counted_text(); break;
  case feature_arch: machine = body.counted_text(); break;
  case feature_command:
    for (std::uint32_t count = body.u32(); count != 0 && body.good() && !body.left().empty(); --count)
      command.push_back(body.counted_text());
    break;
  case feature_events: return read_events(body);
  case feature_clock:
    body.skip(8); // version, clock
    wall_clock = body.u64();
    clock = body.u64();
    break;
  default: break;
  }
}

void Data::Parts::read_build_ids(std::span<const std::byte> bytes) {
  while (bytes.size() >= record_header) {
    Fields header = fields(bytes);
    header.skip(4);
    const std::uint16_t misc = header.u16(), size = header.u16();
    if (size < record_header || size > bytes.size()) return;
    read_build_id(misc, fields(bytes.subspan(record_header, size - record_header)));
    bytes = bytes.subspan(size);
  }
}

void Data::Parts::read_build_id(std::uint16_t misc, Fields body) {
  constexpr std::uint16_t has_size = 1 << 15;
  body.skip(4); // PID
  const auto id = body.bytes(24);
  if (!body.good()) return;
  const std::size_t size = misc & has_size ? std::to_integer<std::size_t>(id[20]) : 20;
  const auto used = id.first(std::min<std::size_t>(size, 20));
  build_ids.try_emplace(body.text(), used.begin(), used.end());
}

/// The same attributes again, with their names.
void Data::Parts::read_events(Fields body) {
  const std::uint32_t count = body.u32(), size = body.u32();
  if (size < smallest_attribute) return;
  for (std::uint32_t i = 0; i < count && body.good(); ++i) {
    body.skip(size);
    const std::uint32_t ids = body.u32();
    const std::string name = body.counted_text();
    body.skip(std::uint64_t{ids} * 8);
    if (body.good() && i < events.size() && !name.empty()) events[i]->name = name;
  }
}

void Data::Parts::read_update(Fields body) {
  constexpr std::uint64_t is_name = 2;
  const std::uint64_t type = body.u64(), id = body.u64();
  const auto at = by_id.find(id);
  if (type != is_name || at == by_id.end() || !body.good()) return;
  at->second->name = body.text();
}

/// Lists the records that are needed. One that is damaged ends the block: the next cannot be found.
void Data::Parts::scan(std::span<const std::byte> bytes, bool is_cut_reported) {
  const std::size_t all = bytes.size();
  while (bytes.size() >= record_header) {
    Fields header = fields(bytes);
    const std::uint32_t type = header.u32();
    const std::uint16_t misc = header.u16(), size = header.u16();
    if (size < record_header || size > bytes.size()) break;
    const std::uint64_t more = scan_record(type, misc, bytes.first(size));
    bytes = bytes.subspan(size);
    if (more > bytes.size()) break;
    bytes = bytes.subspan(more);
  }
  if (!bytes.empty() && !is_cut_reported)
    problems.push_back({"a record is damaged or cut off", {}, all - bytes.size()});
}

/// Returns the number of bytes after the record that are none.
std::uint64_t Data::Parts::scan_record(std::uint32_t type, std::uint16_t misc,
                                       std::span<const std::byte> record) {
  const auto body = record.subspan(record_header);
  Fields in = fields(body);
  switch (type) {
  case header_attr: {
    if (body.size() < smallest_attribute) break;
    Event event = read_attribute(body, order);
    const std::size_t size = std::min<std::size_t>(attribute_size(body, order), body.size());
    in.skip(size);
    while (in.left().size() >= 8) event.ids.push_back(in.u64());
    add_event(std::move(event));
    break;
  }
  case header_build_id: read_build_id(misc, in); break;
  case event_update: read_update(in); break;
  case header_feature: {
    const std::uint64_t feature = in.u64();
    if (in.good() && feature < feature_count) read_feature(static_cast<std::uint32_t>(feature), in.left());
    break;
  }
  case tracing_data: return (std::uint64_t{in.u32()} + 7) / 8 * 8;
  case auxtrace: return in.u64();
  case compressed: packed.insert(packed.end(), body.begin(), body.end()); break;
  case compressed2: {
    const auto part = in.bytes(in.u64());
    packed.insert(packed.end(), part.begin(), part.end());
    break;
  }
  default:
    if (!is_needed(type)) break;
    entries.push_back({0, record.data()});
  }
  return 0;
}

/// The stream of all compressed records has no end, since perf flushes it only.
void Data::Parts::unpack() {
  if (packed.empty()) return;
  auto found = elf::unpack(packed);
  if (!found) return note("compressed records: " + found.error().text());
  packed = {};
  unpacked = std::move(*found);
  // What it costs to read is a matter of what was recorded, not of how small that could be made.
  if (budget) budget->refill(file_size + unpacked->bytes().size());
  scan(unpacked->bytes(), false);
}

/// By the identifier that all records have, or all samples; else the only event.
const Event* Data::Parts::event_of(std::uint32_t type, std::span<const std::byte> body) const {
  if (events.empty()) return nullptr;
  const Event& first = *events.front();
  if (events.size() == 1) return &first;
  const bool is_sample = type == static_cast<std::uint32_t>(RecordType::sample);
  const auto offset = is_sample ? id_in_sample(first) : id_from_end(first);
  if (!offset || body.size() < 8 || *offset > body.size() - 8) return &first;
  const std::size_t at = is_sample ? *offset : body.size() - 8 - *offset;
  const auto found = by_id.find(load<std::uint64_t>(body.data() + at, order));
  return found == by_id.end() ? &first : found->second;
}

Record Data::Parts::record_at(const std::byte* at) const {
  Fields header = fields({at, record_header});
  Record record;
  const std::uint32_t type = header.u32();
  record.type = static_cast<RecordType>(type);
  record.misc = header.u16();
  record.body = {at + record_header, header.u16() - record_header};
  record.event = event_of(type, record.body);
  if (!record.event) return record;
  if (record.type == RecordType::sample) {
    const auto offset = time_in_sample(*record.event);
    if (offset && record.body.size() >= 8 && *offset <= record.body.size() - 8)
      record.time = load<std::uint64_t>(record.body.data() + *offset, order);
    return record;
  }
  const std::size_t size = record.event->samples_ids ? size_at_end(*record.event) : 0;
  if (size == 0 || size > record.body.size()) return record;
  const CommonFields common = read_common(*record.event, record.body.last(size), order);
  record.time = common.time;
  record.tid = common.tid;
  record.body = record.body.first(record.body.size() - size);
  return record;
}

Data::Data(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Data::Data(Data&&) noexcept = default;
Data& Data::operator=(Data&&) noexcept = default;
Data::~Data() = default;

Result<Data> Data::parse(std::span<const std::byte> bytes, Budget* budget) {
  if (bytes.size() < pipe_header_size) return fail("not a recording of perf: too short");
  auto parts = std::make_unique<Parts>();
  parts->budget = budget;
  parts->file_size = bytes.size();
  parts->ids_left = bytes.size() / 8;
  if (load<std::uint64_t>(bytes.data(), ByteOrder::little) == magic_file)
    parts->order = ByteOrder::little;
  else if (load<std::uint64_t>(bytes.data(), ByteOrder::big) == magic_file)
    parts->order = ByteOrder::big;
  else
    return fail("not a recording of perf (perf.data)", {}, 0);
  const auto size = load<std::uint64_t>(bytes.data() + 8, parts->order);
  if (size == pipe_header_size)
    parts->scan(bytes.subspan(pipe_header_size), false);
  else if (size >= header_size && bytes.size() >= header_size)
    parts->read_file(bytes);
  else
    return fail("the header is damaged or cut off", {}, 8);
  parts->unpack();
  if (parts->events.empty()) return fail("the recording has no events");
  for (Parts::Entry& entry : parts->entries) {
    const Record record = parts->record_at(entry.at);
    entry.time = record.event && record.event->samples_ids ? record.time : parts->last_time;
    if (record.time != 0) entry.time = parts->last_time = record.time;
  }
  std::ranges::stable_sort(parts->entries, {}, &Parts::Entry::time);
  return Data(std::move(parts));
}

ByteOrder Data::byte_order() const {
  return parts_->order;
}

const AbiTraits* Data::abi() const {
  for (const AbiTraits* abi : all_abis())
    if (abi->byte_order == parts_->order && abi->llvm_arch == parts_->machine) return abi;
  return nullptr;
}

bool Data::names_machine() const {
  return !parts_->machine.empty();
}
std::span<const std::unique_ptr<Event>> Data::events() const {
  return parts_->events;
}
const std::vector<std::string>& Data::command() const {
  return parts_->command;
}
const std::string& Data::kernel_release() const {
  return parts_->release;
}
const std::map<std::string, std::vector<std::byte>, std::less<>>& Data::build_ids() const {
  return parts_->build_ids;
}

std::optional<std::uint64_t> Data::wall_clock(std::uint64_t time) const {
  if (parts_->wall_clock == 0) return std::nullopt;
  return parts_->wall_clock + (time - parts_->clock);
}

std::span<const Problem> Data::problems() const {
  return parts_->problems;
}
std::size_t Data::size() const {
  return parts_->entries.size();
}
Record Data::record(std::size_t index) const {
  return parts_->record_at(parts_->entries[index].at);
}
std::optional<SampleFields> Data::sample(const Record& record) const {
  if (!record.event) return std::nullopt;
  return read_sample(*record.event, record.body, parts_->order);
}

} // namespace sframe::perf
