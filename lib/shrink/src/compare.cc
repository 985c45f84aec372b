// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each FDE of the new table is compared with those of the old one that begin in it, in the order of
// addresses; those that no FDE of the new one has are missing. Instructions that are not understood must be
// the same bytes.

#include "sframe/shrink/compare.h"

#include "instructions.h"
#include "rules.h"
#include "sframe/base/budget.h"
#include "sframe/cfi/index.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sframe::shrink {

using namespace cfi;

namespace {

constexpr std::string_view section_name = ".eh_frame";

/// An FDE's place: it is read again when it is compared.
struct Entry {
  std::uint64_t start = 0, end = 0, offset = 0;
};

unexpected<Problem> differs(const std::string& what, std::uint64_t address) {
  return fail(what + " at " + hex(address), section_name);
}

Result<std::vector<Entry>> list(const CfiSection& section) {
  std::vector<Entry> entries;
  for (auto fdes = section.fdes();;) {
    const auto fde = fdes.next();
    if (!fde) return fail(message(fde.error().kind), section_name, fde.error().offset);
    if (!*fde) break;
    if ((*fde)->after_terminator) return fail("FDE after the terminator", section_name, (*fde)->offset);
    entries.push_back({(*fde)->start, (*fde)->end(), (*fde)->offset});
  }
  std::ranges::stable_sort(entries, {}, &Entry::start);
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (entries[i].start < entries[i - 1].end) return fail("FDEs overlap", section_name, entries[i].offset);
  return entries;
}

std::span<const std::byte> without_nops(std::span<const std::byte> bytes, const AbiTraits& abi) {
  return bytes.first(survey(bytes, abi).size);
}

class Comparer {
public:
  Comparer(const CfiSection& before, const SearchedTable& after, const CompareOptions& options)
      : before_(before), after_(after), options_(options) {}

  Result<Comparison> compare() {
    const auto old = list(before_);
    if (!old) return unexpected(old.error());
    const auto now = list(after_.section);
    if (!now) return unexpected(now.error());
    if (auto done = check_header(*now); !done) return unexpected(std::move(done.error()));
    auto next = old->begin();
    for (const Entry& entry : *now) {
      if (next != old->end() && next->start < entry.start) return differs("no FDE any more", next->start);
      auto end = next;
      while (end != old->end() && end->start < entry.end) ++end;
      if (auto done = compare(entry, {next, end}); !done) return unexpected(std::move(done.error()));
      next = end;
    }
    if (next != old->end()) return differs("no FDE any more", next->start);
    done_.functions = old->size();
    done_.fdes = now->size();
    done_.level = options_.level;
    done_.different = AddressSet(std::move(different_));
    return done_;
  }

private:
  Result<void> check_header(std::span<const Entry> entries) const {
    constexpr std::string_view header = ".eh_frame_hdr";
    const auto table = EhFrameHdr::parse(after_.header, after_.header_address, after_.section.abi());
    if (!table) return fail(message(table.error().kind), header, table.error().offset);
    if (table->eh_frame() != after_.section.address())
      return fail("names another place of .eh_frame", header);
    if (table->size() != entries.size()) return fail("another number of FDEs", header);
    for (std::uint64_t i = 0; i < table->size(); ++i) {
      const auto [start, fde] = table->entry(i);
      const Entry& wanted = entries[static_cast<std::size_t>(i)];
      if (start != wanted.start || fde - after_.section.address() != wanted.offset)
        return fail("entry " + std::to_string(i) + " is not that of the FDE for " + hex(wanted.start),
                    header);
    }
    return {};
  }

  static bool same_cie(const Fde& one, const Fde& other) {
    return std::ranges::equal(one.cie.augmentation, other.cie.augmentation) &&
           one.cie.return_register == other.cie.return_register &&
           one.cie.signal_frame == other.cie.signal_frame && one.cie.b_key == other.cie.b_key &&
           one.cie.tagged_stack == other.cie.tagged_stack && one.cie.address_size == other.cie.address_size &&
           one.cie.personality == other.cie.personality;
  }

