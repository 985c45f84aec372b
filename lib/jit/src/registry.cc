// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writers know places (by start: code that is live, code that was removed) and have a lock. What readers see
// is in runs (runs.h). A change is prepared, which may fail; then it is made, which may not.

#include "sframe/jit/registry.h"

#include "rows_data.h"
#include "runs.h"

#include "sframe/base/reader_counters.h"
#include "sframe/convert.h"
#include "sframe/section.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <vector>

// The code here uses a name of its own: of several copies of this library in a process, each has its own
// list, its own locks and its own readers, whatever the exported symbol means.
extern "C" {
[[gnu::visibility("hidden")]] constinit sframe::jit::List sframe_jit_own_list;
[[gnu::alias("sframe_jit_own_list")]] extern sframe::jit::List sframe_jit_list;
}

namespace sframe::jit {

namespace {

constinit ReaderCounters readers; ///< of all registries
constinit std::mutex list_lock;   ///< of those that change the list of registries
bool is_source_added = false;     ///< with list_lock
constinit std::atomic<std::uint64_t> last_number = 0;

bool find_in(const ListedRun& run, std::uint64_t pc, SourcedRow& found) {
  const ListedCode* const code = last_before(run, pc);
  if (!code || pc - code->start >= code->size) return false;
  const RowsBlock* const rows = code->rows.load(std::memory_order_seq_cst);
  if (!rows) return false;
  const auto section = Section::parse(rows->section(), code->start);
  if (!section) return false;
  const auto match = section->find(pc);
  if (!match || !*match) return false;
  const Header& header = section->header();
  found = {resolve_fixed((*match)->row, header.fixed_ra_offset, header.fixed_fp_offset),
           (*match)->fde.signal_frame};
  return true;
}

constinit RowSource source = {&Registry::find, nullptr};

/// Makes known to other processes that have copied rows that they may not hold any more.
template <class F> void replace_rows(F&& change) noexcept {
  ++sframe_jit_own_list.replacements;
  change();
  ++sframe_jit_own_list.replacements;
  ++sframe_jit_own_list.changes;
}

template <class F> auto catching_bad_alloc(F&& change) -> decltype(change()) {
  try {
    return change();
  } catch (const std::bad_alloc&) {
    return unexpected(Error{.kind = ErrorKind::out_of_memory});
  }
}

unexpected<Error> error(ErrorKind kind) {
  return unexpected(Error{.kind = kind});
}

} // namespace

/// All formats end texts with 0.
std::string_view before_zero(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

/// Of one piece of code, with their own texts.
struct SourceLines {
  std::vector<SourceLine> lines;
  std::vector<char> files;

  explicit SourceLines(std::span<const SourceLine> from) : lines(from.begin(), from.end()) {
    for (SourceLine& one : lines) one.file = before_zero(one.file);
    const auto is_same = [](const SourceLine& a, const SourceLine& b) { return a.file == b.file; };
    std::size_t size = 0;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (i == 0 || !is_same(lines[i - 1], lines[i])) size += lines[i].file.size();
    files.reserve(size); // the texts stay where they are
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string_view file = lines[i].file;
      if (i && is_same(lines[i - 1], lines[i])) {
        lines[i].file = lines[i - 1].file;
        continue;
      }
      files.insert(files.end(), file.begin(), file.end());
      lines[i].file = {files.data() + files.size() - file.size(), file.size()};
    }
  }

  std::size_t memory() const { return sizeof *this + lines.size() * sizeof(SourceLine) + files.size(); }
};

class Registry::Impl {
public:
  Impl();
  ~Impl();

  void publish_to(Publisher& publisher) { publishers_.push_back(&publisher); }
  Result<Region> add(const Code& code, const Rows& rows);
  Result<void> remove(Region region);
  Result<void> drop(Region region);
  Result<Region> move(Region region, std::uint64_t start);
  Result<void> patch(Region region, const Rows& rows);
  std::size_t collect();
  Usage usage() const;

