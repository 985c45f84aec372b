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
#include <initializer_list>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

namespace sframe::profile {

namespace {

using llvm::json::Value;

constexpr std::uint32_t category_user = 1, category_kernel = 2;

/// Milliseconds.
std::string milliseconds(std::uint64_t nanoseconds) {
  char text[40];
  const double value = static_cast<double>(nanoseconds) / 1e6;
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 6).ptr};
}

std::string hex_digits(std::span<const std::byte> bytes, std::string_view digits) {
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
  return hex_digits(guid, "0123456789ABCDEF") + '0';
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

Value or_null(std::uint32_t index) {
  return index == none ? Value(nullptr) : Value(index);
}

void write_table(OStream& json, const char* key, std::size_t length, const auto& write_columns) {
  json.attributeObject(key, [&] {
    json.attribute("length", length);
    write_columns();
  });
}

void write_column(OStream& json, const char* key, const auto& rows, const auto& value_of) {
  write_list(json, key, rows, [&](const auto& row) { json.value(value_of(row)); });
}

void write_nulls(OStream& json, const char* key, const auto& rows) {
  write_column(json, key, rows, [](const auto&) { return nullptr; });
}

void write_empty(OStream& json, std::initializer_list<const char*> keys) {
  for (const char* const key : keys) json.attributeArray(key, [] {});
}

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

  void write(OStream& json) {
    write_about(json);
    write_table(json, "samples", samples_.samples.size(), [&] { write_samples(json); });
    write_table(json, "stackTable", nodes_.keys().size(), [&] { write_stacks(json); });
    write_table(json, "frameTable", frames_.keys().size(), [&] { write_frames(json); });
    write_table(json, "funcTable", functions_.keys().size(), [&] { write_functions(json); });
    write_table(json, "resourceTable", resources_.keys().size(), [&] { write_resources(json); });
    write_list(json, "stringArray", texts_.keys(), [&](const std::string& text) { write_text(json, text); });
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

  void write_about(OStream& json) const {
    const bool is_known = samples_.thread != none;
    const Thread thread = is_known ? recording_.threads[samples_.thread] : Thread{};
    const bool has_process = is_known && thread.process != none;
    const Process process = has_process ? recording_.processes[thread.process] : Process{};
    write_text(json, "name", is_known ? thread.name : "unknown thread");
    json.attribute("isMainThread", has_process && process.pid == thread.tid);
    json.attribute("pid", std::to_string(process.pid));
    json.attribute("tid", std::to_string(thread.tid));
    write_text(json, "processName", process.name);
    json.attribute("processType", "default");
    json.attribute("processStartupTime", 0);
    json.attribute("processShutdownTime", nullptr);
    json.attribute("registerTime", 0);
    json.attribute("unregisterTime", nullptr);
    write_empty(json, {"pausedRanges"});
    json.attribute("showMarkersInTimeline", false);
    write_table(json, "markers", 0, [&] {
      write_empty(json, {"category", "data", "endTime", "name", "phase", "startTime"});
    });
    write_table(json, "nativeSymbols", 0, [&] {
      write_empty(json, {"address", "functionSize", "libIndex", "name"});
    });
  }

  void write_samples(OStream& json) const {
    const bool is_time = recording_.unit == Unit::nanoseconds;
    json.attribute("weightType", is_time ? "tracing-ms" : "samples");
    write_column(json, "stack", stacks_, [](const auto& stack) { return or_null(stack.value_or(none)); });
    std::uint64_t last = 0;
    write_list(json, "timeDeltas", samples_.samples, [&](const Sample* sample) {
      json.rawValue(milliseconds(sample->time - std::exchange(last, sample->time)));
    });
    write_list(json, "weight", samples_.samples, [&](const Sample* sample) {
      json.rawValue(is_time ? milliseconds(sample->weight) : std::to_string(sample->weight));
    });
  }

  void write_stacks(OStream& json) const {
    write_column(json, "frame", nodes_.keys(), [](const Node& node) { return node.frame; });
    write_column(json, "prefix", nodes_.keys(), [](const Node& node) { return or_null(node.prefix); });
  }

  void write_frames(OStream& json) {
    const auto& frames = frames_.keys();
    write_column(json, "address", frames, [&](const Frame& frame) {
      const Location& location = recording_.locations[frame.location];
      return location.file == none ? Value(-1) : Value(location.address);
    });
    write_column(json, "inlineDepth", frames, [](const Frame& frame) { return frame.depth; });
    write_column(json, "category", frames, [&](const Frame& frame) {
      return names_.functions[frame.function].is_kernel ? category_kernel : category_user;
    });
    write_column(json, "subcategory", frames, [](const Frame&) { return 0; });
    write_column(json, "func", frames, [&](const Frame& frame) {
      return functions_.of({frame.function, recording_.locations[frame.location].file});
    });
    write_column(json, "line", frames,
                 [](const Frame& frame) { return frame.line == 0 ? Value(nullptr) : Value(frame.line); });
    for (const char* column : {"column", "innerWindowID", "nativeSymbol"}) write_nulls(json, column, frames);
  }

  void write_functions(OStream& json) {
    const auto& all = functions_.keys();
    write_column(json, "name", all,
                 [&](const Func& func) { return texts_.of(names_.functions[func.function].name); });
    for (const char* column : {"isJS", "relevantForJS"})
      write_column(json, column, all, [](const Func&) { return false; });
    write_column(json, "resource", all, [&](const Func& func) {
      return func.file == none ? Value(-1) : Value(resources_.of(func.file));
    });
    write_column(json, "fileName", all, [&](const Func& func) {
      const std::string& file = names_.functions[func.function].file;
      return file.empty() ? Value(nullptr) : Value(texts_.of(file));
    });
    for (const char* column : {"lineNumber", "columnNumber"}) write_nulls(json, column, all);
  }

  void write_resources(OStream& json) {
    const auto& files = resources_.keys();
    write_column(json, "lib", files, [](std::uint32_t file) { return file; });
    write_column(json, "name", files,
                 [&](std::uint32_t file) { return texts_.of(file_name(recording_, file)); });
    write_nulls(json, "host", files);
    write_column(json, "type", files, [](std::uint32_t) { return 1; }); // a library
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

void write_category(OStream& json, const char* name, const char* color) {
  json.object([&] {
    json.attribute("name", name);
    json.attribute("color", color);
    json.attributeArray("subcategories", [&] { json.value("Other"); });
  });
}

void write_meta(OStream& json, const Subject& subject) {
  const Recording& recording = subject.recording;
  json.attributeArray("categories", [&] {
    write_category(json, "Other", "grey");
    write_category(json, "User", "yellow");
    write_category(json, "Kernel", "orange");
  });
  json.attribute("debug", false);
  write_table(json, "extensions", 0, [&] { write_empty(json, {"baseURL", "id", "name"}); });
  const auto write_time = [&](const char* key, std::uint64_t time) {
    json.attributeBegin(key);
    json.rawValue(milliseconds(time));
    json.attributeEnd();
  };
  write_time("interval", recording.period ? recording.period : 1'000'000);
  json.attribute("preprocessedProfileVersion", 54);
  json.attribute("version", 24);
  json.attribute("processType", 0);
  write_text(json, "product", subject.title);
  json.attribute("stackwalk", 1);
  json.attribute("oscpu", "Linux");
  json.attributeObject("sampleUnits", [&] {
    json.attribute("time", "ms");
    json.attribute("eventDelay", "ms");
    json.attribute("threadCPUDelta", "ns");
  });
  write_time("startTime", recording.start);
  json.attribute("symbolicated", true);
  write_empty(json, {"pausedRanges"});
  json.attribute("usesOnlyOneStackType", true);
  json.attribute("sourceCodeIsNotOnSearchfox", true);
  write_empty(json, {"markerSchema"});
}

void write_library(OStream& json, const File& file, const std::string& name, std::span<const std::byte> id) {
  write_text(json, "name", name);
  write_text(json, "path", file.path);
  write_text(json, "debugName", name);
  write_text(json, "debugPath", file.path);
  json.attribute("breakpadId", breakpad_id(id));
  json.attribute("codeId", id.empty() ? Value(nullptr) : Value(hex_digits(id, "0123456789abcdef")));
  json.attribute("arch", nullptr);
}

} // namespace

void write_firefox(const Subject& subject, const Sink& to) {
  const Recording& recording = subject.recording;
  SinkStream stream(to);
  OStream json(stream);
  json.object([&] {
    json.attributeObject("meta", [&] { write_meta(json, subject); });
    json.attributeArray("libs", [&] {
      for (std::uint32_t i = 0; i < recording.files.size(); ++i)
        json.object([&] {
          write_library(json, recording.files[i], file_name(recording, i), subject.names.files[i].build_id);
        });
    });
    write_list(json, "threads", samples_by_thread(recording), [&](const ThreadSamples& thread) {
      json.object([&] { ThreadTables(subject, thread).write(json); });
    });
    write_empty(json, {"pages", "profilerOverhead", "counters"});
  });
  stream << '\n';
}

} // namespace sframe::profile
