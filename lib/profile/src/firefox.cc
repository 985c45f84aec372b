// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processed profile format: tables as lists of columns, of one length. Each thread has its own:
//
//   samples -> stackTable (a tree: frame, and the stack of its caller) -> frameTable -> funcTable ->
//   resourceTable
//
// An inlined function is a frame of its own with the same address and an inlineDepth. Names and files are in
// the thread's stringArray.

#include "json.h"
#include "threads.h"

#include "sframe/profile/formats.h"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>

namespace sframe::profile {

namespace {

constexpr std::uint32_t category_user = 1, category_kernel = 2;

/// Milliseconds.
std::string milliseconds(std::uint64_t nanoseconds) {
  char text[40];
  const double value = static_cast<double>(nanoseconds) / 1e6;
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 6).ptr};
}

std::string upper_hex(std::span<const std::byte> bytes, std::string_view digits) {
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += digits[std::to_integer<unsigned>(byte >> 4)];
    hex += digits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return hex;
}

/// A build ID as Breakpad has it: a GUID, whose first three numbers are little endian, and an age of 0.
std::string breakpad_id(std::span<const std::byte> id) {
  std::array<std::byte, 16> guid{};
  std::ranges::copy(id.first(std::min(id.size(), guid.size())), guid.begin());
  std::reverse(guid.begin(), guid.begin() + 4);
  std::reverse(guid.begin() + 4, guid.begin() + 6);
  std::reverse(guid.begin() + 6, guid.begin() + 8);
  return upper_hex(guid, "0123456789ABCDEF") + '0';
}

/// The indices of values in a table.
template <class Key> class Index {
public:
  std::uint32_t of(const Key& key) {
    const auto [at, is_new] = indices_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return at->second;
  }
  const std::vector<Key>& keys() const { return keys_; }

private:
  std::map<Key, std::uint32_t> indices_;
  std::vector<Key> keys_;
};

struct Frame {
  std::uint32_t location = none, function = none, line = 0, depth = 0;
  friend auto operator<=>(const Frame&, const Frame&) = default;
};
struct Func {
  std::uint32_t function = none, file = none;
  friend auto operator<=>(const Func&, const Func&) = default;
};
struct Node {
  std::uint32_t frame = none, prefix = none;
  friend auto operator<=>(const Node&, const Node&) = default;
};

class ThreadTables {
public:
  ThreadTables(const Subject& subject, const ThreadSamples& samples)
      : recording_(subject.recording), names_(subject.names), samples_(samples) {
    std::map<std::uint32_t, std::optional<std::uint32_t>> known;
    for (const Sample* sample : samples.samples) {
      const auto [at, is_new] = known.try_emplace(sample->stack);
      if (is_new) at->second = node_of(recording_.stacks[sample->stack]);
      stacks_.push_back(at->second);
    }
  }

  void write(Json& json) {
    json.open('{');
    write_about(json);
    write_samples(json);
    write_stacks(json);
    write_frames(json);
    write_functions(json);
    write_resources(json);
    json.open("stringArray", '[');
    for (const std::string& text : texts_.keys()) json.value(text);
    json.close(']').close('}');
  }

private:
  std::optional<std::uint32_t> node_of(const Stack& stack) {
    std::uint32_t node = none;
    for (const std::uint32_t location : stack.locations | std::views::reverse) {
      const auto lines = names_.of(location);
      for (std::size_t i = lines.size(); i-- > 0;) {
        const auto depth = static_cast<std::uint32_t>(lines.size() - 1 - i);
        const std::uint32_t frame = frames_.of({location, lines[i].function, lines[i].line, depth});
        node = nodes_.of({frame, node});
      }
    }
    return node == none ? std::nullopt : std::optional(node);
  }