  std::mutex lock;

private:
  struct Place {
    std::uint64_t number;
    Rows rows;
    std::shared_ptr<const char[]> name; ///< ends with 0; may be nullptr
    std::uint32_t name_size;
    std::shared_ptr<const SourceLines> lines; ///< may be nullptr
    std::vector<bool> published;              ///< which of publishers_ have it
  };
  using Places = std::map<std::uint64_t, Place>;

  static Places::iterator first_at(Places& places, std::uint64_t start);
  static bool is_free(Places& places, std::uint64_t start, std::uint64_t size);
  Result<Region> insert(std::uint64_t start, Place place);
  Places::iterator find(Region region) { return find(live_, region); }
  static Places::iterator find(Places& places, Region region);
  PublishedCode published(Places::const_iterator at) const;
  void publish(Places::iterator at) noexcept;
  void withdraw(Places::iterator at) noexcept;
  void drop(Places::iterator at) noexcept;
  void compact() noexcept;
  void commit() noexcept {
    runs_.commit(listed_, garbage_);
    ++sframe_jit_own_list.changes;
  }
  void free_garbage() noexcept;
  void free_much_garbage() noexcept {
    constexpr std::size_t much = 64 << 10; // to look at all counters for each region is slow
    if (garbage_.bytes + waiting_.bytes >= much) free_garbage();
  }

