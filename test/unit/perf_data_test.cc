// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recordings of perf, made here record by record as perf_event_open(2) and
// tools/perf/Documentation/perf.data-file-format.txt describe them.

#include "sframe/perf/data.h"
#include "sframe/perf/read_recording.h"

#include "sframe/bytes.h"
#include "sframe/core/registers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perf_data_test {

using namespace sframe::perf;
using sframe::ByteOrder;
namespace profile = sframe::profile;

constexpr std::uint64_t user = static_cast<std::uint64_t>(-512), kernel = static_cast<std::uint64_t>(-128),
                        deferred = static_cast<std::uint64_t>(-640);

class Bytes {
public:
  explicit Bytes(ByteOrder order = ByteOrder::little) : order_(order) {}
  template <class T> Bytes& put(T value) {
    bytes_.resize(bytes_.size() + sizeof(T));
    sframe::store(bytes_.data() + bytes_.size() - sizeof(T), value, order_);
    return *this;
  }
  Bytes& u64(std::uint64_t value) { return put(value); }
  Bytes& u32(std::uint32_t value) { return put(value); }
  Bytes& u16(std::uint16_t value) { return put(value); }
  /// With a zero, and zeros up to a multiple of 8.
  Bytes& text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    do bytes_.push_back(std::byte{0});
    while (bytes_.size() % 8 != 0);
    return *this;
  }
  Bytes& add(const Bytes& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  Bytes& record(std::uint32_t type, std::uint16_t misc, const Bytes& body) {
    u32(type).u16(misc).u16(static_cast<std::uint16_t>(8 + body.bytes_.size()));
    return add(body);
  }
  std::size_t size() const { return bytes_.size(); }
  ByteOrder order() const { return order_; }
  std::span<const std::byte> bytes() const { return bytes_; }

private:
  ByteOrder order_;
  std::vector<std::byte> bytes_;
};

/// IP, TID, TIME, CALLCHAIN and CPU; all records have TID, TIME and CPU.
constexpr std::uint64_t sample_type = 1 | 2 | 4 | 32 | 128;

Bytes attribute(ByteOrder order, std::uint64_t type = sample_type, std::uint64_t registers = 0) {
  const auto flag = [&](unsigned bit) {
    return std::uint64_t{1} << (order == ByteOrder::big ? 63 - bit : bit);
  };
  Bytes bytes(order);
  bytes.u32(1).u32(112).u64(0); // software, cpu-clock
  bytes.u64(10'000'000).u64(type).u64(0).u64(flag(18));
  return bytes.u64(0).u64(0).u64(0).u64(0).u64(registers).u64(0).u64(0).u64(0); // 112 bytes
}

/// As perf writes it into a pipe.
Bytes piped(const Bytes& records, std::uint64_t type = sample_type, std::uint64_t registers = 0) {
  Bytes bytes(records.order());
  bytes.u64(0x32454c4946524550).u64(16);
  bytes.record(64, 0, attribute(records.order(), type, registers).u64(77));
  return bytes.add(records);
}

Bytes at_end(std::uint32_t tid, std::uint64_t time, ByteOrder order = ByteOrder::little) {
  return Bytes(order).u32(tid).u32(tid).u64(time).u32(0).u32(0);
}

Bytes comm(std::uint32_t pid, std::string_view name, std::uint64_t time,
           ByteOrder order = ByteOrder::little) {
  return Bytes(order).u32(pid).u32(pid).text(name).add(at_end(pid, time, order));
}

Bytes mmap(std::uint32_t pid, std::uint64_t start, std::uint64_t size, std::uint64_t offset,
           std::string_view path, std::uint64_t time) {
  return Bytes().u32(pid).u32(pid).u64(start).u64(size).u64(offset).text(path).add(at_end(pid, time));
}

Bytes sample(std::uint32_t tid, std::uint64_t time, const std::vector<std::uint64_t>& chain,
             ByteOrder order = ByteOrder::little) {
  Bytes bytes(order);
  bytes.u64(chain.size() > 1 ? chain[1] : 0).u32(tid).u32(tid).u64(time).u32(3).u32(0).u64(chain.size());
  for (const std::uint64_t entry : chain) bytes.u64(entry);
  return bytes;
}

constexpr std::uint16_t in_user = 2, in_kernel = 1;

