// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file goes through wanted_ or waiting_ (opened, its table has to be made) and made_ (sframe-gen is at
// work) to files_, where it is PENDING until then. What has a table with its build ID, or one in the folder,
// is entered at once. If its table is made in two steps, the file goes through rest_ and made_ again.

#include "file_tables.h"

#include <algorithm>
#include <bit>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace sframe::bpf {

namespace {

constexpr std::size_t max_waiting = 256, max_rest = 512; ///< each has an open file
constexpr std::size_t most_at_once = 4;                  ///< tables that are made
constexpr std::uint64_t unused_time = 2;                 ///< seconds, about
/// Bytes of code from which on two steps are faster: below, most of the time is sframe-gen's start.
constexpr std::uint64_t large_code = 512 << 10;

Identity identity_of(const OpenedFile& opened) {
  return {opened.image->build_id, opened.owner};
}

/// Nothing if it is damaged, or none.
std::optional<Table> parse(std::span<const std::byte> bytes) {
  const auto table = Table::parse(bytes);
  if (table && table->words().big_endian == (std::endian::native == std::endian::big)) return *table;
  return std::nullopt;
}

} // namespace

FileTables::FileTables(KernelTables& kernel, sframe_bpf_counts& counts, const sframe_bpf_options& options)
    : kernel_(kernel), counts_(counts),
      folder_(options.directory ? options.directory : "", options.keep != 0, options.keep_bytes, counts),
      generator_(options.generator ? options.generator : ""), from_(options.from ? options.from : ""),
      at_once_(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_at_once)) {}

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

void FileTables::enter(const OpenedFile& opened, std::shared_ptr<LoadedTable> table) {
  KnownFile file;
  file.state = SFRAME_BPF_STATE_READY;
  file.code.key = opened.mapping.key;
  file.code.slot = table->slot;
  file.code.table = table->header;
  file.code.entry = opened.image->entry;
  file.code.partial = table->is_partial;
  std::memcpy(file.code.segments, opened.image->segments, sizeof file.code.segments);
  file.table = std::move(table);
  enter(opened.mapping.key, std::move(file));
}

/// By a valid table. False if there is no room for it.
bool FileTables::enter(const OpenedFile& opened, const Identity& identity, std::span<const std::byte> bytes,
                       bool is_partial) {
  auto loaded = kernel_.load(bytes);
  if (!loaded) {
    enter(opened.mapping.key, KnownFile{.state = SFRAME_BPF_STATE_PENDING});
    refused_.emplace_back(KernelTables::now(), opened.mapping.key);
    return false;
  }
  loaded->is_partial = is_partial;
  auto shared = std::make_shared<LoadedTable>(std::move(*loaded));
  if (!identity.build_id.empty()) by_identity_.emplace(identity, shared);
  enter(opened, std::move(shared));
  return true;
}

/// Of what was made of a file.
void FileTables::count_invalid(std::span<const std::byte> bytes) {
  ++(bytes.empty() ? counts_.no_table : counts_.damaged);
}

/// By what has been made of it; nothing, if that was not possible.
void FileTables::enter_made(Job job, std::span<const std::byte> bytes) {
  const OpenedFile& opened = job.opened;
  if (job.step == Step::rest) return enter_rest(opened, bytes);
  const bool is_valid = parse(bytes).has_value();
  if (job.step == Step::first && !is_valid) { // it may have code only
    job.step = Step::all;
    const auto file = files_.find(opened.mapping.key);
    const bool is_wanted = file != files_.end() && file->second.is_wanted;
    (is_wanted ? wanted_ : waiting_).push_front(std::move(job));
    return;
  }
  if (!is_valid) {
    count_invalid(bytes);
    return enter(opened.mapping.key, KnownFile{.state = SFRAME_BPF_STATE_NONE});
  }
  const bool is_partial = job.step == Step::first;
  const bool is_entered = enter(opened, identity_of(opened), bytes, is_partial);
  if (!is_partial) return folder_.keep(identity_of(opened), bytes);
  if (is_entered) rest_.push_back({std::move(job.opened), Step::rest});
}

/// The second step. If it fails, or has no room, the table of the first one stays as it is. Nothing if that
/// was removed meanwhile.
void FileTables::enter_rest(const OpenedFile& opened, std::span<const std::byte> bytes) {
  const bool is_valid = parse(bytes).has_value();
  if (is_valid)
    folder_.keep(identity_of(opened), bytes);
  else
    count_invalid(bytes);
  const auto known = files_.find(opened.mapping.key);
  if (known == files_.end() || !known->second.code.partial) return;
  const std::shared_ptr<LoadedTable> old = known->second.table;
  std::shared_ptr<LoadedTable> table;
  if (is_valid)
    if (auto loaded = kernel_.load(bytes)) table = std::make_shared<LoadedTable>(std::move(*loaded));
  const auto has = [&](const auto& wanted) {
    return std::ranges::any_of(files_, [&](const auto& one) { return one.second.table == wanted; });
  };
  const bool is_known = has(old); // load() may have removed it, to make room
  for (auto& [key, file] : files_)
    if (file.table == old) replace(key, file, table);
  counts_.partial += has(old);
  old->is_partial = false; // nothing more comes
  if (!table) return;
  std::erase_if(by_identity_, [&](const auto& one) { return one.second == old; });
  if (is_known && !has(old)) kernel_.unload(*old);
  if (!has(table))
    kernel_.unload(*table);
  else if (!identity_of(opened).build_id.empty())
    by_identity_.emplace(identity_of(opened), table);
}

