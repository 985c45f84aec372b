// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are verified on several threads, but their output is in the order of the command line. Each file has
// a slot that takes its results and messages. The slot of the first unfinished file writes immediately;
// output of later files is buffered.

#pragma once

#include <sframe/tool/messages.h>
#include <sframe/tool/output.h>
#include <sframe/verify/report.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace sframe::verify {

class OrderedOutput;

/// The output of one file. For one thread at a time.
class Slot final : public Channel {
public:
  void begin_element() override;
  void text(std::string_view text) override;
  void error(const std::string& file, const Problem& problem);
  void warning(const std::string& file, const Problem& problem);
  void detail(const std::string& file, const std::string& what);

private:
  friend class OrderedOutput;
  struct Item {
    enum class Kind { text, element, error, warning, detail } kind;
    std::string file, text;
  };
  OrderedOutput* owner_ = nullptr;
  std::size_t number_ = 0;
  std::vector<Item> waiting_;
  bool closed_ = false;
};

class OrderedOutput {
public:
  OrderedOutput(std::size_t count, tool::Output& out, tool::Messages& messages);

  Slot& slot(std::size_t number) { return slots_[number]; }
  /// Ends the output of this slot.
  void close(std::size_t number);
  /// True if the output cannot be written: further work is pointless.
  bool failed();

private:
  friend class Slot;
  void take(Slot& slot, Slot::Item item);
  void write(const Slot::Item& item);

  std::mutex mutex_;
  tool::Output& out_;
  tool::Messages& messages_;
  std::deque<Slot> slots_;
  std::size_t current_ = 0; ///< the slot that writes immediately
  bool any_element_ = false;
};

} // namespace sframe::verify