sframe::Result<ReadResult> read(const Bytes& bytes) {
  const auto data = Data::parse(bytes.bytes(), nullptr);
  if (!data) return sframe::unexpected(data.error());
  ReadOptions options;
  options.files.open_files = false;
  return read_recording(*data, options);
}

/// The addresses of a sample's stack.
std::vector<std::uint64_t> stack(const profile::Recording& recording, std::size_t sample) {
  std::vector<std::uint64_t> addresses;
  for (const std::uint32_t location : recording.stacks[recording.samples[sample].stack].locations)
    addresses.push_back(recording.locations[location].address);
  return addresses;
}

TEST(PerfData, RefusesWhatIsNone) {
  EXPECT_FALSE(Data::parse({}, nullptr));
  EXPECT_FALSE(Data::parse(Bytes().u64(1).u64(16).bytes(), nullptr));
  EXPECT_FALSE(Data::parse(Bytes().u64(0x32454c4946524550).u64(104).u64(128).bytes(), nullptr));
  EXPECT_FALSE(Data::parse(Bytes().u64(0x32454c4946524550).u64(16).bytes(), nullptr)); // no events
}

TEST(PerfData, ReadsAttributesOfBothByteOrders) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Bytes bytes = piped(Bytes(order)); // which data refers to
    const auto data = Data::parse(bytes.bytes(), nullptr);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->byte_order(), order);
    ASSERT_EQ(data->events().size(), 1u);
    const Event& event = *data->events()[0];
    EXPECT_EQ(event.name, "cpu-clock");
    EXPECT_EQ(event.period, 10'000'000u);
    EXPECT_EQ(event.sample_type, sample_type);
    EXPECT_TRUE(event.samples_ids);
    EXPECT_FALSE(event.has_frequency);
    EXPECT_EQ(event.ids, std::vector<std::uint64_t>{77});
    EXPECT_TRUE(data->problems().empty());
  }
}

TEST(PerfData, RecordsAreInTheOrderOfTheirTimes) {
  Bytes records;
  records.record(9, in_user, sample(5, 300, {user, 0x1000}));
  records.record(3, 0, comm(5, "late", 200));
  records.record(3, 0, comm(5, "early", 100));
  const Bytes bytes = piped(records);
  const auto data = Data::parse(bytes.bytes(), nullptr);
  ASSERT_TRUE(data);
  ASSERT_EQ(data->size(), 3u);
  EXPECT_EQ(data->record(0).time, 100u);
  EXPECT_EQ(data->record(1).time, 200u);
  EXPECT_EQ(data->record(2).time, 300u);
  EXPECT_EQ(data->record(2).type, RecordType::sample);
  const auto fields = data->sample(data->record(2));
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->tid, 5u);
  EXPECT_EQ(fields->cpu, 3u);
  EXPECT_EQ(fields->callchain, (std::vector<std::uint64_t>{user, 0x1000}));
  const auto result = read(piped(records));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->recording.threads.size(), 1u);
  EXPECT_EQ(result->recording.threads[0].name, "late");
}

TEST(PerfData, CutAndDamagedRecordsAreReported) {
  Bytes records;
  records.record(3, 0, comm(5, "a", 1));
  records.u32(9).u16(2).u16(4096); // longer than the file
  const Bytes bytes = piped(records);
  const auto data = Data::parse(bytes.bytes(), nullptr);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->size(), 1u);
  ASSERT_EQ(data->problems().size(), 1u);
  EXPECT_NE(data->problems()[0].what.find("cut off"), std::string::npos);
  Bytes bad;
  bad.record(9, in_user, Bytes().u64(1).u32(2).u32(2).u64(3).u32(0).u32(0).u64(1'000'000)); // call chain
  const auto result = read(piped(bad));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->recording.samples.empty());
  ASSERT_EQ(result->problems.size(), 1u);
  EXPECT_EQ(result->problems[0].what, "1 damaged samples are left out");
}

