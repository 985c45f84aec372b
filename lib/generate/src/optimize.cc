// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/generate/optimize.h"

#include "sframe/code/call_end.h"
#include "sframe/elf/file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace sframe::generate {

namespace {

/// Whether ranges of an image are padding. Padding of one size mostly has the same bytes, so it is decoded
/// once.
class PaddingCheck {
public:
  explicit PaddingCheck(const elf::Image& image) : image_(image), calls_(*image.abi()) {}

  /// Loads the bytes at an address from memory, which takes longer than to compare them.
  void expect(std::uint64_t address) const {
    if (const auto bytes = image_.read(address, 1)) __builtin_prefetch(bytes->data());
  }

  bool holds(const AddressRange& range) {
    const auto bytes = image_.read(range.start, range.size);
    if (!bytes) return false;
    pass(bytes->data());
    std::vector<std::byte>& known = known_[range.size];
    if (std::ranges::equal(*bytes, known)) return true;
    if (!calls_.is_padding(*bytes, range.start, image_.budget())) return false;
    known.assign(bytes->begin(), bytes->end());
    return true;
  }

private:
  static constexpr std::ptrdiff_t window = 1 << 20;

  /// The code of a large file is read once, in order of addresses: at most `window` of it stays in memory.
  void pass(const std::byte* at) {
    if (passed_ && std::less_equal()(passed_, at) && at - passed_ < window) return;
    if (passed_ && std::less()(passed_, at)) elf::File::release_pages({passed_, at});
    passed_ = at;
  }

  const elf::Image& image_;
  code::CallEnds calls_;
  std::array<std::vector<std::byte>, OptimizeOptions::max_gap + 1> known_; ///< by size
  const std::byte* passed_ = nullptr;
};

} // namespace

void optimize(Builder& builder, OptimizeOptions options, const elf::Image* image,
              std::span<const LeftOut> left_out) {
  if (!image || !image->abi()) return builder.optimize(options);
  std::vector<AddressRange> ranges;
  for (const LeftOut& range : left_out) ranges.push_back({range.start, range.size});
  const AddressSet unused(std::move(ranges));
  const std::vector<elf::CodeRange> code = image->executable_ranges();
  PaddingCheck padding(*image);
  const elf::CodeRange* range = nullptr; // mostly that of the last call
  options.expect = [&](std::uint64_t end) { padding.expect(end); };
  options.may_join = [&](const AddressRange& between) {
    if (!range || !range->contains(between.start - 1)) range = range_at(code, between.start - 1);
    if (!range || !range->contains(between.end())) return false;
    if (between.empty()) return true;
    const auto next_unused = unused.from(between.start);
    return (next_unused.empty() || !between.overlaps(next_unused.front())) && padding.holds(between);
  };
  builder.optimize(options);
}

} // namespace sframe::generate
