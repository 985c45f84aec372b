// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of a mapped file, made by sframe-gen. Only lib/bpf and the C library: a loader that parses
// nothing else.

#pragma once

#include "sframe/bpf/mapped_file.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sframe::bpf {

/// All bytes up to the end; what was read before an error.
std::vector<std::byte> read_all(int file);

/// `generator - -o - --emit=bpf-table --from=FROM` at work on a file. It is killed if it takes too
/// long, or when nobody wants its table any more.
class Generation {
public:
  using Clock = std::chrono::steady_clock;

  /// Its output() is -1 if it could not be started. `is_urgent`: before other processes, if that is allowed.
  Generation(const std::string& generator, const std::string& from, int file, bool is_urgent);
  Generation(Generation&& other) noexcept : output_(-1) { swap(other); }
  Generation& operator=(Generation&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Generation() { end(true); }

  /// What to wait for, which never blocks: its output, then its end.
  int output() const { return output_.number(); }
  /// When to advance(), whatever there is to read.
  Clock::time_point deadline() const { return deadline_; }
  /// Reads what there is. True at the end: then bytes() are final.
  bool advance();
  /// The table; empty if it has failed.
  std::vector<std::byte>& bytes() { return bytes_; }
  /// Of a processor, at the end.
  std::chrono::nanoseconds used_time() const { return used_time_; }

private:
  void swap(Generation& other) noexcept;
  bool read_output();
  void end(bool has_failed);

  FileDescriptor output_;
  int child_ = 0; ///< 0: it has ended
  Clock::time_point deadline_{};
  bool is_read_ = false; ///< its output has ended
  std::vector<std::byte> bytes_;
  std::chrono::nanoseconds used_time_{};
};

} // namespace sframe::bpf
