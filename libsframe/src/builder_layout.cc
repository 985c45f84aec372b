// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of building a section: finish() sorts the functions, assigns each run of encoded rows its position
// in that order, and copies.

#include "sframe/builder.h"

#include "format/version.h"
#include "refused.h"
#include "sframe/radix_sort.h"
#include "sframe/section.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace sframe {

/// The positions of all parts.
struct Builder::Layout {
  std::vector<std::uint32_t> order; ///< numbers of functions_, sorted
  std::vector<std::uint32_t>
      run_positions; ///< per run that is its own holder, from the FRE sub-section's start
  std::uint32_t fre_size = 0;

  /// For a section at `address`.
  static expected<Layout, Refusal> make(const Builder& builder, std::uint64_t address);
  static std::vector<std::uint32_t> by_address(const Builder& builder, std::uint64_t address);
};

/// Sorts by the distance from the section, which readers compare (Section::find_fde). It differs from address
/// order if functions are on both sides of the section, near the top and the bottom of the address space.
std::vector<std::uint32_t> Builder::Layout::by_address(const Builder& builder, std::uint64_t address) {
  const auto& functions = builder.functions_;
  constexpr std::uint64_t lowest = std::uint64_t{1} << 63; // in the order of signed numbers
  auto order = radix_order(static_cast<std::uint32_t>(functions.size()), [&](std::uint32_t number) {
    return functions[number].fde.start - address + lowest;
  });

  // Functions with equal starts are rare.
  const auto bytes_of = [&](const Function& f) { return builder.run_bytes(builder.runs_[f.run]); };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const Function &x = functions[a], &y = functions[b];
    if (x.fde.size != y.fde.size) return x.fde.size < y.fde.size;
    return std::ranges::lexicographical_compare(bytes_of(x), bytes_of(y));
  };
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first + 1, order.end(), [&](std::uint32_t number) {
      return functions[number].fde.start != functions[*first].fde.start;
    });
    if (last - first > 1) std::stable_sort(first, last, before);
    first = last;
  }
  return order;
}

expected<Builder::Layout, Refusal> Builder::Layout::make(const Builder& builder, std::uint64_t address) {
  if (builder.options_.aux_header.size() > 0xff) return unexpected(Refusal{RefusalReason::aux_header_size});
  const auto& runs = builder.runs_;
  const auto& functions = builder.functions_;
  Layout layout;
  layout.order = by_address(builder, address);

  constexpr std::uint32_t unplaced = 0xffffffff;
  layout.run_positions.assign(runs.size(), unplaced);
  std::uint64_t at = 0;
  for (const std::uint32_t number : layout.order) {
    const std::uint32_t run = builder.holder(functions[number].run);
    std::uint32_t& position = layout.run_positions[run];
    if (position != unplaced) continue;
    if (at >= unplaced) return refused(RefusalReason::section_too_large, functions[number].fde);
    position = static_cast<std::uint32_t>(at);
    at += runs[run].size;
  }
  if (builder.size() - at > max_u32 || at > max_u32 || builder.num_fres_ > max_u32 ||
      functions.size() > max_u32)
    return unexpected(Refusal{RefusalReason::section_too_large});
  layout.fre_size = static_cast<std::uint32_t>(at);
  return layout;
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

void Builder::write_header(const Layout& layout, std::uint8_t flags, std::byte* out) const {
  namespace field = header_offset;
  store(out, magic, order_);
  store(out + field::version, version_->number, order_);
  store(out + field::flags, flags, order_);
  store(out + field::abi, static_cast<std::uint8_t>(abi_->id), order_);
  store(out + field::fixed_fp, abi_->fixed_fp_offset, order_);
  store(out + field::fixed_ra, abi_->fixed_ra_offset, order_);
  store(out + field::aux_size, static_cast<std::uint8_t>(options_.aux_header.size()), order_);
  store(out + field::num_fdes, num_fdes(), order_);
  store(out + field::num_fres, static_cast<std::uint32_t>(num_fres_), order_);
  store(out + field::fre_size, layout.fre_size, order_);
  store(out + field::fde_offset, std::uint32_t{0}, order_);
  store(out + field::fre_offset, static_cast<std::uint32_t>(functions_.size() * version_->entry_size),
        order_);
  std::ranges::copy(options_.aux_header, out + header_size);
}

void Builder::write_entry(const Function& function, const Layout& layout, std::int64_t start,
                          std::byte* entry) const {
  format::FdeFields fields{.start = start, .fde = {function.fde}};
  fields.fde.num_fres = runs_[function.run].num_fres;
  fields.fde.fre_type = runs_[function.run].fre_type;
  fields.fde.fre_offset = layout.run_positions[holder(function.run)];
  version_->codec.write_entry(entry, order_, fields);
}

/// Copies the runs; those that follow each other here and there, as all do if functions were added in the
/// order of addresses, at once.
void Builder::write_runs(const Layout& layout, std::byte* out) const {
  std::uint64_t from = 0, to = 0, size = 0;
  const auto copy = [&] { std::copy_n(encoded_.data() + from, size, out + to); };
  for (std::uint32_t i = 0; i < runs_.size(); ++i) {
    if (holder(i) != i) continue;
    const Run& run = runs_[i];
    const std::uint32_t position = layout.run_positions[i];
    if (run.at != from + size || position != to + size) {
      copy();
      from = run.at, to = position, size = 0;
    }
    size += run.size;
  }
  copy();
}

expected<std::vector<std::byte>, Refusal> Builder::finish(std::uint64_t address) const {
  auto layout = Layout::make(*this, address);
  if (!layout) return unexpected(layout.error());
  std::vector<std::byte> out(size());
  std::uint8_t flags = flag_sorted;
  if (options_.pcrel) flags |= flag_func_start_pcrel;
  if (options_.frame_pointer && version_->flags & flag_frame_pointer) flags |= flag_frame_pointer;
  write_header(*layout, flags, out.data());
  for (std::size_t i = 0; i < layout->order.size(); ++i) {
    const Function& function = functions_[layout->order[i]];
    const std::uint64_t field = field_offset(i);
    const auto start = static_cast<std::int64_t>(function.fde.start - address - (options_.pcrel ? field : 0));
    if (version_->start_size == 4 && start != static_cast<std::int32_t>(start))
      return refused(RefusalReason::out_of_reach, function.fde);
    write_entry(function, *layout, start, out.data() + field);
  }
  write_runs(*layout, out.data() + field_offset(functions_.size()));
  return out;
}

} // namespace sframe
