// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of fields are those of proto/profile.proto. Identifiers are indices plus 1; strings are indices
// in a table whose first one is empty. Addresses are those of files, not of processes: a mapping of a file
// has all its addresses.

#include "gzip.h"
#include "protobuf.h"

#include "sframe/base/printable.h"
#include "sframe/profile/formats.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

namespace sframe::profile {

namespace {

class Pprof {
public:
  Pprof(const Subject& subject, const Sink& to)
      : recording_(subject.recording), names_(subject.names), gzip_(to) {
    (void)text("");
  }

  void write() {
    write_types();
    write_samples();
    write_mappings();
    for (std::uint32_t i = 0; i < recording_.locations.size(); ++i) write_location(i);
    for (std::uint32_t i = 0; i < names_.functions.size(); ++i) write_function(i);
    write_rest();
    for (const std::string_view text : texts_) {
      out_.text(6, text);
      flush();
    }
    gzip_.write(out_.bytes());
    gzip_.finish();
  }

private:
  /// Strings of protocol buffers are UTF-8.
  std::uint64_t text(const std::string& value) {
    const auto [at, is_new] = indices_.try_emplace(printable(value), texts_.size());
    if (is_new) texts_.push_back(at->first);
    return at->second;
  }

  void flush() {
    constexpr std::size_t enough = std::size_t{1} << 16;
    if (out_.bytes().size() < enough) return;
    gzip_.write(out_.bytes());
    out_.clear();
  }

  Message type(const std::string& what, const std::string& unit) {
    Message message;
    message.number(1, text(what));
    message.number(2, text(unit));
    return message;
  }

  bool has_weights() const { return recording_.unit != Unit::samples || recording_.period != 0; }
  std::string unit() const { return recording_.unit == Unit::events ? "count" : "nanoseconds"; }

  void write_types() {
    out_.message(1, type("samples", "count"));
    if (has_weights()) out_.message(1, type(recording_.event, unit()));
  }

  void write_samples() {
    struct Sum {
      std::uint64_t samples = 0, weight = 0;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> sums; // by stack and thread
    for (const Sample& sample : recording_.samples) {
      Sum& sum = sums[{sample.stack, sample.thread}];
      sum.samples += recording_.unit == Unit::samples ? sample.weight : 1;
      sum.weight += sample.weight * (recording_.unit == Unit::samples ? recording_.period : 1);
    }
    std::vector<std::uint64_t> ids;
    for (const auto& [of, sum] : sums) {
      const Stack& stack = recording_.stacks[of.first];
      ids.clear();
      for (const std::uint32_t location : stack.locations) ids.push_back(std::uint64_t{location} + 1);
      Message message;
      message.numbers(1, ids);
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      const std::uint64_t values[] = {std::min(sum.samples, most), std::min(sum.weight, most)};
      message.numbers(2, std::span(values).first(has_weights() ? 2 : 1));
      add_labels(message, of.second, stack);
      out_.message(2, message);
      flush();
    }
  }

  void add_label(Message& sample, const std::string& key, const std::string& value) {
    Message label;
    label.number(1, text(key));
    label.number(2, text(value));
    sample.message(3, label);
  }

  void add_labels(Message& sample, std::uint32_t index, const Stack& stack) {
    if (index != none) {
      const Thread& thread = recording_.threads[index];
      add_label(sample, "thread", thread.name + " (" + std::to_string(thread.tid) + ")");
      if (thread.process != none) {
        const Process& process = recording_.processes[thread.process];
        add_label(sample, "process", process.name + " (" + std::to_string(process.pid) + ")");
      }
    }
    if (stack.end != none && !recording_.ends[stack.end].complete)
      add_label(sample, "cut", recording_.ends[stack.end].reason);
  }

  /// Readers take the first mapping for that of the program.
  std::vector<std::uint32_t> files_in_order() const {
    std::vector<std::uint32_t> order(recording_.files.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto is_program = [&](std::uint32_t file) {
      if (recording_.files[file].kind != FileKind::elf || recording_.processes.empty()) return false;
      const std::string& name = recording_.processes.front().name;
      return !name.empty() && file_name(recording_, file).starts_with(name);
    };
    const auto main = std::ranges::find_if(order, is_program);
    if (main != order.end()) std::rotate(order.begin(), main, main + 1);
    return order;
  }

  void write_mappings() {
    std::vector<std::uint64_t> ends(recording_.files.size());
    for (const Location& location : recording_.locations)
      if (location.file != none)
        ends[location.file] = std::max(ends[location.file], location.address | 0xfff);
    for (const std::uint32_t i : files_in_order()) {
      const NamedFile& named = names_.files[i];
      Message message;
      message.number(1, std::uint64_t{i} + 1);
      message.number(3, ends[i]);
      message.number(5, text(recording_.files[i].path));
      message.number(6, text(hex_of(named.build_id)));
      message.number(7, named.has_names);
      message.number(8, named.has_lines);
      message.number(9, named.has_lines);
      message.number(10, named.has_lines);
      out_.message(3, message);
      flush();
    }
  }

  static std::string hex_of(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const std::byte byte : bytes) {
      hex += digits[std::to_integer<unsigned>(byte >> 4)];
      hex += digits[std::to_integer<unsigned>(byte & std::byte{15})];
    }
    return hex;
  }

  void write_location(std::uint32_t index) {
    const Location& location = recording_.locations[index];
    Message message;
    message.number(1, std::uint64_t{index} + 1);
    if (location.file != none) message.number(2, std::uint64_t{location.file} + 1);
    message.number(3, location.address);
    for (const Line& line : names_.of(index)) {
      if (!names_.functions[line.function].is_named) continue;
      Message part;
      part.number(1, std::uint64_t{line.function} + 1);
      part.number(2, line.line);
      message.message(4, part);
    }
    out_.message(4, message);
    flush();
  }

  void write_function(std::uint32_t index) {
    const Function& function = names_.functions[index];
    if (!function.is_named) return;
    Message message;
    message.number(1, std::uint64_t{index} + 1);
    message.number(2, text(function.name));
    message.number(3, text(function.symbol.empty() ? function.name : function.symbol));
    message.number(4, text(function.file));
    out_.message(5, message);
    flush();
  }

  void write_rest() {
    out_.number(9, recording_.start);
    out_.number(10, recording_.duration);
    if (recording_.unit == Unit::samples && recording_.period != 0) {
      out_.message(11, type(recording_.event, "nanoseconds"));
      out_.number(12, recording_.period);
    }
    std::string command;
    for (const std::string& word : recording_.command) command += (command.empty() ? "" : " ") + word;
    if (!command.empty()) out_.number(13, text(command));
    if (has_weights()) out_.number(14, text(recording_.event));
  }

  const Recording& recording_;
  const Names& names_;
  Gzip gzip_;
  Message out_;
  std::map<std::string, std::uint64_t> indices_;
  std::vector<std::string_view> texts_; ///< the keys of indices_
};

} // namespace

void write_pprof(const Subject& subject, const Sink& to) {
  Pprof(subject, to).write();
}

} // namespace sframe::profile
