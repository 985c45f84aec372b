// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is kept of a core until it is its turn, and InOrder, by which it gets its turn: a thread that is too
// far ahead is held back, so that results that wait have at most 64 MiB.

#pragma once

#include "folded.h"
#include "stack_tree.h"

#include "sframe/crash/signature.h"
#include "sframe/tool/messages.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

/// Messages about one core, until it is its turn.
class KeptMessages final : public tool::MessageSink {
public:
  enum class Kind : std::uint8_t { error, warning, detail };
  struct Message {
    Kind kind;
    std::string file, what;
  };
  using MessageSink::error;
  using MessageSink::warning;
  void error(std::string_view file, std::string_view what) override { add(Kind::error, file, what); }
  void warning(std::string_view file, std::string_view what) override { add(Kind::warning, file, what); }
  void detail(std::string_view file, std::string_view what) override { add(Kind::detail, file, what); }

  std::vector<Message> all;

private:
  void add(Kind kind, std::string_view file, std::string_view what) {
    all.push_back({kind, std::string(file), std::string(what)});
  }
};

struct CoreResult {
  enum class State : std::uint8_t { walked, failed, skipped };
  State state = State::skipped;
  bool wrong = false; ///< incomplete, or not certain
  KeptMessages messages;
  crash::Signature signature;
  std::int32_t signal = 0;
  std::string program; ///< as the process is called
  std::string json;    ///< a line
  std::vector<StackTree::Frame> frames;
  profile::StackCounts counts; ///< if stacks are counted
  std::map<unwind::StopReason, std::uint64_t> cut;

  std::size_t size() const {
    std::size_t size = json.size() + frames.size() * sizeof(StackTree::Frame) + sizeof *this;
    for (const auto& [stack, count] : counts) size += stack.size() + sizeof count;
    for (const StackTree::Frame& frame : frames) size += frame.function.size() + frame.module.size();
    for (const std::string& frame : signature.frames) size += frame.size();
    return size;
  }
};

/// Hands over the results of pieces in their order. A piece that is far ahead of the others waits, so that
/// the results that are kept have a limited size.
template <class Consume> class InOrder {
public:
  explicit InOrder(Consume consume) : consume_(std::move(consume)) {}

  void deliver(std::size_t piece, CoreResult result) {
    std::unique_lock lock(mutex_);
    const std::size_t size = result.size();
    turn_.wait(lock, [&] { return piece == next_ || waiting_size_ + size <= most_waiting || given_up_; });
    if (given_up_) return;
    waiting_size_ += size;
    waiting_.emplace(piece, std::move(result));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
         first = waiting_.erase(first), ++next_) {
      waiting_size_ -= first->second.size();
      consume_(first->first, first->second);
    }
    turn_.notify_all();
  }

  /// A piece will not be delivered: no other must wait for it.
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    turn_.notify_all();
  }

private:
  static constexpr std::size_t most_waiting = std::size_t{64} << 20;

  std::mutex mutex_;
  std::condition_variable turn_;
  Consume consume_;
  std::map<std::size_t, CoreResult> waiting_;
  std::size_t waiting_size_ = 0;
  std::size_t next_ = 0;
  bool given_up_ = false;
};

} // namespace sframe::unwind_tool