  void write_about(Json& json) const {
    const bool is_known = samples_.thread != none;
    const Thread thread = is_known ? recording_.threads[samples_.thread] : Thread{};
    const bool has_process = is_known && thread.process != none;
    const Process process = has_process ? recording_.processes[thread.process] : Process{};
    json.member("name", is_known ? thread.name : "unknown thread");
    json.key("isMainThread").flag(has_process && process.pid == thread.tid);
    json.member("pid", std::to_string(process.pid)).member("tid", std::to_string(thread.tid));
    json.member("processName", process.name).member("processType", "default");
    json.key("processStartupTime").raw("0").key("processShutdownTime").null();
    json.key("registerTime").raw("0").key("unregisterTime").null();
    json.open("pausedRanges", '[').close(']').key("showMarkersInTimeline").flag(false);
    json.open("markers", '{').member("length", 0u);
    for (const char* column : {"category", "data", "endTime", "name", "phase", "startTime"})
      json.open(column, '[').close(']');
    json.close('}').open("nativeSymbols", '{').member("length", 0u);
    for (const char* column : {"address", "functionSize", "libIndex", "name"})
      json.open(column, '[').close(']');
    json.close('}');
  }

  void write_samples(Json& json) const {
    const bool is_time = recording_.unit == Unit::nanoseconds;
    json.open("samples", '{').member("length", samples_.samples.size());
    json.member("weightType", is_time ? "tracing-ms" : "samples");
    json.open("stack", '[');
    for (const auto& stack : stacks_) stack ? json.value(*stack) : json.null();
    json.close(']').open("timeDeltas", '[');
    std::uint64_t last = 0;
    for (const Sample* sample : samples_.samples) {
      json.raw(milliseconds(sample->time - last));
      last = sample->time;
    }
    json.close(']').open("weight", '[');
    for (const Sample* sample : samples_.samples)
      json.raw(is_time ? milliseconds(sample->weight) : std::to_string(sample->weight));
    json.close(']').close('}');
  }

  void write_stacks(Json& json) const {
    json.open("stackTable", '{').member("length", nodes_.keys().size()).open("frame", '[');
    for (const Node& node : nodes_.keys()) json.value(node.frame);
    json.close(']').open("prefix", '[');
    for (const Node& node : nodes_.keys()) node.prefix == none ? json.null() : json.value(node.prefix);
    json.close(']').close('}');
  }

  void write_nulls(Json& json, const char* column, std::size_t count) const {
    json.open(column, '[');
    for (std::size_t i = 0; i < count; ++i) json.null();
    json.close(']');
  }

  void write_frames(Json& json) {
    const auto& frames = frames_.keys();
    json.open("frameTable", '{').member("length", frames.size()).open("address", '[');
    for (const Frame& frame : frames) {
      const Location& location = recording_.locations[frame.location];
      location.file == none ? json.raw("-1") : json.value(location.address);
    }
    json.close(']').open("inlineDepth", '[');
    for (const Frame& frame : frames) json.value(frame.depth);
    json.close(']').open("category", '[');
    for (const Frame& frame : frames)
      json.value(names_.functions[frame.function].is_kernel ? category_kernel : category_user);
    json.close(']').open("subcategory", '[');
    for (std::size_t i = 0; i < frames.size(); ++i) json.value(0u);
    json.close(']').open("func", '[');
    for (const Frame& frame : frames)
      json.value(functions_.of({frame.function, recording_.locations[frame.location].file}));
    json.close(']').open("line", '[');
    for (const Frame& frame : frames) frame.line == 0 ? json.null() : json.value(frame.line);
    json.close(']');
    for (const char* column : {"column", "innerWindowID", "nativeSymbol"})
      write_nulls(json, column, frames.size());
    json.close('}');
  }

