// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recording with its names as profilers read it. All writers are deterministic, and take any bytes in
// names: what a format does not allow is escaped.
//
// - pprof: the protobuf message of github.com/google/pprof (proto/profile.proto), with gzip (RFC 1952).
// - folded: folded.h. svg: flame_graph.h.
// - html: a page of lib/page.
// - speedscope: https://www.speedscope.app/file-format-schema.json.
// - firefox: the "processed profile format" of github.com/firefox-devtools/profiler, version 54.
// - perf: the text of `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso`.

#pragma once

#include "sframe/profile/folded.h"
#include "sframe/profile/names.h"
#include "sframe/profile/recording.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::profile {

/// What of a recording is missing or doubtful.
struct Summary {
  std::uint64_t samples = 0, complete = 0;
  std::uint64_t guessed = 0; ///< samples with a frame that no row proves
  std::uint64_t empty = 0;   ///< samples without any frame
  /// Incomplete stacks, by their reason, the most frequent first.
  std::vector<std::pair<std::string, std::uint64_t>> cut;
  std::uint64_t lost = 0;
};
Summary summarize(const Recording& recording);

struct Subject {
  const Recording& recording;
  const Names& names;     ///< of the recording
  std::string title = {}; ///< what was recorded, for people
};

/// The stacks of all samples: the thread's name, then the frames. Samples of the processor are counted as
/// such, times in microseconds. "_[k]" follows names of the kernel's functions.
StackCounts count_stacks(const Subject& subject);
/// What these counts are, as one of them: "sample".
std::string_view unit_of(const Recording& recording);

using Writer = void (*)(const Subject& subject, const Sink& to);
void write_pprof(const Subject& subject, const Sink& to);
void write_stacks(const Subject& subject, const Sink& to); ///< folded
void write_svg(const Subject& subject, const Sink& to);
void write_html(const Subject& subject, const Sink& to);
void write_speedscope(const Subject& subject, const Sink& to);
void write_firefox(const Subject& subject, const Sink& to);
void write_perf_script(const Subject& subject, const Sink& to);

struct Format {
  std::string_view name;
  Writer write;
  bool is_text = false; ///< for people
};
/// nullptr if there is none of this name.
const Format* find_format(std::string_view name);

} // namespace sframe::profile
