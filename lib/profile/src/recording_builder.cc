// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal values are found by hash sets of indices, whose hashes and comparisons look at the values themselves:
// a value is added to its list first, and taken away again if an equal one is there, or there is no room.

#include "sframe/profile/recording_builder.h"

#include "sframe/number_hash.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace sframe::profile {

namespace {

void add(SecretHash& hash, std::string_view text) {
  hash.add(text.size());
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::copy_n(text.data(), 8, reinterpret_cast<char*>(&word));
    hash.add(word);
  }
  std::uint64_t word = 0;
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(&word));
  hash.add(word);
}

void add(SecretHash& hash, const std::string& text) {
  add(hash, std::string_view(text));
}

void add(SecretHash& hash, const File& file) {
  hash.add(static_cast<std::uint64_t>(file.kind));
  add(hash, file.path);
  add(hash, std::string_view(reinterpret_cast<const char*>(file.build_id.data()), file.build_id.size()));
}

void add(SecretHash& hash, const Location& location) {
  hash.add(location.file | std::uint64_t{location.name} << 32);
  hash.add(location.address);
  hash.add(location.guessed);
}

void add(SecretHash& hash, const End& end) {
  hash.add(end.complete);
  add(hash, end.reason);
}

void add(SecretHash& hash, const Stack& stack) {
  hash.add(stack.end);
  for (const std::uint32_t location : stack.locations) hash.add(location);
}

void add(SecretHash& hash, const Process& process) {
  hash.add(process.pid);
  add(hash, process.name);
}

void add(SecretHash& hash, const Thread& thread) {
  hash.add(thread.tid | std::uint64_t{thread.process} << 32);
  add(hash, thread.name);
}

bool equal(const File& a, const File& b) {
  // A path without a build ID may be another file in another process; generated code is that of one process.
  return a.kind == b.kind && a.path == b.path && a.build_id == b.build_id && a.identity == b.identity &&
         (a.process == b.process || (!a.build_id.empty() && a.kind != FileKind::generated));
}

template <class T> bool equal(const T& a, const T& b) {
  return a == b;
}

std::uint64_t text_size(const std::string& name) {
  return name.size();
}
std::uint64_t text_size(const File& file) {
  return file.path.size() + file.build_id.size();
}
std::uint64_t text_size(const End& end) {
  return end.reason.size();
}
std::uint64_t text_size(const Process& process) {
  return process.name.size();
}
std::uint64_t text_size(const Thread& thread) {
  return thread.name.size();
}
std::uint64_t text_size(const Location&) {
  return 0;
}
std::uint64_t text_size(const Stack&) {
  return 0;
}

std::uint64_t location_count(const Stack& stack) {
  return stack.locations.size();
}
template <class T> std::uint64_t location_count(const T&) {
  return 0;
}

/// The values of one kind, found by what they are. The set has their indices.
template <class T> class Table {
public:
  explicit Table(std::vector<T>& values) : values_(values), indices_(0, Hash{&values}, Equal{&values}) {}

  /// The index of a value that is there; or of the last one, which is added for the look-up.
  std::pair<std::uint32_t, bool> add_last(T value) {
    values_.push_back(std::move(value));
    const auto last = static_cast<std::uint32_t>(values_.size() - 1);
    const auto [at, is_new] = indices_.insert(last);
    const std::uint32_t index = *at;
    if (!is_new) values_.pop_back();
    return {index, is_new};
  }
  void remove_last() {
    indices_.erase(static_cast<std::uint32_t>(values_.size() - 1));
    values_.pop_back();
  }

private:
  struct Hash {
    const std::vector<T>* values;
    std::size_t operator()(std::uint32_t index) const {
      SecretHash hash;
      add(hash, (*values)[index]);
      return static_cast<std::size_t>(hash.value());
    }
  };
  struct Equal {
    const std::vector<T>* values;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return equal((*values)[a], (*values)[b]); }
  };

  std::vector<T>& values_;
  std::unordered_set<std::uint32_t, Hash, Equal> indices_;
};

