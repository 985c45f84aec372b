// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "table_checks.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>

namespace sframe::verify {

namespace {

class RelocationCheck {
public:
  RelocationCheck(const Input& input, const SframeTable& table, Sink& sink)
      : image_(*input.sframe_image()), input_(input), table_(table), sink_(sink) {}

  void run() {
    if (table_.relocation_problem) {
      const Problem& problem = *table_.relocation_problem;
      sink_.add({.id = Id::S018,
                 .message = problem.what,
                 .table = std::string(table_.name),
                 .offset = problem.offset});
      return;
    }
    auto relocations = image_.relocations(*table_.section);
    if (!relocations) return; // already reported
    relocations_ = std::move(*relocations);
    std::erase_if(relocations_, [&](const elf::Relocation& r) { // R_*_NONE
      const auto kind = image_.relocation_kind(r.type);
      return kind && kind->size == 0;
    });
    std::ranges::stable_sort(relocations_, {}, &elf::Relocation::offset);
    for (const SframePart& part : input_.parts())
      if (&input_.tables()[part.table] == &table_) check_part(part);
    for (; next_ < relocations_.size(); ++next_) report_unexpected(relocations_[next_]);
  }

private:
  void check_part(const SframePart& part) {
    const Section& section = part.section;
    const std::uint64_t first = part.offset + section.index_offset();
    std::uint32_t missing = 0, first_missing = 0;
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      const std::uint64_t field = first + std::uint64_t{i} * section.version().entry_size;
      for (; next_ < relocations_.size() && relocations_[next_].offset < field; ++next_)
        report_unexpected(relocations_[next_]);
      if (next_ == relocations_.size() || relocations_[next_].offset != field) {
        if (missing++ == 0) first_missing = i;
        continue;
      }
      check_relocation(section, i, relocations_[next_++]);
    }
    if (missing)
      report_in_table(table_, part, Id::S018,
                      llvm::formatv("{} of {} functions have no relocation on their start; the first is "
                                    "function {}",
                                    missing, section.num_fdes(), first_missing)
                          .str(),
                      section.index_offset() + std::uint64_t{first_missing} * section.version().entry_size,
                      {}, sink_);
  }

  void check_relocation(const Section& section, std::uint32_t function, const elf::Relocation& relocation) {
    const unsigned size = section.version().start_size;
    const auto kind = image_.relocation_kind(relocation.type);
    if (!kind || kind->size != size || !kind->pc_relative)
      report(relocation, llvm::formatv("function {}: relocation of type {} on the start, but a PC-relative "
                                       "one of {} bytes is needed",
                                       function, relocation.type, size)
                             .str());
    else if (relocation.section == 0)
      report(relocation,
             llvm::formatv("function {}: the relocation refers to {}, which is not defined in this file",
                           function,
                           relocation.symbol_name.empty() ? std::string("no symbol")
                                                          : std::string(relocation.symbol_name))
                 .str());
  }

  void report_unexpected(const elf::Relocation& relocation) {
    report(relocation, "relocation is not on a function's start, or is the second one there");
  }

  void report(const elf::Relocation& relocation, std::string message) {
    sink_.add({.id = Id::S018,
               .message = std::move(message),
               .table = std::string(table_.name),
               .offset = relocation.offset});
  }

  const elf::Image& image_;
  const Input& input_;
  const SframeTable& table_;
  Sink& sink_;
  std::vector<elf::Relocation> relocations_;
  std::size_t next_ = 0; ///< the first relocation not yet examined
};

} // namespace

void check_relocations(const Input& input, Sink& sink) {
  if (!input.sframe_image() || !input.sframe_image()->relocatable()) return;
  for (const SframeTable& table : input.tables())
    if (table.section) RelocationCheck(input, table, sink).run();
}

} // namespace sframe::verify
