// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minidumps made byte by byte: registers as their flags have them, and memory and modules as one list of them
// follows from several.

#include "sframe/bytes.h"
#include "sframe/core/core.h"
#include "sframe/core/minidump.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace sframe::core {

using namespace elf;
namespace core_minidump_test {

constexpr std::uint16_t em_x86_64 = 62, em_aarch64 = 183;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* const data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

/// Little-endian numbers, one after another.
class Bytes {
public:
  template <class T> Bytes& add(T value) {
    data_.resize(data_.size() + sizeof value);
    store(data_.data() + data_.size() - sizeof value, value, ByteOrder::little);
    return *this;
  }
  Bytes& zeros(std::size_t count) {
    data_.resize(data_.size() + count);
    return *this;
  }
  const std::vector<std::byte>& data() const { return data_; }

private:
  std::vector<std::byte> data_;
};

/// CONTEXT of AMD64: the general registers are 0x1000 and more, in its order; rip is 0x1010.
std::vector<std::byte> amd64_context(std::uint32_t flags) {
  Bytes context;
  context.zeros(48).add(flags).zeros(4);
  for (std::uint16_t segment = 0x33; segment < 0x33 + 6; ++segment) context.add(segment);
  context.add(std::uint32_t{0x246}).zeros(48);
  for (std::uint64_t i = 0; i <= 16; ++i) context.add(0x1000 + i);
  return context.data();
}

/// x0 to x30, sp, pc are 0x2000 and more.
std::vector<std::byte> aarch64_context(std::uint64_t first) {
  Bytes context;
  context.add(first);
  for (std::uint64_t i = 0; i < 33; ++i) context.add(0x2000 + i);
  return context.data();
}

TEST(ElfMinidump, RegistersOfAmd64) {
  const auto registers = decode_context(em_x86_64, amd64_context(0x10001f));
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->pc, 0x1010u);
  const std::pair<std::uint16_t, std::uint64_t> expected[] = {
      {0, 0x1000}, {2, 0x1001}, {1, 0x1002}, {3, 0x1003},  {7, 0x1004}, {6, 0x1005},
      {4, 0x1006}, {5, 0x1007}, {8, 0x1008}, {15, 0x100f}, {49, 0x246}, {51, 0x33},
      {53, 0x34},  {50, 0x35},  {54, 0x36},  {55, 0x37},   {52, 0x38}}; // psABI, figure 3.36
  for (const auto& [reg, value] : expected) EXPECT_EQ(registers->get(reg), value) << reg;
  EXPECT_FALSE(registers->get(58)) << "fs.base is not in the context";
}

TEST(ElfMinidump, OnlyRegistersThatTheFlagsName) {
  const auto control = decode_context(em_x86_64, amd64_context(0x100001));
  ASSERT_TRUE(control);
  EXPECT_EQ(control->get(7), 0x1004u);
  EXPECT_FALSE(control->get(3));
  EXPECT_FALSE(decode_context(em_x86_64, amd64_context(0x100002))) << "no pc";
  EXPECT_FALSE(decode_context(em_x86_64, amd64_context(0x400003))) << "AArch64's";
  const auto context = amd64_context(0x10001f);
  EXPECT_FALSE(decode_context(em_x86_64, std::span(context).first(context.size() - 1)));
  EXPECT_FALSE(decode_context(22, context)) << "s390x has none";
}

TEST(ElfMinidump, BothLayoutsOfAArch64) {
  for (const std::uint64_t flags : {std::uint64_t{0x400007}, std::uint64_t{0x80000006}}) {
    const auto registers = decode_context(em_aarch64, aarch64_context(flags));
    ASSERT_TRUE(registers);
    EXPECT_EQ(registers->pc, 0x2020u);
    for (std::uint16_t reg = 0; reg <= 31; ++reg) EXPECT_EQ(registers->get(reg), 0x2000u + reg);
  }
  const auto control = decode_context(em_aarch64, aarch64_context(0x400001));
  ASSERT_TRUE(control);
  EXPECT_EQ(control->get(29), 0x201du);
  EXPECT_FALSE(control->get(0));
  EXPECT_FALSE(decode_context(em_aarch64, aarch64_context(0x80000004))) << "floating point only";
}

