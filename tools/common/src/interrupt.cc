// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that handlers use is atomic and is never freed. They only call async-signal-safe functions
// (POSIX).

#include "interrupt.h"

#include "sframe/base/printable.h"
#include "sframe/elf/file.h"
#include "sframe/tool/messages.h"
#include "writing_process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace sframe::tool {

struct TemporaryName::Slot {
  std::atomic<bool> used{true};
  std::atomic<bool> active{false}; ///< `path` may be read
  std::array<char, PATH_MAX> path{};
  Slot* next = nullptr;
};

namespace {

/// The signal that ends the program; 0 if none.
constinit std::atomic<int> ending{0};
constinit std::atomic<int> uninterrupted{0};
constinit std::atomic<bool> input_was_cut{false};
constinit std::array<char, 64> message_prefix{};

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<void*>::is_always_lock_free);

void end_program() {
  remove_temporaries();
  const int why = ending;
  std::signal(why, SIG_DFL);
  ::raise(why); // in a handler, takes effect when it returns
}

[[noreturn]] void wait_for_the_end() {
  for (;;) ::pause();
}

void on_signal(int number) {
  const int error = errno;
  int nothing = 0;
  // While a file is being overwritten, its thread ends the program instead.
  if (ending.compare_exchange_strong(nothing, number) && uninterrupted == 0) end_program();
  errno = error;
}

/// Text on standard error, formatted like append_printable.
class SafeLine {
public:
  void add(const char* text) {
    for (std::string_view rest = text; !rest.empty();) {
      const TextPiece piece = first_piece(rest);
      for (const char c : rest.substr(0, piece.size)) {
        constexpr char digits[] = "0123456789abcdef";
        if (piece.is_printable)
          put(c);
        else
          for (const char part : {'\\', 'x', digits[static_cast<unsigned char>(c) >> 4], digits[c & 15]})
            put(part);
      }
      rest.remove_prefix(piece.size);
    }
  }
  void end() {
    put('\n');
    flush();
  }

private:
  void put(char c) {
    if (size_ == buffer_.size()) flush();
    buffer_[size_++] = c;
  }
  void flush() {
    (void)!::write(STDERR_FILENO, buffer_.data(), size_);
    size_ = 0;
  }
  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
};

void on_bus_error(int, siginfo_t* info, void*) {
  const int error = errno;
  const auto missing = info->si_code > 0 ? elf::File::replace_missing(info->si_addr) : std::nullopt;
  if (!missing) { // a bug in the program: the instruction is repeated and ends it
    std::signal(SIGBUS, SIG_DFL);
    return;
  }
  input_was_cut = true;
  if (missing->is_first) {
    print_plain_line({message_prefix.data(), ": error: ", missing->path, ": ", cut_input});
  }
  errno = error;
}

template <class Slot> std::atomic<Slot*>& slots() {
  static constinit std::atomic<Slot*> list{nullptr}; // all slots ever allocated, for reuse
  return list;
}

} // namespace

void catch_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action {};
      if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
      action = {};
      action.sa_handler = on_signal;
      action.sa_flags = SA_RESTART;
      (void)::sigaction(number, &action, nullptr);
    }
  });
}

void print_plain_line(std::initializer_list<const char*> parts) noexcept {
  SafeLine line;
  for (const char* part : parts) line.add(part);
  line.end();
}

void remove_temporaries() noexcept {
  end_writing_process();
  for (auto* slot = slots<TemporaryName::Slot>().load(); slot; slot = slot->next)
    if (slot->active) ::unlink(slot->path.data());
}

TemporaryName::TemporaryName(const std::string& path) {
  catch_signals();
  std::atomic<Slot*>& list = slots<Slot>();
  slot_ = list.load();
  while (slot_ && slot_->used.exchange(true)) slot_ = slot_->next;
  if (!slot_) {
    slot_ = new Slot;
    for (slot_->next = list.load(); !list.compare_exchange_weak(slot_->next, slot_);) {
    }
  }
  if (path.size() >= slot_->path.size()) return; // too long to be a file name
  std::memcpy(slot_->path.data(), path.c_str(), path.size() + 1);
  slot_->active = true;
}

TemporaryName::~TemporaryName() {
  slot_->active = false;
  slot_->used = false;
}

Uninterrupted::Uninterrupted() {
  catch_signals();
  ++uninterrupted;
  if (ending == 0) return;
  if (--uninterrupted == 0) end_program();
  wait_for_the_end();
}

Uninterrupted::~Uninterrupted() {
  if (--uninterrupted == 0 && ending != 0) end_program();
}

bool is_overwriting() noexcept {
  return uninterrupted != 0;
}

void catch_bus_errors(const std::string& tool) {
  message_prefix.fill('\0');
  tool.copy(message_prefix.data(), message_prefix.size() - 1);
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  (void)::sigaction(SIGBUS, &action, nullptr);
}

int exit_code_with_inputs(int code) {
  return input_was_cut ? std::max<int>(code, exit_failure) : code;
}

} // namespace sframe::tool
