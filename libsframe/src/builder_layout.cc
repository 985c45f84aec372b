// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of building a section: finish() sorts the functions, and writes their entries and each run of
// encoded rows in that order.

#include "sframe/builder.h"

#include "format/version.h"
#include "refused.h"
#include "sframe/section.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace sframe {

/// The numbers of the functions, sorted by the distance from the section, which readers compare
/// (Section::find_fde). It differs from address order if functions are on both sides of the section, near the
/// top and the bottom of the address space.
std::vector<std::uint32_t> Builder::by_distance(std::uint64_t address) const {
  const auto key = [&](std::uint32_t number) {
    constexpr std::uint64_t lowest = std::uint64_t{1} << 63; // in the order of signed numbers
    return functions_[number].fde.start - address + lowest;
  };
  std::vector<std::uint32_t> order(functions_.size());
  std::iota(order.begin(), order.end(), 0u);
  if (std::ranges::adjacent_find(order, std::ranges::greater_equal(), key) == order.end()) return order;

  const auto bytes_of = [&](const Function& f) { return run_bytes(runs_[f.run]); };
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (key(a) != key(b)) return key(a) < key(b);
    const Function &x = functions_[a], &y = functions_[b];
    if (x.fde.size != y.fde.size) return x.fde.size < y.fde.size;
    return std::ranges::lexicographical_compare(bytes_of(x), bytes_of(y));
  });
  return order;
}

std::uint64_t Builder::field_offset(std::uint64_t position) const {
  return header_size + options_.aux_header.size() + position * version_->entry_size;
}

std::uint64_t Builder::size() const {
  return field_offset(functions_.size()) + encoded_.size();
}

StartFields StartFields::make(VersionNumber version, std::uint64_t lowest, std::uint64_t highest,
                              std::uint64_t num_fdes) {
  constexpr std::uint64_t max_aux_header = 0xff;
  return {lowest, highest + header_size + max_aux_header + num_fdes * traits(version).entry_size};
}

bool StartFields::reach(VersionNumber version, std::uint64_t start) const {
  if (traits(version).start_size == 8) return true;
  const auto fits = [&](std::uint64_t field) {
    const auto distance = static_cast<std::int64_t>(start - field);
    return distance == static_cast<std::int32_t>(distance);
  };
  return fits(first) && fits(last);
}

std::optional<Builder::SectionAddresses> Builder::section_addresses() const {
  SectionAddresses range{0, std::numeric_limits<std::uint64_t>::max()};
  if (version_->start_size == 8 || functions_.empty()) return range;
  // The lowest and highest functions decide, except for their fields' positions in the index; so all are
  // checked.
  std::vector<std::uint64_t> starts;
  for (const Function& function : functions_) starts.push_back(function.fde.start);
  std::ranges::sort(starts);
  __extension__ using Wide = __int128;
  Wide lowest = 0, highest = range.highest;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Wide centre = Wide{starts[i]} - (options_.pcrel ? Wide{field_offset(i)} : 0);
    lowest = std::max(lowest, centre - std::numeric_limits<std::int32_t>::max());
    highest = std::min(highest, centre - std::numeric_limits<std::int32_t>::min());
  }
  if (lowest > highest) return std::nullopt;
  return SectionAddresses{static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest)};
}

void Builder::write_header(std::uint32_t fre_size, std::byte* out) const {
  namespace field = header_offset;
  std::uint8_t flags = flag_sorted;
  if (options_.pcrel) flags |= flag_func_start_pcrel;
  if (options_.frame_pointer && version_->flags & flag_frame_pointer) flags |= flag_frame_pointer;
  store(out, magic, order_);
  store(out + field::version, version_->number, order_);
  store(out + field::flags, flags, order_);
  store(out + field::abi, static_cast<std::uint8_t>(abi_->id), order_);
  store(out + field::fixed_fp, abi_->fixed_fp_offset, order_);
  store(out + field::fixed_ra, abi_->fixed_ra_offset, order_);
  store(out + field::aux_size, static_cast<std::uint8_t>(options_.aux_header.size()), order_);
  store(out + field::num_fdes, num_fdes(), order_);
  store(out + field::num_fres, static_cast<std::uint32_t>(num_fres_), order_);
  store(out + field::fre_size, fre_size, order_);
  store(out + field::fde_offset, std::uint32_t{0}, order_);
  store(out + field::fre_offset, static_cast<std::uint32_t>(functions_.size() * version_->entry_size),
        order_);
  std::ranges::copy(options_.aux_header, out + header_size);
}

expected<std::vector<std::byte>, Refusal> Builder::finish(std::uint64_t address) const {
  if (options_.aux_header.size() > 0xff) return unexpected(Refusal{RefusalReason::aux_header_size});
  const std::uint64_t index_end = field_offset(functions_.size());
  if (index_end > max_u32 || encoded_.size() > max_u32 || num_fres_ > max_u32)
    return unexpected(Refusal{RefusalReason::section_too_large});

  // The rows are appended: to fill the whole section with zeros first would write twice.
  std::vector<std::byte> out;
  out.reserve(size());
  advise_large_pages(out.data(), size());
  out.resize(index_end);

  constexpr std::uint32_t unplaced = 0xffffffff;
  LargeVector<std::uint32_t> positions(runs_.size(), unplaced); // of holders, in the FRE sub-section
  std::uint32_t position = 0;                                   // of the next one
  // Runs that follow each other here and there, as all do if functions were added in the order of addresses,
  // are copied at once.
  std::span<const std::byte> to_copy;
  const auto copy = [&] { out.insert(out.end(), to_copy.begin(), to_copy.end()); };
  const auto place = [&](const Run& run) {
    const auto bytes = run_bytes(run);
    if (to_copy.data() + to_copy.size() == bytes.data()) {
      to_copy = {to_copy.data(), to_copy.size() + bytes.size()};
    } else {
      copy();
      to_copy = bytes;
    }
    return std::exchange(position, position + run.size);
  };

  const auto order = by_distance(address);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Function& function = functions_[order[i]];
    const std::uint64_t field = field_offset(i);
    format::FdeFields fields{
        .start = static_cast<std::int64_t>(function.fde.start - address - (options_.pcrel ? field : 0)),
        .fde = {function.fde}};
    if (version_->start_size == 4 && fields.start != static_cast<std::int32_t>(fields.start))
      return refused(RefusalReason::out_of_reach, function.fde);
    const std::uint32_t run = holder(function.run);
    if (positions[run] == unplaced) positions[run] = place(runs_[run]);
    fields.fde.num_fres = runs_[function.run].num_fres;
    fields.fde.fre_type = runs_[function.run].fre_type;
    fields.fde.fre_offset = positions[run];
    version_->codec.write_entry(out.data() + field, order_, fields);
  }
  copy();
  write_header(position, out.data()); // encoded_ may have runs that no function has
  return out;
}

} // namespace sframe