  ListedRegistry listed_;
  Places live_, removed_;
  Runs runs_;
  std::vector<Publisher*> publishers_;
  std::size_t unpublished_ = 0;
  Garbage garbage_; ///< replaced since waiting_ was full
  Garbage waiting_; ///< freed when idle_ is complete
  std::uint64_t idle_ = 0;
};

Registry::Impl::Impl() {
  const std::lock_guard guard(list_lock);
  if (!std::exchange(is_source_added, true)) add_row_source(source);
  listed_.next.store(sframe_jit_own_list.first.load());
  sframe_jit_own_list.first.store(&listed_);
  ++sframe_jit_own_list.changes;
}

Registry::Impl::~Impl() {
  for (auto at = live_.begin(); at != live_.end(); ++at) withdraw(at);
  for (auto at = removed_.begin(); at != removed_.end(); ++at) withdraw(at);
  {
    const std::lock_guard guard(list_lock);
    const ListedRegistry* const next = listed_.next.load();
    if (sframe_jit_own_list.first.load() == &listed_) {
      sframe_jit_own_list.first.store(next);
    } else {
      const ListedRegistry* before = sframe_jit_own_list.first.load();
      while (before->next.load() != &listed_) before = before->next.load();
      const_cast<ListedRegistry*>(before)->next.store(next);
    }
    replace_rows([] {});
  }
  for (std::uint64_t idle = readers.idle(); idle != ReaderCounters::all; idle |= readers.idle())
    std::this_thread::yield();
}

/// The first place that ends after the address.
Registry::Impl::Places::iterator Registry::Impl::first_at(Places& places, std::uint64_t start) {
  auto at = places.upper_bound(start);
  if (at != places.begin())
    if (const auto before = std::prev(at); start - before->first < before->second.rows.code_size())
      at = before;
  return at;
}

bool Registry::Impl::is_free(Places& places, std::uint64_t start, std::uint64_t size) {
  const auto at = first_at(places, start);
  return at == places.end() || (at->first > start && at->first - start >= size);
}

Result<Region> Registry::Impl::insert(std::uint64_t start, Place place) {
  const std::uint64_t size = place.rows.code_size();
  if (start == 0 || size - 1 > ~start) return error(ErrorKind::bad_range);
  if (place.rows.abi().id != host_abi()) return error(ErrorKind::wrong_abi);
  if (!is_free(live_, start, size)) return error(ErrorKind::overlap);
  return catching_bad_alloc([&]() -> Result<Region> {
    place.number = ++last_number;
    place.published.assign(publishers_.size(), false);
    Places one;
    const auto at = one.emplace(start, std::move(place)).first;
    const Place& made = at->second;
    std::size_t replaced = 0;
    for (auto old = first_at(removed_, start);
         old != removed_.end() && (old->first <= start || old->first - start < size); ++old)
      ++replaced;
    runs_.prepare({start, size, made.rows.data_->block(), made.name.get()}, garbage_, 2 * replaced);
    for (auto old = first_at(removed_, start); replaced; --replaced) {
      const auto next = std::next(old);
      drop(old);
      removed_.erase(old);
      old = next;
    }
    commit();
    publish(live_.insert(one.extract(at)).position);
    free_much_garbage();
    return Region{made.number, start};
  });
}

Result<Region> Registry::Impl::add(const Code& code, const Rows& rows) {
  return catching_bad_alloc([&] {
    const std::string_view name = before_zero(code.name);
    std::shared_ptr<char[]> copy;
    if (!name.empty()) {
      copy = std::make_shared<char[]>(name.size() + 1);
      std::memcpy(copy.get(), name.data(), name.size());
    }
    auto lines = code.lines.empty() ? nullptr : std::make_shared<const SourceLines>(code.lines);
    return insert(reinterpret_cast<std::uint64_t>(code.start),
                  {0, rows, std::move(copy), static_cast<std::uint32_t>(name.size()), std::move(lines), {}});
  });
}

Registry::Impl::Places::iterator Registry::Impl::find(Places& places, Region region) {
  const auto at = places.find(region.start);
  return at != places.end() && at->second.number == region.number ? at : places.end();
}

Result<void> Registry::Impl::remove(Region region) {
  const auto at = find(region);
  if (at == live_.end()) return error(ErrorKind::no_region);
  removed_.insert(live_.extract(at));
  return {};
}

Result<void> Registry::Impl::drop(Region region) {
  for (Places* const places : {&live_, &removed_}) {
    const auto at = find(*places, region);
    if (at == places->end()) continue;
    return catching_bad_alloc([&]() -> Result<void> {
      garbage_.reserve(2);
      drop(at);
      places->erase(at);
      compact();
      free_much_garbage();
      return {};
    });
  }
  return error(ErrorKind::no_region);
}

Result<Region> Registry::Impl::move(Region region, std::uint64_t start) {
  const auto at = find(region);
  if (at == live_.end()) return error(ErrorKind::no_region);
  const auto moved = catching_bad_alloc([&] { return insert(start, at->second); });
  if (moved) removed_.insert(live_.extract(at));
  return moved;
}

Result<void> Registry::Impl::patch(Region region, const Rows& rows) {
  const auto at = find(region);
  if (at == live_.end()) return error(ErrorKind::no_region);
  Place& place = at->second;
  if (rows.abi().id != host_abi()) return error(ErrorKind::wrong_abi);
  if (rows.code_size() != place.rows.code_size()) return error(ErrorKind::wrong_size);
  return catching_bad_alloc([&]() -> Result<void> {
    garbage_.reserve(1);
    withdraw(at);
    replace_rows(
        [&] { runs_.entry(region.start).rows.store(rows.data_->block(), std::memory_order_seq_cst); });
    const std::size_t size = place.rows.memory();
    garbage_.put(std::exchange(place.rows, rows).data_, size);
    publish(at);
    free_much_garbage();
    return {};
  });
}

PublishedCode Registry::Impl::published(Places::const_iterator at) const {
  const Place& place = at->second;
  return {at->first,
          {place.name.get(), place.name ? place.name_size : 0},
          place.rows,
          place.lines ? std::span(place.lines->lines) : std::span<const SourceLine>()};
}

void Registry::Impl::publish(Places::iterator at) noexcept {
  for (std::size_t i = 0; i < at->second.published.size(); ++i) {
    bool done = false;
    try {
      done = publishers_[i]->add(published(at));
    } catch (const std::bad_alloc&) { // as if it had returned false
    }
    at->second.published[i] = done;
    unpublished_ += !done;
  }
}

void Registry::Impl::withdraw(Places::iterator at) noexcept {
  for (std::size_t i = 0; i < at->second.published.size(); ++i)
    if (at->second.published[i]) publishers_[i]->drop(published(at));
}

/// Drops a place's rows. There is room for two more in the garbage.
void Registry::Impl::drop(Places::iterator at) noexcept {
  withdraw(at);
  Place& place = at->second;
  replace_rows([&] { runs_.drop(at->first); });
  const std::size_t size = place.rows.data_.use_count() == 1 ? place.rows.memory() : 0;
  garbage_.put(std::move(place.rows.data_), size);
  if (place.name) garbage_.put(std::move(place.name), place.name_size + 1);
}

std::size_t Registry::Impl::collect() {
  std::size_t dropped = 0;
  try {
    for (; !removed_.empty(); ++dropped) {
      garbage_.reserve(2);
      drop(removed_.begin());
      removed_.erase(removed_.begin());
    }
    compact();
  } catch (const std::bad_alloc&) { // the rest waits for the next call
  }
  free_garbage();
  return dropped;
}

/// Without entries of removed code, if they are most. If memory runs out, the next call does it.
void Registry::Impl::compact() noexcept {
  try {
    if (runs_.prepare_compact(garbage_)) commit();
  } catch (const std::bad_alloc&) {
  }
}

/// Twice, so that what nobody uses is freed at once.
void Registry::Impl::free_garbage() noexcept {
  for (int i = 0; i < 2; ++i) {
    if (waiting_.what.empty()) {
      std::swap(waiting_, garbage_);
      idle_ = 0;
    }
    if (waiting_.what.empty()) return;
    idle_ |= readers.idle();
    if (idle_ == ReaderCounters::all) waiting_.clear();
  }
}

Registry::Usage Registry::Impl::usage() const {
  constexpr std::size_t node = sizeof(Places::value_type) + 4 * sizeof(void*);
  Usage usage{.regions = live_.size(),
              .removed = removed_.size(),
              .bytes = runs_.memory(),
              .to_be_freed = garbage_.bytes + waiting_.bytes,
              .unpublished = unpublished_};
  for (const Places* places : {&live_, &removed_})
    for (const auto& [start, place] : *places)
      usage.bytes +=
          node + (place.name ? place.name_size + 1 : 0) + (place.lines ? place.lines->memory() : 0) +
          place.rows.memory() / static_cast<std::size_t>(std::max(1L, place.rows.data_.use_count()));
  return usage;
}

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

void Registry::publish_to(Publisher& publisher) {
  const std::lock_guard guard(impl_->lock);
  impl_->publish_to(publisher);
}

Result<Region> Registry::add(const Code& code, const Rows& rows) {
  const std::lock_guard guard(impl_->lock);
  return impl_->add(code, rows);
}

Result<void> Registry::remove(Region region) {
  const std::lock_guard guard(impl_->lock);
  return impl_->remove(region);
}

Result<void> Registry::drop(Region region) {
  const std::lock_guard guard(impl_->lock);
  return impl_->drop(region);
}

Result<Region> Registry::move(Region region, const void* start) {
  const std::lock_guard guard(impl_->lock);
  return impl_->move(region, reinterpret_cast<std::uint64_t>(start));
}

Result<void> Registry::patch(Region region, const Rows& rows) {
  const std::lock_guard guard(impl_->lock);
  return impl_->patch(region, rows);
}

std::size_t Registry::collect() {
  const std::lock_guard guard(impl_->lock);
  return impl_->collect();
}

Registry::Usage Registry::usage() const {
  const std::lock_guard guard(impl_->lock);
  return impl_->usage();
}

bool Registry::find(std::uint64_t pc, SourcedRow& found) noexcept {
  const ReaderCounters::Use use(readers);
  for (const ListedRegistry* one = sframe_jit_own_list.first.load(); one; one = one->next.load()) {
    const ListedTable* const table = one->table.load();
    for (std::uint64_t i = 0; table && i < table->count; ++i)
      if (find_in(table->runs[i], pc, found)) return true;
  }
  return false;
}

} // namespace sframe::jit
