// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/generate/optimize.h"

#include "sframe/elf/file.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace sframe::generate {

namespace {

/// Code that stays in memory while JoinCheck goes through a large file.
constexpr std::ptrdiff_t window = 1 << 20;

AddressSet addresses_of(std::span<const LeftOut> left_out) {
  std::vector<AddressRange> ranges;
  for (const LeftOut& range : left_out) ranges.push_back({range.start, range.size});
  return AddressSet(std::move(ranges));
}

} // namespace

JoinCheck::JoinCheck(const elf::Image& image, std::span<const LeftOut> left_out)
    : image_(image), code_(image.executable_ranges()), unused_(addresses_of(left_out)), calls_(*image.abi()) {
}

bool JoinCheck::operator()(const AddressRange& between) {
  if (!range_ || !range_->contains(between.start - 1)) range_ = range_at(code_, between.start - 1);
  if (!range_ || !range_->contains(between.end())) return false;
  if (between.empty()) return true;
  const auto next_unused = unused_.from(between.start);
  return (next_unused.empty() || !between.overlaps(next_unused.front())) && is_padding(between);
}

bool JoinCheck::is_padding(const AddressRange& range) {
  if (range.size > OptimizeOptions::max_gap) return false;
  const auto bytes = image_.read(range.start, range.size);
  if (!bytes) return false;
  pass(bytes->data());
  std::vector<std::byte>& known = known_[range.size];
  if (std::ranges::equal(*bytes, known)) return true;
  if (!calls_.is_padding(*bytes, range.start, image_.budget())) return false;
  known.assign(bytes->begin(), bytes->end());
  return true;
}

/// Releases the code before `at`, in steps of `window`.
void JoinCheck::pass(const std::byte* at) {
  if (passed_ && std::less_equal()(passed_, at) && at - passed_ < window) return;
  if (passed_ && std::less()(passed_, at)) elf::File::release_pages({passed_, at});
  passed_ = at;
}

void optimize(Builder& builder, OptimizeOptions options, const elf::Image* image,
              std::span<const LeftOut> left_out) {
  if (!image || !image->abi()) return builder.optimize(options);
  JoinCheck check(*image, left_out);
  options.expect = [&](std::uint64_t end) { check.expect(end); };
  options.may_join = std::ref(check);
  builder.optimize(options);
}

} // namespace sframe::generate
