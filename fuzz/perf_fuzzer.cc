// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes after the magic number of perf.data: header, attributes, records, walks over copied stacks
// without files; and all formats of what was read. Indices in a recording lead to elements, times are in
// order, and what is kept is bounded by the file's size.

#include "cost.h"

#include "sframe/perf/read_recording.h"
#include "sframe/profile/formats.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace perf_fuzzer {

namespace {

using namespace sframe;
using fuzz::require;

void check_indices(const profile::Recording& recording) {
  const auto is_in = [](std::uint32_t index, const auto& list) {
    return index == profile::none || index < list.size();
  };
  for (const profile::Location& location : recording.locations)
    require(is_in(location.file, recording.files) && is_in(location.name, recording.names));
  for (const profile::Stack& stack : recording.stacks) {
    require(is_in(stack.end, recording.ends));
    for (const std::uint32_t location : stack.locations) require(location < recording.locations.size());
  }
  for (const profile::Thread& thread : recording.threads) require(is_in(thread.process, recording.processes));
  std::uint64_t last = 0;
  for (const profile::Sample& sample : recording.samples) {
    require(is_in(sample.thread, recording.threads) && sample.stack < recording.stacks.size());
    require(sample.time >= last);
    last = sample.time;
  }
}

void write_all(const profile::Recording& recording) {
  const profile::Names names = profile::look_up_names(recording, {.names = false});
  require(names.locations.size() == recording.locations.size());
  std::size_t written = 0;
  const profile::Sink count = [&](std::string_view text) { written += text.size(); };
  for (const char* name : {"pprof", "folded", "svg", "html", "speedscope", "firefox", "perf"})
    profile::find_format(name)->write({recording, names, "fuzz"}, count);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most = std::size_t{1} << 18;
  if (size < 8 || size > most) return 0;
  std::vector<std::uint8_t> file(data, data + size);
  // The last byte decides about the byte order.
  constexpr std::string_view magic = "PERFILE2";
  std::ranges::copy(magic, file.begin());
  if (file.back() & 1) std::reverse(file.begin(), file.begin() + magic.size());
  files::FileOptions files;
  files.open_files = false;
  files.budget = std::make_shared<Budget>(Limits::strict, size);
  const auto recording = perf::Data::parse(std::as_bytes(std::span(file)), files.budget.get());
  if (!recording) return 0;
  const auto result = perf::read_recording(*recording, {.files = files, .event = {}});
  if (!result) return 0;
  check_indices(result->recording);
  if (result->recording.samples.size() < 1000) write_all(result->recording);
  return 0;
}

} // namespace perf_fuzzer
