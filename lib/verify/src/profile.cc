// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/profile.h"

#include "table_checks.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>

namespace sframe::verify {

namespace {

/// A reader's requirements, as data.
struct Consumer {
  std::string_view option, name;
  std::uint8_t versions;        ///< bit n: version n is accepted
  std::uint8_t recent_versions; ///< those that only newer releases accept
  std::uint8_t flags;           ///< that must be set
  bool strict_layout;   ///< no auxiliary header; header, functions, rows in this order; none may be empty
  bool strict_mappings; ///< section and functions inside one mapping each
  bool strict_starts;   ///< no two functions at one address
  bool flexible;        ///< flexible functions are supported
};
constexpr Consumer consumers[] = {
    {"spec", "", 0xff, 0, 0, false, false, false, true},
    {"linux", "Linux", 1 << 3, 0, flag_sorted | flag_func_start_pcrel, true, true, true, true},
    {"glibc", "glibc", 1 << 2 | 1 << 3, 1 << 3, 0, false, false, false, false},
};

class ProfileCheck {
public:
  ProfileCheck(const Input& input, const Consumer& reader, Sink& sink)
      : input_(input), consumer_(reader), sink_(sink) {}

  void run() {
    check_program_header();
    const SframePart* previous = nullptr;
    for (const SframePart& part : input_.parts()) {
      if (previous && previous->table == part.table)
        report(part, Id::P410, llvm::formatv("{} does not read this section", consumer_.name).str(), 0);
      check_header(part);
      check_functions(part);
      previous = &part;
    }
  }

private:
  void report(const SframePart& part, Id id, std::string message, std::uint64_t offset,
              std::optional<Location> at = {}) {
    report_in_table(input_.tables()[part.table], part, id, std::move(message), offset, at, sink_);
  }

  /// For linked files: raw sections, sidecars and relocatable objects have no program headers yet.
  void check_program_header() {
    const elf::Image* image = input_.sframe_image();
    if (!image || image->segments().empty()) return;
    if (!image->find_segment(elf::pt_gnu_sframe))
      sink_.add({.id = Id::P409,
                 .message = llvm::formatv("no PT_GNU_SFRAME: {} cannot find the section", consumer_.name)});
    if (!consumer_.strict_mappings) return;
    for (const SframeTable& table : input_.tables())
      if (!in_one_mapping(*image, table.address, table.bytes.size(), elf::pf_r))
        sink_.add({.id = Id::P406,
                   .message = "the section is not inside one readable PT_LOAD",
                   .table = std::string(table.name),
                   .offset = 0});
  }

  void check_header(const SframePart& part) {
    const Header& header = part.section.header();
    const int version = header.version;
    if (!(consumer_.versions >> version & 1))
      report(part, Id::P401, llvm::formatv("{} does not read version {}", consumer_.name, version).str(),
             header_offset::version);
    else if (consumer_.recent_versions >> version & 1)
      report(part, Id::P411,
             llvm::formatv("only newer releases of {} read version {}", consumer_.name, version).str(),
             header_offset::version);
    // Relocatable objects are sorted, and flagged as sorted, by the linker.
    const int demanded = input_.relocatable() ? consumer_.flags & ~flag_sorted : consumer_.flags;
    if (const int clear = demanded & ~header.flags)
      report(part, Id::P402,
             llvm::formatv("{} is clear, but {} requires it",
                           clear & flag_sorted && clear & flag_func_start_pcrel
                               ? "SORTED and FUNC_START_PCREL"
                           : clear & flag_sorted ? "SORTED"
                                                 : "FUNC_START_PCREL",
                           consumer_.name)
                 .str(),
             header_offset::flags);
    if (consumer_.strict_layout) check_layout(part);
  }

  void check_layout(const SframePart& part) {
    const Header& header = part.section.header();
    if (header.aux_header_size)
      report(part, Id::P403,
             llvm::formatv("auxiliary header of {} bytes, which {} rejects", int{header.aux_header_size},
                           consumer_.name)
                 .str(),
             header_offset::aux_size);
    if (!header.num_fdes || !header.num_fres)
      report(part, Id::P404,
             llvm::formatv("{} functions and {} rows: {} requires at least one of each", header.num_fdes,
                           header.num_fres, consumer_.name)
                 .str(),
             header_offset::num_fdes);
    if (header.num_fdes && part.section.rows_offset() < part.section.index_offset())
      report(part, Id::P405,
             llvm::formatv("the rows come before the functions, which {} rejects", consumer_.name).str(),
             header_offset::fde_offset);
  }

  void check_functions(const SframePart& part) {
    const Section& section = part.section;
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      const auto fde = section.fde(i);
      if (!fde) continue;
      const Location at = input_.locate(input_.address(part, *fde).value_or(0));
      if (!consumer_.flexible && fde->fde_type == FdeType::flex)
        report(part, Id::P408,
               llvm::formatv("function {}: {} skips flexible functions", i, consumer_.name).str(),
               fde->index_offset, at);
      if (consumer_.strict_starts && i > 0 && section.sorted() && fde->start == section.fde_start(i - 1) &&
          !input_.relocatable())
        report(part, Id::P407,
               llvm::formatv("function {}: same start as function {}, which {} may reject", i, i - 1,
                             consumer_.name)
                   .str(),
               fde->index_offset, at);
      if (consumer_.strict_mappings) check_mapping(part, *fde, at);
    }
  }

  void check_mapping(const SframePart& part, const EncodedFde& fde, const Location& at) {
    const elf::Image* image = input_.image();
    if (!image || image->segments().empty()) return;
    if (in_one_mapping(*image, fde.start, fde.size, elf::pf_x)) return;
    report(part, Id::P406, llvm::formatv("function {}: not inside one executable PT_LOAD", fde.number).str(),
           fde.index_offset, at);
  }

  const Input& input_;
  const Consumer& consumer_;
  Sink& sink_;
};

} // namespace

std::optional<Profile> find_profile(std::string_view name) {
  const auto found = std::ranges::find(consumers, name, &Consumer::option);
  if (found == std::end(consumers)) return std::nullopt;
  return static_cast<Profile>(found - std::begin(consumers));
}

void check_profile(const Input& input, Profile profile, Sink& sink) {
  if (profile == Profile::spec) return;
  ProfileCheck(input, consumers[static_cast<std::size_t>(profile)], sink).run();
}

} // namespace sframe::verify
