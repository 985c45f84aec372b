// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are worked on by several threads, but their output is in the order of the command line. Each file has
// a slot that takes its results and messages. The slot of the first unfinished file writes immediately;
// output of later files is buffered.

#pragma once

#include "sframe/tool/messages.h"
#include "sframe/tool/output.h"

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::tool {

class OrderedOutput;

/// The output of one file. For one thread at a time.
class Slot final : public MessageSink {
public:
  /// The following text is one element of a list: a comma is written before each element but the first.
  void begin_element();
  void text(std::string_view text);
  using MessageSink::error;
  using MessageSink::warning;
  void error(std::string_view file, std::string_view what) override;
  void warning(std::string_view file, std::string_view what) override;
  void detail(std::string_view file, std::string_view what) override;

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
  OrderedOutput(std::size_t count, Output& out, Messages& messages);

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
  Output& out_;
  Messages& messages_;
  std::deque<Slot> slots_;
  std::size_t current_ = 0; ///< the slot that writes immediately
  bool any_element_ = false;
};

} // namespace sframe::tool