TEST(PerfRecording, CallChainsAreByMappingAndContext) {
  Bytes records;
  records.record(3, 0, comm(5, "server", 1));
  records.record(1, in_user, mmap(5, 0x400000, 0x2000, 0x1000, "/bin/server", 2));
  records.record(9, in_kernel,
                 sample(5, 1'000, {kernel, 0xffff8000, 0xffff9001, user, 0x400010, 0x400101, 0x99}));
  const auto result = read(piped(records));
  ASSERT_TRUE(result);
  const profile::Recording& recording = result->recording;
  ASSERT_EQ(recording.samples.size(), 1u);
  // Return addresses less 1; those of the file as its offsets, since it is not there.
  EXPECT_EQ(stack(recording, 0), (std::vector<std::uint64_t>{0xffff8000, 0xffff9000, 0x1010, 0x1100, 0x98}));
  const auto& locations = recording.locations;
  EXPECT_EQ(recording.files[locations[0].file].kind, profile::FileKind::kernel);
  EXPECT_EQ(recording.files[locations[2].file].path, "/bin/server");
  EXPECT_FALSE(locations[2].guessed);
  EXPECT_TRUE(locations[3].guessed);
  EXPECT_EQ(locations[4].file, profile::none);
  EXPECT_FALSE(recording.ends[recording.stacks[0].end].complete);
  EXPECT_EQ(recording.unit, profile::Unit::samples);
  EXPECT_EQ(recording.period, 10'000'000u);
  EXPECT_EQ(recording.samples[0].cpu, 3u);
  EXPECT_EQ(recording.processes[0].name, "server");
}

// Device and inode are in the place of the build ID, whatever the bit of the record says.
TEST(PerfRecording, BuildIdsNeedTheEvent) {
  constexpr std::uint16_t says_build_id = 1 << 14;
  Bytes mapping;
  mapping.u32(5).u32(5).u64(0x1000).u64(0x1000).u64(0);
  mapping.u32(0xfe00).u32(1).u64(1234).u64(0).u32(5).u32(2).text("/a").add(at_end(5, 1));
  Bytes records;
  records.record(10, in_user | says_build_id, mapping);
  records.record(9, in_user, sample(5, 2, {user, 0x1100}));
  const auto result = read(piped(records));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->recording.files.size(), 1u);
  EXPECT_EQ(result->recording.files[0].path, "/a");
  EXPECT_TRUE(result->recording.files[0].build_id.empty());
}

TEST(PerfRecording, LaterMappingsReplaceFormerOnes) {
  Bytes records;
  records.record(1, in_user, mmap(5, 0x1000, 0x3000, 0, "/a", 1));
  records.record(1, in_user, mmap(5, 0x2000, 0x1000, 0, "/b", 2));
  records.record(9, in_user, sample(5, 3, {user, 0x1800, 0x2801, 0x3801}));
  const auto result = read(piped(records));
  ASSERT_TRUE(result);
  const auto& recording = result->recording;
  EXPECT_EQ(stack(recording, 0), (std::vector<std::uint64_t>{0x800, 0x800, 0x2800}));
  std::vector<std::string> paths;
  for (const std::uint32_t location : recording.stacks[0].locations)
    paths.push_back(recording.files[recording.locations[location].file].path);
  EXPECT_EQ(paths, (std::vector<std::string>{"/a", "/b", "/a"}));
}

TEST(PerfRecording, ForkCopiesAndExecForgetsMappings) {
  const auto fork = Bytes().u32(6).u32(5).u32(6).u32(5).u64(2).add(at_end(5, 2));
  constexpr std::uint16_t after_exec = 1 << 13;
  Bytes records;
  records.record(3, 0, comm(5, "parent", 0));
  records.record(1, in_user, mmap(5, 0x1000, 0x1000, 0, "/a", 1));
  records.record(7, 0, fork);
  records.record(9, in_user, sample(6, 3, {user, 0x1100}));
  records.record(1, in_user, mmap(6, 0x1000, 0x1000, 0, "/b", 4));
  records.record(9, in_user, sample(5, 5, {user, 0x1200}));
  records.record(9, in_user, sample(6, 6, {user, 0x1300}));
  records.record(3, after_exec, comm(6, "child", 7));
  records.record(9, in_user, sample(6, 8, {user, 0x1400}));
  const auto result = read(piped(records));
  ASSERT_TRUE(result);
  const auto& recording = result->recording;
  ASSERT_EQ(recording.samples.size(), 4u);
  const auto path = [&](std::size_t sample) {
    const auto& place = recording.locations[recording.stacks[recording.samples[sample].stack].locations[0]];
    return place.file == profile::none ? std::string() : recording.files[place.file].path;
  };
  EXPECT_EQ(path(0), "/a");
  EXPECT_EQ(path(1), "/a");
  EXPECT_EQ(path(2), "/b");
  EXPECT_EQ(path(3), "");
  EXPECT_EQ(recording.threads[recording.samples[0].thread].name, "parent");
  EXPECT_EQ(recording.threads[recording.samples[3].thread].name, "child");
}

TEST(PerfRecording, DeferredChainsAreJoined) {
  Bytes records;
  records.record(9, in_kernel, sample(5, 1, {kernel, 0xffff8000, deferred, 42}));
  records.record(9, in_kernel, sample(5, 2, {kernel, 0xffff8100, deferred, 43}));
  records.record(22, 0, Bytes().u64(42).u64(3).u64(user).u64(0x10).u64(0x21).add(at_end(5, 3)));
  const auto result = read(piped(records));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->recording.samples.size(), 2u);
  EXPECT_EQ(stack(result->recording, 0), (std::vector<std::uint64_t>{0xffff8000, 0x10, 0x20}));
  EXPECT_EQ(stack(result->recording, 1), (std::vector<std::uint64_t>{0xffff8100}));
  const auto& second = result->recording.stacks[result->recording.samples[1].stack];
  EXPECT_EQ(result->recording.ends[second.end].reason, "the deferred call chain is missing");
}