constexpr std::uint64_t entry_bytes = 40; ///< of an index in a table, about

} // namespace

struct RecordingBuilder::Tables {
  Tables(Budget* for_input, std::uint64_t max_bytes) : budget(for_input), bytes_left(max_bytes) {}

  template <class T> std::uint32_t intern(Table<T>& table, T value) {
    const std::uint64_t text = text_size(value), places = location_count(value);
    const auto [index, is_new] = table.add_last(std::move(value));
    if (!is_new) return index;
    if (take(sizeof(T) + entry_bytes + text + places * sizeof(std::uint32_t)) && pay(text, places))
      return index;
    table.remove_last();
    is_full = true;
    return none;
  }

  bool take(std::uint64_t bytes) {
    if (bytes_left < bytes) return false;
    bytes_left -= bytes;
    return true;
  }

  bool pay(std::uint64_t text, std::uint64_t places) const {
    return !budget || (budget->take(Resource::name_bytes, text) && budget->take(Resource::frames, places));
  }

  Budget* budget;
  std::uint64_t bytes_left;
  bool is_full = false;
  Recording recording;
  Table<File> files{recording.files};
  Table<std::string> names{recording.names};
  Table<Location> locations{recording.locations};
  Table<End> ends{recording.ends};
  Table<Stack> stacks{recording.stacks};
  Table<Process> processes{recording.processes};
  Table<Thread> threads{recording.threads};
};

RecordingBuilder::RecordingBuilder(Budget* budget, std::uint64_t max_bytes)
    : tables_(std::make_unique<Tables>(budget, max_bytes)) {}
RecordingBuilder::~RecordingBuilder() = default;
RecordingBuilder::RecordingBuilder(RecordingBuilder&&) noexcept = default;
RecordingBuilder& RecordingBuilder::operator=(RecordingBuilder&&) noexcept = default;

std::uint32_t RecordingBuilder::file(const File& file) {
  return tables_->intern(tables_->files, file);
}
std::uint32_t RecordingBuilder::name(std::string_view name) {
  return tables_->intern(tables_->names, std::string(name));
}
std::uint32_t RecordingBuilder::location(const Location& location) {
  return tables_->intern(tables_->locations, location);
}
std::uint32_t RecordingBuilder::end(const End& end) {
  return tables_->intern(tables_->ends, end);
}
std::uint32_t RecordingBuilder::stack(std::span<const std::uint32_t> locations, std::uint32_t end) {
  Stack stack{{locations.begin(), locations.end()}, end};
  std::erase(stack.locations, none);
  return tables_->intern(tables_->stacks, std::move(stack));
}
std::uint32_t RecordingBuilder::process(std::uint32_t pid, std::string_view name) {
  return tables_->intern(tables_->processes, Process{pid, std::string(name)});
}
std::uint32_t RecordingBuilder::thread(std::uint32_t tid, std::uint32_t process, std::string_view name) {
  return tables_->intern(tables_->threads, Thread{tid, process, std::string(name)});
}

void RecordingBuilder::sample(const Sample& sample) {
  if (sample.stack == none || !tables_->take(sizeof(Sample))) {
    tables_->is_full = true;
    lose("no room in the recording");
    return;
  }
  tables_->recording.samples.push_back(sample);
}

void RecordingBuilder::lose(std::string_view cause, std::uint64_t count) {
  if (count == 0) return;
  auto& lost = tables_->recording.lost;
  const auto at = std::ranges::find(lost, cause, &std::pair<std::string, std::uint64_t>::first);
  if (at != lost.end())
    at->second += count;
  else
    lost.emplace_back(cause, count);
}

bool RecordingBuilder::is_full() const {
  return tables_->is_full;
}
std::size_t RecordingBuilder::samples() const {
  return tables_->recording.samples.size();
}
Recording& RecordingBuilder::recording() {
  return tables_->recording;
}

Recording RecordingBuilder::finish() && {
  Recording recording = std::move(tables_->recording);
  tables_.reset();
  std::ranges::stable_sort(recording.samples, {}, &Sample::time);
  return recording;
}

} // namespace sframe::profile
