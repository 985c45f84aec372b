// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recordings, and the formats in which they are written. Expected values are worked out by hand from the made
// recording; pprof's message is decoded here, by the numbers of fields in proto/profile.proto.

#include "sframe/profile/formats.h"
#include "sframe/profile/kernel_symbols.h"
#include "sframe/profile/names.h"
#include "sframe/profile/recording_builder.h"

#include "sframe/elf/unpack.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profile_recording_test {

using namespace sframe::profile;

/// Two threads of a process, three stacks; one stack is cut, and has a guessed frame.
struct Made {
  Made() {
    const auto process = builder.process(10, "server");
    const auto main = builder.thread(10, process, "server"),
               worker = builder.thread(11, process, "wor;ker\x1b");
    const auto elf = builder.file({.path = "/bin/server", .build_id = {std::byte{0xab}, std::byte{0x01}}});
    const auto kernel = builder.file({.kind = FileKind::kernel, .path = "[kernel]"});
    const auto name = [&](const char* text) { return builder.name(text); };
    const auto start = builder.location({.file = elf, .name = name("_start"), .address = 0x1000});
    const auto work = builder.location({.file = elf, .name = name("_ZN4work3runEv"), .address = 0x2000});
    const auto read = builder.location({.file = kernel, .name = name("vfs_read"), .address = 0xffff0000});
    const auto lost = builder.location({.address = 0x9999, .guessed = true});
    const auto complete = builder.end({true, {}}), cut = builder.end({false, "no table"});
    const std::uint32_t in_work[] = {work, start}, in_kernel[] = {read, work, start}, unknown[] = {lost};
    const auto first = builder.stack(in_work, complete), second = builder.stack(in_kernel, complete),
               third = builder.stack(unknown, cut);
    builder.sample({.time = 3'000'000, .thread = main, .stack = second, .cpu = 1});
    builder.sample({.time = 1'000'000, .thread = main, .stack = first, .cpu = 0});
    builder.sample({.time = 2'000'000, .thread = main, .stack = first});
    builder.sample({.time = 4'123'456, .thread = worker, .stack = third});
    builder.lose("buffer full", 2);
    builder.lose("buffer full", 3);
    builder.recording().period = 10'000'000;
    builder.recording().duration = 40'000'000;
  }
  RecordingBuilder builder;
};

std::string written(Writer write, const Recording& recording) {
  const Names names = look_up_names(recording, {.names = false});
  std::string text;
  write({recording, names, "made </script>"}, [&](std::string_view part) { text += part; });
  return text;
}

TEST(ProfileRecording, EqualValuesAreStoredOnce) {
  RecordingBuilder builder;
  const auto process = builder.process(1, "a");
  EXPECT_EQ(builder.process(1, "a"), process);
  EXPECT_NE(builder.process(1, "b"), process);
  EXPECT_NE(builder.process(2, "a"), process);
  const auto file = builder.file({.path = "/lib", .build_id = {std::byte{1}}, .process = process});
  EXPECT_EQ(builder.file({.path = "/lib", .build_id = {std::byte{1}}, .process = 7}), file);
  EXPECT_NE(builder.file({.path = "/lib", .build_id = {std::byte{2}}, .process = process}), file);
  const auto unidentified = builder.file({.path = "/lib", .process = 1});
  EXPECT_NE(builder.file({.path = "/lib", .process = 2}), unidentified);
  const auto place = builder.location({.file = file, .address = 5});
  EXPECT_EQ(builder.location({.file = file, .address = 5}), place);
  EXPECT_NE(builder.location({.file = file, .address = 5, .guessed = true}), place);
  const std::uint32_t once[] = {place}, twice[] = {place, place}, gap[] = {place, none};
  const auto end = builder.end({true, {}});
  const auto stack = builder.stack(once, end);
  EXPECT_NE(builder.stack(twice, end), stack);
  EXPECT_EQ(builder.stack(gap, end), stack);
  EXPECT_NE(builder.stack(once, none), stack);
  EXPECT_FALSE(builder.is_full());
  builder.sample({.time = 9, .stack = stack});
  builder.sample({.time = 8, .stack = stack});
  EXPECT_EQ(builder.samples(), 2u);
  const Recording recording = std::move(builder).finish();
  EXPECT_EQ(recording.stacks.size(), 3u);
  ASSERT_EQ(recording.samples.size(), 2u);
  EXPECT_EQ(recording.samples[0].time, 8u);
}

