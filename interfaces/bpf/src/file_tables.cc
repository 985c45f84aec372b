// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file goes through waiting_ (opened, its table has to be made) and made_ (sframe-gen is at work) to
// files_, where it is PENDING until then. What has a table with its build ID, or one in the directory, is
// entered at once.

#include "file_tables.h"

#include "sframe/bpf/read_table.h"

#include <algorithm>
#include <bit>
#include <poll.h>
#include <thread>
#include <utility>

namespace sframe::bpf {

namespace {

constexpr std::size_t max_waiting = 256; ///< each has an open file
constexpr std::uint64_t unused_time = 2; ///< seconds, about

} // namespace

FileTables::FileTables(KernelTables& kernel, sframe_bpf_counts& counts, const sframe_bpf_options& options)
    : kernel_(kernel), counts_(counts), directory_(options.directory ? options.directory : ""),
      generator_(options.generator ? options.generator : ""), from_(options.from ? options.from : "cfi,code"),
      at_once_(std::clamp(std::thread::hardware_concurrency(), 1u, 4u)) {}

/// Nothing, and the state that the file has then, if it cannot be loaded.
std::shared_ptr<const LoadedTable> FileTables::load(std::span<const std::byte> bytes,
                                                    const std::string& build_id, std::uint32_t& state) {
  const auto table = Table::parse(bytes);
  state = SFRAME_BPF_STATE_NONE;
  if (!table || table->words().big_endian != (std::endian::native == std::endian::big)) {
    ++counts_.damaged;
    return nullptr;
  }
  auto loaded = kernel_.load(bytes);
  state = loaded ? SFRAME_BPF_STATE_READY : SFRAME_BPF_STATE_PENDING;
  if (!loaded) return nullptr;
  auto shared = std::make_shared<const LoadedTable>(std::move(*loaded));
  if (!build_id.empty()) by_build_id_.emplace(build_id, shared);
  return shared;
}

void FileTables::enter(const sframe_bpf_key& key, KnownFile file) {
  if (file.state == SFRAME_BPF_STATE_READY) {
    const auto number = kernel_.add_code(file.code);
    if (number)
      file.number = *number;
    else
      file.state = SFRAME_BPF_STATE_NONE;
  }
  if (!kernel_.set_file(key, file.state | std::uint64_t{file.number} << 32)) {
    ++counts_.no_room;
    if (file.state == SFRAME_BPF_STATE_READY) kernel_.remove_code(file.number);
    files_.erase(key);
    return;
  }
  files_[key] = std::move(file);
}

void FileTables::enter(const OpenedFile& opened, std::shared_ptr<const LoadedTable> table) {
  KnownFile file;
  file.state = SFRAME_BPF_STATE_READY;
  file.code.key = opened.mapping.key;
  file.code.slot = table->slot;
  file.code.table = table->header;
  file.code.entry = opened.image->entry;
  std::memcpy(file.code.segments, opened.image->segments, sizeof file.code.segments);
  file.table = std::move(table);
  enter(opened.mapping.key, std::move(file));
}

/// Of a file whose table has been made or read.
void FileTables::enter(const OpenedFile& opened, std::span<const std::byte> bytes) {
  std::uint32_t state = SFRAME_BPF_STATE_NONE;
  if (bytes.empty())
    ++counts_.no_table;
  else if (auto table = load(bytes, opened.image->build_id, state))
    return enter(opened, std::move(table));
  enter(opened.mapping.key, KnownFile{.state = state});
  if (state == SFRAME_BPF_STATE_PENDING) refused_.emplace_back(KernelTables::now(), opened.mapping.key);
}

/// Some seconds later stacks may ask again for files that there was no room for.
void FileTables::retry() {
  while (!refused_.empty() && KernelTables::now() > refused_.front().first + unused_time) {
    const sframe_bpf_key key = refused_.front().second;
    refused_.pop_front();
    files_.erase(key);
    kernel_.remove_file(key);
  }
}

bool FileTables::make_room(std::uint64_t bytes) {
  std::map<const LoadedTable*, std::uint64_t> uses;
  for (const auto& [key, file] : files_)
    if (file.table) uses[file.table.get()] = std::max(uses[file.table.get()], kernel_.last_use(file.number));
  std::vector<std::pair<std::uint64_t, const LoadedTable*>> oldest;
  std::uint64_t sum = 0;
  for (const auto& [table, use] : uses) {
    if (use + unused_time >= KernelTables::now()) continue;
    oldest.emplace_back(use, table);
    sum += table->size;
  }
  if (sum < bytes) return false;
  std::ranges::sort(oldest);
  std::uint64_t freed = 0;
  for (const auto& [use, table] : oldest) {
    if (freed >= bytes) break;
    freed += table->size;
    const LoadedTable removed = *table; // the last owner goes
    std::erase_if(files_, [&, table = table](const auto& one) {
      if (one.second.table.get() != table) return false;
      kernel_.remove_file(one.first);
      kernel_.remove_code(one.second.number);
      return true;
    });
    std::erase_if(by_build_id_, [&, table = table](const auto& one) { return one.second.get() == table; });
    kernel_.unload(removed);
    ++counts_.evicted;
  }
  return true;
}

/// Enters the file if its table is there.
bool FileTables::find_table(const OpenedFile& opened) {
  const std::string& build_id = opened.image->build_id;
  if (const auto found = by_build_id_.find(build_id); found != by_build_id_.end()) {
    ++counts_.shared;
    enter(opened, found->second);
    return true;
  }
  const auto bytes = read_table_file(directory_, build_id);
  if (bytes.empty()) return false;
  enter(opened, bytes);
  return true;
}

void FileTables::add(OpenedFile opened) {
  const sframe_bpf_key key = opened.mapping.key;
  if (files_.contains(key)) return;
  if (opened.file.number() < 0 || is_full()) {
    ++(opened.file.number() < 0 ? counts_.gone : counts_.too_many);
    kernel_.remove_file(key); // the next stack asks again
    return;
  }
  if (!opened.image) {
    ++counts_.not_elf;
    return enter(key, KnownFile{.state = SFRAME_BPF_STATE_NOT_ELF});
  }
  if (find_table(opened)) return;
  if (generator_.empty()) return enter(opened, std::span<const std::byte>());
  files_[key] = {};
  waiting_.push_back(std::move(opened));
  start();
}

/// Files with one build ID wait for the first of them.
void FileTables::start() {
  const auto is_made = [&](const OpenedFile& one) {
    return !one.image->build_id.empty() && std::ranges::any_of(made_, [&](const Made& made) {
      return made.opened.image->build_id == one.image->build_id;
    });
  };
  for (auto at = waiting_.begin(); at != waiting_.end() && made_.size() < at_once_;) {
    if (is_made(*at)) {
      ++at;
      continue;
    }
    OpenedFile opened = std::move(*at);
    at = waiting_.erase(at);
    if (find_table(opened)) continue;
    Generation generation(generator_, from_, opened.file.number());
    if (generation.output() < 0)
      enter(opened, std::span<const std::byte>());
    else
      made_.push_back({std::move(opened), std::move(generation)});
  }
}

bool FileTables::is_full() const {
  return waiting_.size() == max_waiting;
}

void FileTables::append_polled(std::vector<pollfd>& polled) const {
  for (const Made& one : made_) polled.push_back({one.generation.output(), POLLIN, 0});
}

Generation::Clock::time_point FileTables::due() const {
  auto soonest = Generation::Clock::time_point::max();
  for (const Made& one : made_) soonest = std::min(soonest, one.generation.deadline());
  return soonest;
}

void FileTables::advance() {
  for (std::size_t i = 0; i < made_.size();) {
    if (!made_[i].generation.advance()) {
      ++i;
      continue;
    }
    Made done = std::move(made_[i]);
    made_.erase(made_.begin() + static_cast<std::ptrdiff_t>(i));
    enter(done.opened, done.generation.bytes());
  }
  start();
  retry();
}

const KnownFile* FileTables::find(const sframe_bpf_key& key) const {
  const auto found = files_.find(key);
  return found == files_.end() ? nullptr : &found->second;
}

} // namespace sframe::bpf