/// A file of streams; entries may point to what add() has placed.
class Dump {
public:
  Dump() {
    stream(7, Bytes()
                  .add(std::uint16_t{9})
                  .zeros(18)
                  .add(std::uint32_t{0x8201}) // AMD64, Linux
                  .zeros(32)
                  .data());
  }
  std::uint32_t add(std::span<const std::byte> content) {
    const auto at = static_cast<std::uint32_t>(start + data_.size());
    data_.insert(data_.end(), content.begin(), content.end());
    return at;
  }
  void stream(std::uint32_t type, std::span<const std::byte> content) {
    stream_at(type, add(content), static_cast<std::uint32_t>(content.size()));
  }
  void stream_at(std::uint32_t type, std::uint32_t at, std::uint32_t size) {
    streams_.push_back({type, size, at});
  }
  Core parse() {
    Bytes file;
    file.add(std::uint32_t{0x504d444d}).add(std::uint32_t{0xa793});
    file.add(static_cast<std::uint32_t>(streams_.size())).add(std::uint32_t{32}).zeros(16);
    for (const auto& [type, size, at] : streams_) file.add(type).add(size).add(at);
    file_ = file.zeros(start - file.data().size()).data();
    file_.insert(file_.end(), data_.begin(), data_.end());
    EXPECT_TRUE(is_minidump(file_));
    auto core = Core::parse(file_);
    EXPECT_TRUE(core) << core.error().text();
    return std::move(*core);
  }

private:
  static constexpr std::size_t start = 1024;
  struct Stream {
    std::uint32_t type, size, at;
  };
  std::vector<Stream> streams_;
  std::vector<std::byte> data_, file_;
};

struct Range {
  std::uint64_t start, size, present;
  std::uint32_t flags;
  friend bool operator==(const Range&, const Range&) = default;
};

std::vector<Range> ranges_of(const Core& core) {
  std::vector<Range> ranges;
  for (const MemoryRange& range : core.memory())
    ranges.push_back({range.start, range.size, range.present, range.flags});
  return ranges;
}

/// MemoryList: blocks of 16 bytes, all at the same place in the file.
std::vector<std::byte> blocks_at(std::uint32_t rva, std::initializer_list<std::uint64_t> addresses) {
  Bytes list;
  list.add(static_cast<std::uint32_t>(addresses.size()));
  for (const std::uint64_t address : addresses) list.add(address).add(std::uint32_t{16}).add(rva);
  return list.data();
}

TEST(ElfMinidump, MemoryIsWhatIsMappedAndInTheFile) {
  Dump dump;
  const auto bytes = dump.add(bytes_of("0123456789abcdef"));
  dump.stream(5, blocks_at(bytes, {0x3000, 0x1008, 0x1010, 0x1ff8, 0x5000}));
  dump.stream(0x47670009, bytes_of("1000-2000 r--p 00000000 08:01 7 /bin/x\n"
                                   "2000-3000 r-xp 00001000 08:01 7 /bin/x\n"
                                   "5000-6000 rw-p 00000000 00:00 0 [stack]\n"));
  const Core core = dump.parse();
  const std::vector<Range> expected = {{0x1000, 8, 0, pf_r},           {0x1008, 16, 16, pf_r},
                                       {0x1018, 8, 8, pf_r}, // the second block from its 9th byte on
                                       {0x1020, 0xfd8, 0, pf_r},       {0x1ff8, 8, 8, pf_r},
                                       {0x2000, 8, 8, pf_r | pf_x},    {0x2008, 0xff8, 0, pf_r | pf_x},
                                       {0x3000, 16, 16, pf_r},         {0x5000, 16, 16, pf_r | pf_w},
                                       {0x5010, 0xff0, 0, pf_r | pf_w}};
  EXPECT_EQ(ranges_of(core), expected);
  EXPECT_EQ(core.read_word(0x1018), 0x6665646362613938u) << "\"89abcdef\" of the second block";
  EXPECT_EQ(core.read_word(0x1ffc), 0x6261393837363534u) << "over the border of two areas";
  EXPECT_FALSE(core.read_word(0x1000));
  EXPECT_TRUE(core.has_permissions());
  EXPECT_FALSE(core.truncated());
  EXPECT_EQ(core.image(), nullptr);
}