TEST(PerfRecording, LostSamplesAreCounted) {
  Bytes records;
  records.record(9, in_user, sample(5, 1, {user, 0x1000}));
  records.record(2, 0, Bytes().u64(77).u64(3).add(at_end(0, 2)));
  records.record(2, 0, Bytes().u64(77).u64(4).add(at_end(0, 3)));
  records.record(13, 0, Bytes().u64(5).add(at_end(0, 4)));
  const auto result = read(piped(records));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->recording.lost.size(), 2u);
  EXPECT_EQ(result->recording.lost[0].second, 7u);
  EXPECT_EQ(result->recording.lost[1].second, 5u);
}

// The kernel's numbers of registers are those of asm/perf_regs.h. The value here is 1000 and the number.
TEST(PerfRecording, RegistersAreByTheirMachine) {
  const auto decoded = [](std::uint16_t machine, ByteOrder order, std::uint64_t mask) {
    Bytes bytes(order);
    for (unsigned bit = 0; bit < 64; ++bit)
      if (mask >> bit & 1) bytes.u64(1000 + bit);
    return sframe::core::decode_sampled_registers(machine, order, mask, bytes.bytes());
  };
  constexpr std::uint64_t amd64_mask = 0xff0fff;
  const auto amd64 = decoded(62, ByteOrder::little, amd64_mask);
  ASSERT_TRUE(amd64);
  EXPECT_EQ(amd64->pc, 1008u);
  EXPECT_EQ(amd64->get(7), 1007u); // SP
  EXPECT_EQ(amd64->get(6), 1006u); // BP
  EXPECT_EQ(amd64->get(3), 1001u); // BX
  EXPECT_EQ(amd64->get(1), 1003u); // DX
  EXPECT_EQ(amd64->get(15), 1023u);
  const auto aarch64 = decoded(183, ByteOrder::little, (std::uint64_t{1} << 33) - 1);
  ASSERT_TRUE(aarch64);
  EXPECT_EQ(aarch64->pc, 1032u);
  EXPECT_EQ(aarch64->get(31), 1031u);
  EXPECT_EQ(aarch64->get(30), 1030u);
  const auto s390x = decoded(22, ByteOrder::big, (std::uint64_t{1} << 34) - 1);
  ASSERT_TRUE(s390x);
  EXPECT_EQ(s390x->pc, 1033u);
  EXPECT_EQ(s390x->get(15), 1015u);
  EXPECT_EQ(s390x->get(17), 1018u);                   // f2
  EXPECT_EQ(s390x->get(20), 1017u);                   // f1
  EXPECT_FALSE(decoded(62, ByteOrder::little, 0xff)); // without the program counter
  EXPECT_FALSE(sframe::core::decode_sampled_registers(62, ByteOrder::little, amd64_mask, {}));
}

} // namespace perf_data_test