TEST(ProfileRecording, IsBounded) {
  RecordingBuilder builder(nullptr, 10'000);
  const auto end = builder.end({true, {}});
  std::uint32_t stored = 0;
  for (std::uint64_t address = 0; address < 1000; ++address) {
    const std::uint32_t place[] = {builder.location({.address = address})};
    stored += place[0] != none;
    builder.sample({.stack = builder.stack(place, end)});
  }
  EXPECT_TRUE(builder.is_full());
  EXPECT_GT(stored, 10u);
  EXPECT_LT(stored, 200u);
  const Recording recording = std::move(builder).finish();
  ASSERT_EQ(recording.lost.size(), 1u);
  EXPECT_EQ(recording.samples.size() + recording.lost[0].second, 1000u);
}

TEST(ProfileRecording, SamplesAreSummedUp) {
  const Recording recording = std::move(Made().builder).finish();
  const Summary summary = summarize(recording);
  EXPECT_EQ(summary.samples, 4u);
  EXPECT_EQ(summary.complete, 3u);
  EXPECT_EQ(summary.guessed, 1u);
  EXPECT_EQ(summary.lost, 5u);
  ASSERT_EQ(summary.cut.size(), 1u);
  EXPECT_EQ(summary.cut[0].first, "no table");
  EXPECT_EQ(summary.cut[0].second, 1u);
}

TEST(ProfileFormats, FoldedStacksAreOutermostFirst) {
  const Recording recording = std::move(Made().builder).finish();
  EXPECT_EQ(written(write_stacks, recording), "server;_start;work::run() 2\n"
                                              "server;_start;work::run();vfs_read_[k] 1\n"
                                              "wor:ker\\x1b;[unknown] 1\n");
}

TEST(ProfileFormats, FoldedTimesAreMicroseconds) {
  Made made;
  made.builder.recording().unit = Unit::nanoseconds;
  Recording recording = std::move(made.builder).finish();
  for (Sample& sample : recording.samples) sample.weight = 1'400;
  const std::string text = written(write_stacks, recording);
  EXPECT_TRUE(text.starts_with("server;_start;work::run() 3\n")) << text; // 2.8
  EXPECT_NE(text.find(";vfs_read_[k] 1\n"), std::string::npos) << text;   // 1.4
}

TEST(ProfileFormats, PerfScriptHasHeaderAndFrames) {
  const Recording recording = std::move(Made().builder).finish();
  const std::string text = written(write_perf_script, recording);
  EXPECT_TRUE(text.starts_with("          server    10/10    [000]     0.001000:   10000000 cpu: \n"
                               "\t            2000 work::run()+0x0 (/bin/server)\n"
                               "\t            1000 _start+0x0 (/bin/server)\n\n"))
      << text;
  EXPECT_NE(text.find("\tffff0000 "), 0u);
  EXPECT_NE(text.find(" vfs_read+0x0 ([kernel.kallsyms])\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("     wor;ker\\x1b    10/11        0.004123:   10000000 cpu: \n"
                             "\t            9999 [unknown] ([unknown])\n\n"))
      << text;
}

/// The fields of a message: numbers, or the bytes of texts and messages.
struct Field {
  std::uint64_t number = 0;
  std::string_view bytes;
};
std::multimap<std::uint64_t, Field> decode(std::string_view message) {
  std::multimap<std::uint64_t, Field> fields;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !message.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message.front());
      message.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (!message.empty()) {
    const std::uint64_t key = varint();
    Field field;
    if ((key & 7) == 0) {
      field.number = varint();
    } else {
      const std::uint64_t size = varint();
      field.bytes = message.substr(0, size);
      message.remove_prefix(size);
    }
    fields.emplace(key >> 3, field);
  }
  return fields;
}

class Pprof : public testing::Test {
protected:
  void SetUp() override {
    const Recording recording = std::move(Made().builder).finish();
    const std::string packed = written(write_pprof, recording);
    if (packed.starts_with("\x1f\x8b")) {
      auto unpacked = sframe::elf::unpack(std::as_bytes(std::span(packed)));
      ASSERT_TRUE(unpacked);
      const auto bytes = unpacked->bytes();
      message_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    } else {
      message_ = packed;
    }
    profile_ = decode(message_);
    for (const auto& [number, field] : profile_)
      if (number == 6) texts_.emplace_back(field.bytes);
  }
  std::vector<std::string_view> all(std::uint64_t number) const {
    std::vector<std::string_view> found;
    for (auto [at, end] = profile_.equal_range(number); at != end; ++at) found.push_back(at->second.bytes);
    return found;
  }
  std::string_view text(std::string_view message, std::uint64_t number) const {
    const auto fields = decode(message);
    const auto at = fields.find(number);
    return at == fields.end() ? std::string_view() : texts_.at(at->second.number);
  }
  static std::uint64_t number(std::string_view message, std::uint64_t field) {
    const auto fields = decode(message);
    const auto at = fields.find(field);
    return at == fields.end() ? 0 : at->second.number;
  }

  std::string message_;
  std::multimap<std::uint64_t, Field> profile_;
  std::vector<std::string_view> texts_;
};