TEST(ElfMinidump, MemoryWithoutPermissions) {
  Dump dump;
  const auto bytes = dump.add(bytes_of("0123456789abcdef"));
  dump.stream(5, blocks_at(bytes, {0x1000, 0xfffffffffffffff0}));
  const Core core = dump.parse();
  EXPECT_FALSE(core.has_permissions());
  ASSERT_EQ(core.memory().size(), 2u);
  EXPECT_EQ(core.memory()[0].flags, 0u);
  EXPECT_EQ(core.read_word(0x1000), 0x3736353433323130u);
}

TEST(ElfMinidump, PermissionsOfTheMemoryList) {
  Dump dump;
  const auto area = [](Bytes& list, std::uint64_t start, std::uint32_t state, std::uint32_t protection) {
    list.add(start).add(start).add(protection).zeros(4).add(std::uint64_t{0x1000});
    list.add(state).add(protection).add(std::uint32_t{0x20000}).zeros(4);
  };
  Bytes list;
  list.add(std::uint32_t{16}).add(std::uint32_t{48}).add(std::uint64_t{5});
  constexpr std::uint32_t committed = 0x1000, free = 0x10000;
  area(list, 0x1000, committed, 0x20); // PAGE_EXECUTE_READ
  area(list, 0x2000, committed, 0x04); // PAGE_READWRITE
  area(list, 0x3000, free, 0x04);
  area(list, 0x4000, committed, 0x01); // PAGE_NOACCESS
  area(list, 0x5000, committed, 0x40); // PAGE_EXECUTE_READWRITE
  dump.stream(16, list.data());
  const std::vector<Range> expected = {{0x1000, 0x1000, 0, pf_r | pf_x},
                                       {0x2000, 0x1000, 0, pf_r | pf_w},
                                       {0x4000, 0x1000, 0, 0},
                                       {0x5000, 0x1000, 0, pf_r | pf_w | pf_x}};
  EXPECT_EQ(ranges_of(dump.parse()), expected);
}

/// Streams of which the file has some bytes, and none.
TEST(ElfMinidump, StreamsPastTheEndOfTheFile) {
  constexpr std::string_view maps = "1000-2000 r--p 00000000 08:01 7 /bin/x\n";
  Dump dump;
  const auto at = dump.add(bytes_of(maps));
  dump.stream_at(0x47670009, at, 4096);
  dump.stream_at(0x47670004, at + 0x100000, 1);
  const Core core = dump.parse();
  EXPECT_TRUE(core.truncated());
  ASSERT_EQ(core.problems().size(), 2u);
  EXPECT_EQ(core.problems()[0].offset, at);
  EXPECT_EQ(core.problems()[1].offset, at + 0x100000);
  for (const Problem& problem : core.problems())
    EXPECT_NE(problem.what.find("runs past the end of the file"), std::string::npos) << problem.what;
  const std::vector<Range> expected = {{0x1000, 0x1000, 0, pf_r}};
  EXPECT_EQ(ranges_of(core), expected);
}

/// A module of 0x1000 bytes.
void add_module(Dump& dump, Bytes& list, std::uint64_t start, std::u16string_view name,
                std::span<const std::byte> record) {
  Bytes text;
  text.add(static_cast<std::uint32_t>(2 * name.size()));
  for (const char16_t unit : name) text.add(static_cast<std::uint16_t>(unit));
  list.add(start).add(std::uint32_t{0x1000}).zeros(8).add(dump.add(text.data())).zeros(52);
  list.add(static_cast<std::uint32_t>(record.size())).add(record.empty() ? 0u : dump.add(record)).zeros(24);
}

