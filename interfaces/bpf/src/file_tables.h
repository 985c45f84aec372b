// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a mapping to a table: open what is mapped there by /proc/PID/map_files, which works for deleted files
// and in containers, at once, since the process may end (opener.h); read its segments and build ID; find the
// table that another file has, or in the directory, or let sframe-gen make one; check it; give it to the
// kernel as an array map of its own; and enter the file.

#pragma once

#include "file.h"
#include "kernel_tables.h"
#include "opener.h"
#include "table_folder.h"

#include "sframe/bpf/read_table.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct pollfd;

namespace sframe::bpf {

struct KeyLess {
  bool operator()(const sframe_bpf_key& a, const sframe_bpf_key& b) const {
    return std::memcmp(&a, &b, sizeof a) < 0;
  }
};

/// What is known of a file.
struct KnownFile {
  std::uint32_t state = SFRAME_BPF_STATE_PENDING; ///< as in a word of sframe_files; PENDING: its table is
                                                  ///< being made, or has no room
  std::uint32_t number = 0;                       ///< of its code, if READY
  bool is_wanted = false;                         ///< by want()
  sframe_bpf_code code{};
  std::shared_ptr<LoadedTable> table;
};

class FileTables {
public:
  FileTables(KernelTables& kernel, sframe_bpf_counts& counts, const sframe_bpf_options& options);

  /// Enters a file, if it is not known; its table may come later. `is_wanted`: a stack has ended there. Such
  /// tables are made first.
  void add(OpenedFile opened, bool is_wanted);
  /// Its table is made first from now on.
  void want(const sframe_bpf_key& key);

  /// Files whose tables, or the rest of them, are being made.
  std::size_t num_waiting() const { return wanted_.size() + waiting_.size() + rest_.size() + made_.size(); }
  /// Whether it has to advance() before add().
  bool is_full() const;
  /// What to wait for.
  void append_polled(std::vector<pollfd>& polled) const;
  /// When it has to advance() in any case; the latest time there is if it has not.
  Generation::Clock::time_point due() const;
  /// Enters files whose tables are ready, and starts others.
  void advance();

  /// Removes tables of files that no stack has needed for two seconds, the oldest first, until so many bytes
  /// are free. False if there are not so many.
  bool make_room(std::uint64_t bytes);

  const KnownFile* find(const sframe_bpf_key& key) const;
  std::size_t size() const { return files_.size(); }

private:
  /// A large file is done in two steps: code is analysed last. Its table has rows of the first one until
  /// then.
  enum class Step : std::uint8_t { all, first, rest };
  struct Job {
    OpenedFile opened;
    Step step;
  };
  struct Made {
    Job job;
    Generation generation;
  };

  bool enter_shared(const OpenedFile& opened, const Identity& identity);
  bool enter_kept(const OpenedFile& opened, const Identity& identity);
  void count_invalid(std::span<const std::byte> bytes);
  void enter_made(Job job, std::span<const std::byte> bytes);
  void enter_rest(const OpenedFile& opened, std::span<const std::byte> bytes);
  void replace(const sframe_bpf_key& key, KnownFile& file, std::shared_ptr<LoadedTable> table);
  bool enter(const OpenedFile& opened, const Identity& identity, std::span<const std::byte> bytes,
             bool is_partial = false);
  void enter(const OpenedFile& opened, std::shared_ptr<LoadedTable> table);
  void enter(const sframe_bpf_key& key, KnownFile file);
  void start();
  void start(std::deque<Job>& queue, std::size_t at_once);
  Step first_step(const OpenedFile& opened) const;
  void retry();

  KernelTables& kernel_;
  sframe_bpf_counts& counts_;
  TableFolder folder_;
  std::string generator_;
  std::string from_;    ///< empty: all, in two steps
  std::size_t at_once_; ///< how many tables that no stack waits for are made
  std::map<sframe_bpf_key, KnownFile, KeyLess> files_;
  std::map<Identity, std::shared_ptr<LoadedTable>> by_identity_;
  std::deque<Job> wanted_, waiting_, rest_; ///< in this order; the last ones have the table of the first step
  std::vector<Made> made_;
  std::deque<std::pair<std::uint64_t, sframe_bpf_key>> refused_; ///< files without room, and when
};

} // namespace sframe::bpf