  Result<void> compare(const Entry& entry, std::span<const Entry> old) {
    const auto now = after_.section.fde(entry.offset);
    if (!now) return fail(message(now.error().kind), section_name, now.error().offset);
    if (old.empty() || old.front().start != entry.start || old.back().end != entry.end)
      return differs("an FDE with other bounds", entry.start);
    if (options_.budget && !options_.budget->take(Resource::cfi_instructions, now->instructions.size() + 1))
      return fail("too many instructions to compare", section_name);
    std::vector<Fde> fdes;
    for (const Entry& one : old) {
      const auto fde = before_.fde(one.offset);
      if (!fde) return fail(message(fde.error().kind), section_name, fde.error().offset);
      if (!fdes.empty() && !may_be_between(AddressRange::between(fdes.back().end(), fde->start)))
        return differs("code that had no FDE", fdes.back().end());
      fdes.push_back(*fde);
      if (!same_cie(*fde, *now)) return differs("another CIE", fde->start);
      const bool is_alone = old.size() == 1;
      if (is_alone ? fde->lsda != now->lsda : fde->lsda || now->lsda || fde->cie.signal_frame)
        return differs("another language-specific data area, or a signal frame", fde->start);
    }
    for (const Restored meaning : {Restored::nothing, Restored::initial_rule}) {
      bool understood = true;
      if (auto done = compare(fdes, *now, meaning, understood); !done) return done;
      if (!understood) return compare_bytes(fdes, *now);
    }
    for (const Fde& fde : fdes) done_.addresses += fde.size;
    return {};
  }

  std::span<const AddressRange> loose_ranges(const Fde& fde) const {
    if (!options_.loose || fde.cie.signal_frame) return {};
    return options_.loose({fde.start, fde.size});
  }

  /// The first address that is in none of the ranges.
  static std::optional<std::uint64_t> first_outside(const AddressRange& range,
                                                    std::span<const AddressRange> loose) {
    const AddressRange* const found = range_at(loose, range.start);
    if (!found) return range.start;
    return found->contains(range) ? std::nullopt : std::optional(found->end());
  }

  bool may_be_between(const AddressRange& range) const {
    return options_.is_padding ? options_.is_padding(range) : range.empty();
  }

  /// What is not understood may be copied.
  Result<void> compare_bytes(std::span<const Fde> old, const Fde& now) {
    const AbiTraits& abi = before_.abi();
    const Fde& first = old.front();
    const bool equal =
        old.size() == 1 && first.cie.code_alignment == now.cie.code_alignment &&
        first.cie.data_alignment == now.cie.data_alignment &&
        std::ranges::equal(without_nops(first.instructions, abi), without_nops(now.instructions, abi)) &&
        std::ranges::equal(without_nops(first.cie.instructions, abi),
                           without_nops(now.cie.instructions, abi));
    if (!equal) return differs("other instructions, which are not understood,", first.start);
    done_.addresses += first.size;
    return {};
  }

  Result<void> compare(std::span<const Fde> old, const Fde& now, Restored meaning, bool& understood) {
    const AbiTraits& abi = before_.abi();
    Execution after(now, abi, meaning);
    for (const Fde& fde : old) {
      Execution before(fde, abi, meaning);
      std::optional<std::span<const AddressRange>> loose; // looked up where the first rules differ
      while (before.next()) {
        if (meaning == Restored::nothing) ++done_.rows;
        for (std::uint64_t at = before.begin(); at < before.end(); at = after.end()) {
          while (after.end() <= at && after.next()) {
          }
          if (after.failed() || after.end() <= at) break;
          if (before.rules().equals(after.rules())) continue;
          if (!loose) loose = loose_ranges(fde);
          const auto range = AddressRange::between(at, std::min(before.end(), after.end()));
          if (const auto site = first_outside(range, *loose)) return differs("other rules", *site);
          different_.push_back(range);
        }
        if (after.end() < before.end()) break;
      }
      understood = understood && !before.failed() && !after.failed() && after.end() >= fde.end();
    }
    return {};
  }

  const CfiSection& before_;
  const SearchedTable& after_;
  const CompareOptions& options_;
  Comparison done_;
  std::vector<AddressRange> different_;
};

} // namespace

std::string_view name(Level level) {
  switch (level) {
  case Level::lossless: return "lossless";
  case Level::sync: return "sync";
  case Level::faults: return "faults";
  }
  return "unknown";
}

Result<Comparison> compare(const CfiSection& before, const SearchedTable& after,
                           const CompareOptions& options) {
  return Comparer(before, after, options).compare();
}

} // namespace sframe::shrink