TEST(ElfMinidump, ModulesAndTheirBuildIds) {
  Dump dump;
  Bytes list, guid, id, nothing;
  id.add(std::uint32_t{0x4270454c}).add(std::uint64_t{0x0807060504030201}); // "BpEL"
  guid.add(std::uint32_t{0x53445352});                                      // "RSDS"
  for (std::uint8_t i = 1; i <= 16; ++i) guid.add(i);
  guid.zeros(5);
  nothing.add(std::uint32_t{0x4270454c}).zeros(20);
  list.add(std::uint32_t{5});
  add_module(dump, list, 0x400000, u"/bin/x", id.data());
  add_module(dump, list, 0x300000, u"linux-gate.so", {});
  add_module(dump, list, 0x200000, u"libf\u00f6\U0001f600.so", guid.data());
  add_module(dump, list, 0x100800, u"\xd800x", nothing.data()); // half of a pair; overlaps the next
  add_module(dump, list, 0x100000, u"/lib/y", {});
  dump.stream(4, list.data());
  const Core core = dump.parse();
  ASSERT_EQ(core.modules().size(), 5u);
  EXPECT_EQ(core.modules()[0].path, "/lib/y");
  EXPECT_EQ(core.modules()[0].end, 0x100800u);
  EXPECT_EQ(core.modules()[1].path, "?x");
  EXPECT_TRUE(core.modules()[1].build_id.empty()) << "only zeros";
  EXPECT_EQ(core.modules()[2].path, std::string("libf\xc3\xb6\xf0\x9f\x98\x80.so"));
  EXPECT_TRUE(core.modules()[2].build_id_cut);
  EXPECT_EQ(to_hex(core.modules()[2].build_id), "0102030405060708090a0b0c0d0e0f10");
  EXPECT_TRUE(core.modules()[3].vdso);
  EXPECT_TRUE(core.modules()[4].main);
  EXPECT_EQ(to_hex(core.modules()[4].build_id), "0102030405060708");
  EXPECT_EQ(core.module_at(0x400fff), &core.modules()[4]);
  EXPECT_EQ(core.module_at(0x401000), nullptr);
}

/// The last address is the end of ranges, so that a module that starts there is empty.
TEST(ElfMinidump, ModulesAreNotEmpty) {
  Dump dump;
  Bytes list;
  list.add(std::uint32_t{2});
  add_module(dump, list, ~std::uint64_t{0} - 1, u"/lib/y", {});
  add_module(dump, list, ~std::uint64_t{0}, u"/lib/x", {});
  dump.stream(4, list.data());
  const Core core = dump.parse();
  ASSERT_EQ(core.modules().size(), 1u);
  EXPECT_EQ(core.modules()[0].path, "/lib/y");
  EXPECT_EQ(core.modules()[0].end, ~std::uint64_t{0});
}

TEST(ElfMinidump, MappingsHaveTheBuildIdsOfTheList) {
  Dump dump;
  Bytes list, id;
  id.add(std::uint32_t{0x4270454c}).add(std::uint64_t{0x0807060504030201});
  list.add(std::uint32_t{1});
  add_module(dump, list, 0x1000, u"/bin/soname.so", id.data());
  dump.stream(4, list.data());
  dump.stream(0x47670009, bytes_of("1000-2000 r--p 00000000 08:01 7    /bin/a\\012b\n"
                                   "2000-3000 r-xp 00001000 08:01 7    /bin/a\\012b\n"
                                   "8000-9000 r--p 00000000 08:01 8    /etc/data\n"));
  const Core core = dump.parse();
  ASSERT_EQ(core.modules().size(), 1u);
  EXPECT_EQ(core.modules()[0].path, "/bin/a\nb");
  EXPECT_EQ(core.modules()[0].end, 0x3000u);
  EXPECT_EQ(to_hex(core.modules()[0].build_id), "0102030405060708");
  EXPECT_FALSE(core.modules()[0].listed);
  EXPECT_EQ(core.mappings().size(), 3u);
}

} // namespace core_minidump_test
} // namespace sframe::core