/// The table of a file; without another one, or without room for it, the file keeps what it has.
void FileTables::replace(const sframe_bpf_key& key, KnownFile& file, std::shared_ptr<LoadedTable> table) {
  sframe_bpf_code code = file.code;
  code.partial = 0;
  if (table) {
    code.slot = table->slot;
    code.table = table->header;
    const auto number = kernel_.add_code(code);
    if (number && kernel_.set_file(key, SFRAME_BPF_STATE_READY | std::uint64_t{*number} << 32)) {
      kernel_.remove_code(std::exchange(file.number, *number));
      file.code = code;
      file.table = std::move(table);
      return;
    }
    if (number) kernel_.remove_code(*number);
  }
  file.code.partial = 0;
  kernel_.change_code(file.number, file.code);
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
    std::erase_if(by_identity_, [&, table = table](const auto& one) { return one.second.get() == table; });
    kernel_.unload(removed);
    ++counts_.evicted;
  }
  return true;
}

/// By the table of another file. False if there is none.
bool FileTables::enter_shared(const OpenedFile& opened, const Identity& identity) {
  const auto found = by_identity_.find(identity);
  if (found == by_identity_.end()) return false;
  ++counts_.shared;
  enter(opened, found->second);
  return true;
}

/// By a table in the folder. False if there is none that is right: then it can be made.
bool FileTables::enter_kept(const OpenedFile& opened, const Identity& identity) {
  const auto bytes = folder_.read(identity);
  if (bytes.empty()) return false;
  const auto table = parse(bytes);
  // Or that of another file.
  if (!table || !std::ranges::equal(table->build_id(), std::as_bytes(std::span(identity.build_id)))) {
    ++counts_.damaged;
    return false;
  }
  enter(opened, identity, bytes);
  return true;
}

void FileTables::add(OpenedFile opened, bool is_wanted) {
  const sframe_bpf_key key = opened.mapping.key;
  if (files_.contains(key)) {
    if (is_wanted) want(key);
    return;
  }
  if (opened.file.number() < 0 || is_full()) {
    ++(opened.file.number() < 0 ? counts_.gone : counts_.too_many);
    kernel_.remove_file(key); // the next stack asks again
    return;
  }
  if (!opened.image) {
    ++counts_.not_elf;
    return enter(key, KnownFile{.state = SFRAME_BPF_STATE_NOT_ELF});
  }
  const Identity identity = identity_of(opened), of_all{identity.build_id, {}};
  if (enter_shared(opened, of_all) || enter_kept(opened, of_all)) return;
  if (identity.owner && (enter_shared(opened, identity) || enter_kept(opened, identity))) return;
  if (generator_.empty()) return enter_made({std::move(opened), Step::all}, {});
  files_[key].is_wanted = is_wanted;
  const Step step = is_wanted || !folder_.keeps() ? first_step(opened) : Step::all; // kept ones are whole
  (is_wanted ? wanted_ : waiting_).push_back({std::move(opened), step});
  start();
}

FileTables::Step FileTables::first_step(const OpenedFile& opened) const {
  std::uint64_t bytes = 0;
  for (const sframe_bpf_segment& segment : opened.image->segments) bytes += segment.size;
  return from_.empty() && bytes >= large_code ? Step::first : Step::all;
}

void FileTables::want(const sframe_bpf_key& key) {
  const auto file = files_.find(key);
  if (file == files_.end() || std::exchange(file->second.is_wanted, true)) return;
  const auto is_same = [&](const Job& one) {
    return std::memcmp(&one.opened.mapping.key, &key, sizeof key) == 0;
  };
  for (std::deque<Job>* const queue : {&waiting_, &rest_}) {
    const auto found = std::ranges::find_if(*queue, is_same);
    if (found == queue->end()) continue;
    if (found->step == Step::all) found->step = first_step(found->opened);
    wanted_.push_back(std::move(*found));
    queue->erase(found);
    return;
  }
}

/// Files with one build ID wait for the first of them.
void FileTables::start(std::deque<Job>& queue, std::size_t at_once) {
  const auto is_made = [&](const OpenedFile& one) {
    return !one.image->build_id.empty() && std::ranges::any_of(made_, [&](const Made& made) {
      return identity_of(made.job.opened) == identity_of(one);
    });
  };
  std::vector<Job> failed;
  for (auto at = queue.begin(); at != queue.end() && made_.size() < at_once;) {
    if (is_made(at->opened)) {
      ++at;
      continue;
    }
    Job job = std::move(*at);
    at = queue.erase(at);
    if (job.step != Step::rest && enter_shared(job.opened, identity_of(job.opened))) continue;
    const std::string from = job.step == Step::first ? "tables" : from_.empty() ? "all" : from_;
    const bool is_urgent = &queue == &wanted_ && job.step != Step::rest;
    ::lseek(job.opened.file.number(), 0, SEEK_SET); // where the first step has left it
    Generation generation(generator_, from, job.opened.file.number(), is_urgent);
    if (generation.output() < 0)
      failed.push_back(std::move(job));
    else
      made_.push_back({std::move(job), std::move(generation)});
  }
  for (Job& job : failed) {
    if (job.step == Step::first) job.step = Step::all; // the other one could not be started, either
    enter_made(std::move(job), {});
  }
}

void FileTables::start() {
  start(wanted_, most_at_once); // also where there are fewer processors: a large file holds up no other one
  start(waiting_, at_once_);
  start(rest_, at_once_);
}

bool FileTables::is_full() const {
  return wanted_.size() + waiting_.size() >= max_waiting || rest_.size() >= max_rest;
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
    counts_.making_time += static_cast<std::uint64_t>(done.generation.used_time().count());
    enter_made(std::move(done.job), done.generation.bytes());
  }
  start();
  retry();
}

const KnownFile* FileTables::find(const sframe_bpf_key& key) const {
  const auto found = files_.find(key);
  return found == files_.end() ? nullptr : &found->second;
}

} // namespace sframe::bpf