TEST_F(Pprof, HasTypesAndPeriod) {
  ASSERT_FALSE(texts_.empty());
  EXPECT_EQ(texts_[0], "");
  const auto types = all(1);
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(text(types[0], 1), "samples");
  EXPECT_EQ(text(types[0], 2), "count");
  EXPECT_EQ(text(types[1], 1), "cpu");
  EXPECT_EQ(text(types[1], 2), "nanoseconds");
  EXPECT_EQ(number(message_, 10), 40'000'000u);
  EXPECT_EQ(number(message_, 12), 10'000'000u);
}

TEST_F(Pprof, SamplesHaveLocationsValuesAndLabels) {
  const auto samples = all(2);
  ASSERT_EQ(samples.size(), 3u);
  // Locations 2 and 1, innermost first; two samples of 10 ms: 20,000,000 is 80 da c4 09 as a varint.
  const auto first = decode(samples[0]);
  EXPECT_EQ(first.find(1)->second.bytes, std::string_view("\x02\x01", 2));
  EXPECT_EQ(first.find(2)->second.bytes, std::string_view("\x02\x80\xda\xc4\x09", 5));
  std::map<std::string_view, std::string_view> labels;
  for (auto [at, end] = first.equal_range(3); at != end; ++at)
    labels[text(at->second.bytes, 1)] = text(at->second.bytes, 2);
  EXPECT_EQ(labels["thread"], "server (10)");
  EXPECT_EQ(labels["process"], "server (10)");
  EXPECT_FALSE(labels.contains("cut"));
  bool is_cut = false;
  const auto last = decode(samples[2]);
  for (auto [at, end] = last.equal_range(3); at != end; ++at)
    is_cut |= text(at->second.bytes, 1) == "cut" && text(at->second.bytes, 2) == "no table";
  EXPECT_TRUE(is_cut);
}

TEST_F(Pprof, FilesAreMappings) {
  const auto mappings = all(3);
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(number(mappings[0], 1), 1u);
  EXPECT_EQ(text(mappings[0], 5), "/bin/server");
  EXPECT_EQ(text(mappings[0], 6), "ab01");
  EXPECT_EQ(number(mappings[0], 7), 1u);
  EXPECT_GT(number(mappings[0], 3), 0x2000u);
  const auto locations = all(4);
  ASSERT_EQ(locations.size(), 4u);
  EXPECT_EQ(number(locations[1], 2), 1u);
  EXPECT_EQ(number(locations[1], 3), 0x2000u);
  const auto functions = all(5);
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(text(functions[1], 2), "work::run()");
  EXPECT_EQ(text(functions[1], 3), "_ZN4work3runEv");
}

TEST(ProfileFormats, AreDeterministicAndHarmless) {
  for (const char* name : {"pprof", "folded", "svg", "html", "speedscope", "firefox", "perf"}) {
    const Format* const format = find_format(name);
    ASSERT_TRUE(format) << name;
    const std::string once = written(format->write, std::move(Made().builder).finish());
    EXPECT_EQ(once, written(format->write, std::move(Made().builder).finish())) << name;
    const bool is_binary = std::string_view(name) == "pprof";
    EXPECT_TRUE(is_binary || once.find('\x1b') == std::string::npos) << name;
    const bool is_markup = std::string_view(name) == "html" || std::string_view(name) == "svg";
    EXPECT_TRUE(!is_markup || once.find("made </script>") == std::string::npos) << name;
  }
  EXPECT_FALSE(find_format("gif"));
}

TEST(ProfileKernelSymbols, AreFoundByAddress) {
  const KernelSymbols symbols = KernelSymbols::parse("ffffffff81000000 T _text\n"
                                                     "ffffffff81000000 T startup_64\n"
                                                     "ffffffff81000200 D data\n"
                                                     "nothing\n"
                                                     "ffffffffc0000100 t ext4_read\t[ext4]\n"
                                                     "ffffffff81000100 t do_it\n");
  const auto at = symbols.find(0xffffffff81000123);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->name, "do_it");
  EXPECT_EQ(at->offset, 0x23u);
  EXPECT_EQ(symbols.find(0xffffffff81000000)->name, "_text");
  EXPECT_EQ(symbols.find(0xffffffffc0000101)->name, "ext4_read");
  EXPECT_FALSE(symbols.find(0xffffffff80ffffff));
  EXPECT_FALSE(symbols.find(0xffffffffd0000000));
  EXPECT_EQ(symbols.address_of("do_it"), 0xffffffff81000100u);
  EXPECT_FALSE(symbols.address_of("data"));
  EXPECT_TRUE(KernelSymbols::parse("0000000000000000 T hidden\n").empty());
}

} // namespace profile_recording_test