  void write_functions(Json& json) {
    const auto& all = functions_.keys();
    json.open("funcTable", '{').member("length", all.size()).open("name", '[');
    for (const Func& func : all) json.value(texts_.of(names_.functions[func.function].name));
    json.close(']');
    for (const char* column : {"isJS", "relevantForJS"}) {
      json.open(column, '[');
      for (std::size_t i = 0; i < all.size(); ++i) json.flag(false);
      json.close(']');
    }
    json.open("resource", '[');
    for (const Func& func : all) func.file == none ? json.raw("-1") : json.value(resources_.of(func.file));
    json.close(']').open("fileName", '[');
    for (const Func& func : all) {
      const std::string& file = names_.functions[func.function].file;
      file.empty() ? json.null() : json.value(texts_.of(file));
    }
    json.close(']');
    for (const char* column : {"lineNumber", "columnNumber"}) write_nulls(json, column, all.size());
    json.close('}');
  }

  void write_resources(Json& json) {
    const auto& files = resources_.keys();
    json.open("resourceTable", '{').member("length", files.size()).open("lib", '[');
    for (const std::uint32_t file : files) json.value(file);
    json.close(']').open("name", '[');
    for (const std::uint32_t file : files) json.value(texts_.of(file_name(recording_, file)));
    json.close(']');
    write_nulls(json, "host", files.size());
    json.open("type", '[');
    for (std::size_t i = 0; i < files.size(); ++i) json.value(1u); // a library
    json.close(']').close('}');
  }

  const Recording& recording_;
  const Names& names_;
  const ThreadSamples& samples_;
  Index<Frame> frames_;
  Index<Node> nodes_;
  Index<Func> functions_;
  Index<std::uint32_t> resources_; ///< files
  Index<std::string> texts_;
  std::vector<std::optional<std::uint32_t>> stacks_; ///< of each sample
};

void write_category(Json& json, std::string_view name, std::string_view color) {
  json.open('{').member("name", name).member("color", color);
  json.open("subcategories", '[').value("Other").close(']').close('}');
}

void write_meta(Json& json, const Subject& subject) {
  const Recording& recording = subject.recording;
  json.open("meta", '{').open("categories", '[');
  write_category(json, "Other", "grey");
  write_category(json, "User", "yellow");
  write_category(json, "Kernel", "orange");
  json.close(']').key("debug").flag(false);
  json.open("extensions", '{').member("length", 0u);
  for (const char* column : {"baseURL", "id", "name"}) json.open(column, '[').close(']');
  json.close('}');
  json.key("interval").raw(milliseconds(recording.period ? recording.period : 1'000'000));
  json.member("preprocessedProfileVersion", 54u).member("version", 24u).member("processType", 0u);
  json.member("product", subject.title).member("stackwalk", 1u).member("oscpu", "Linux");
  json.open("sampleUnits", '{').member("time", "ms").member("eventDelay", "ms");
  json.member("threadCPUDelta", "ns").close('}');
  json.key("startTime").raw(milliseconds(recording.start));
  json.key("symbolicated").flag(true).open("pausedRanges", '[').close(']');
  json.key("usesOnlyOneStackType").flag(true).key("sourceCodeIsNotOnSearchfox").flag(true);
  json.open("markerSchema", '[').close(']').close('}');
}

} // namespace

void write_firefox(const Subject& subject, const Sink& to) {
  const Recording& recording = subject.recording;
  Json json(to);
  json.open('{');
  write_meta(json, subject);
  json.open("libs", '[');
  for (std::uint32_t i = 0; i < recording.files.size(); ++i) {
    const auto& id = subject.names.files[i].build_id;
    const std::string name = file_name(recording, i);
    json.open('{').member("name", name).member("path", recording.files[i].path);
    json.member("debugName", name).member("debugPath", recording.files[i].path);
    json.member("breakpadId", breakpad_id(id));
    json.key("codeId");
    id.empty() ? json.null() : json.value(upper_hex(id, "0123456789abcdef"));
    json.key("arch").null().close('}');
  }
  json.close(']').open("threads", '[');
  for (const ThreadSamples& thread : samples_by_thread(recording)) ThreadTables(subject, thread).write(json);
  json.close(']');
  for (const char* list : {"pages", "profilerOverhead", "counters"}) json.open(list, '[').close(']');
  json.close('}').finish();
}

} // namespace sframe::profile
