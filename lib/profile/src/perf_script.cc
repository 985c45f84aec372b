// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As perf 6 writes it, with PIDs:
//
//   spin   19281/19281 [001]  1287.613299:    5025125 cpu-clock:
//   	            11b2 inner+0x22 (/tmp/spin)
//   	            1226 inl+0x36 (inlined)
//
// Names are any text up to the last " (", and may have no line feed.

#include "threads.h"

#include "sframe/base/printable.h"
#include "sframe/profile/formats.h"

#include <algorithm>
#include <charconv>

namespace sframe::profile {

namespace {

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string left(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string digits_of(std::uint64_t value, int base) {
  char text[24];
  return {text, std::to_chars(text, text + sizeof text, value, base).ptr};
}

std::string zeros_before(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), '0') + text;
}

class PerfScript {
public:
  explicit PerfScript(const Subject& subject) : recording_(subject.recording), names_(subject.names) {}

  std::string text_of(const Sample& sample) {
    std::string text = head_of(sample);
    if (sample.stack != none) {
      const Stack& stack = recording_.stacks[sample.stack];
      for (const std::uint32_t location : stack.locations) append(text, location);
    }
    return text += '\n';
  }

private:
  std::string head_of(const Sample& sample) const {
    std::string name = ":-1", pid = "0", tid = "0";
    if (sample.thread != none) {
      const Thread& thread = recording_.threads[sample.thread];
      name = printable(thread.name);
      tid = std::to_string(thread.tid);
      pid = std::to_string(pid_of(recording_, sample.thread));
    }
    std::string head = right(name, 16) + ' ' + right(pid, 5) + '/' + left(tid, 5) + ' ';
    if (sample.cpu != none) head += '[' + zeros_before(std::to_string(sample.cpu), 3) + "] ";
    const std::uint64_t microseconds = sample.time / 1000;
    head += right(std::to_string(microseconds / 1'000'000), 5) + '.' +
            zeros_before(std::to_string(microseconds % 1'000'000), 6) + ": ";
    const std::uint64_t period = recording_.unit == Unit::samples && recording_.period != 0
                                     ? sample.weight * recording_.period
                                     : sample.weight;
    return head + right(std::to_string(period), 10) + ' ' + printable(recording_.event) + ": \n";
  }

  void append(std::string& text, std::uint32_t index) const {
    const Location& location = recording_.locations[index];
    const auto lines = names_.of(index);
    for (const Line& line : lines) {
      const Function& function = names_.functions[line.function];
      const bool is_last = &line == &lines.back();
      text += '\t' + right(digits_of(location.address, 16), 16) + ' ';
      text += function.is_named ? printable(function.name) : "[unknown]";
      if (is_last && function.is_named) text += "+0x" + digits_of(names_.locations[index].offset, 16);
      text += " (" + (is_last ? path_of(location) : "inlined") + ")\n";
    }
  }

  std::string path_of(const Location& location) const {
    if (location.file == none) return "[unknown]";
    const File& file = recording_.files[location.file];
    if (file.kind == FileKind::kernel) return "[kernel.kallsyms]";
    return file.path.empty() ? "[unknown]" : printable(file.path);
  }

  const Recording& recording_;
  const Names& names_;
};

} // namespace

void write_perf_script(const Subject& subject, const Sink& to) {
  PerfScript writer(subject);
  for (const Sample& sample : subject.recording.samples) to(writer.text_of(sample));
}

} // namespace sframe::profile
