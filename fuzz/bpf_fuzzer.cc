// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a table for BPF programs, and as a section that a table is made of. What is made must be
// a valid table with the rules that the index has; with one byte changed it is refused, or lookups stay
// inside it. And as the memory of a process from 0x10000 on, which begins with a list of generated code: what
// is kept of it is in order, and its tables are valid.

#include "cost.h"

#include "sframe/bpf/make_table.h"
#include "sframe/bpf/process_code.h"
#include "sframe/bpf/read_table.h"
#include "sframe/index.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace bpf_fuzzer {

using namespace sframe;
using sframe::fuzz::require;

/// At both ends of each group, and beyond the last one.
void look_up(const bpf::Table& table) {
  const sframe_bpf_table& header = table.header();
  for (std::uint64_t i = 0; i <= std::min(header.num_groups, 100u); ++i)
    for (const std::uint64_t at : {0u, 1u, 300u, 1023u}) {
      const sframe_bpf_rule rule = table.find(header.base + i * SFRAME_BPF_GROUP_BYTES + at);
      require(rule.kind <= SFRAME_BPF_OUTERMOST, "a kind that is none");
      require(i < header.num_groups || rule.kind == SFRAME_BPF_NONE, "a rule after the last group");
    }
}

void compare(const Index& index, const bpf::Table& table, std::uint64_t pc) {
  const IndexedRow* const expected = index.find(pc);
  const sframe_bpf_rule rule = table.find(pc);
  if (!expected) {
    require(rule.kind == SFRAME_BPF_NONE, "a rule where no function is");
  } else if (expected->row.is_outermost()) {
    require(rule.kind == SFRAME_BPF_OUTERMOST, "the outermost frame is not");
  } else {
    require(rule.kind == SFRAME_BPF_ROW, "no rule");
    require(rule.cfa.base == expected->row.cfa.base && rule.cfa.offset == expected->row.cfa.offset,
            "another CFA");
    require(rule.signal_frame == expected->signal_frame, "not the mark of signal frames");
  }
}

void read_as_process(std::span<const std::byte> bytes) {
  constexpr std::uint64_t base = 0x10000;
  const auto read = [&](std::uint64_t address, std::span<std::byte> to) {
    const std::uint64_t offset = address - base;
    if (offset > bytes.size() || bytes.size() - offset < to.size()) return false;
    std::ranges::copy(bytes.subspan(offset, to.size()), to.begin());
    return true;
  };
  const bpf::CodeList list{base, true, 0};
  bpf::ProcessCode code = bpf::read_process_code(read, {&list, 1});
  std::uint64_t end = 0;
  for (const bpf::CodeRegion& one : code.regions) {
    require(one.start >= end && one.size != 0, "regions overlap");
    require(one.offset <= code.sections.size() && one.section_size <= code.sections.size() - one.offset,
            "no section");
    end = one.start + one.size;
  }
  bpf::make_windows(code, [&](std::uint64_t, std::span<const std::byte> made, std::uint32_t) {
    const auto table = bpf::Table::parse(made);
    require(table.has_value(), "the table of a window is not valid");
    look_up(*table);
    return true;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const fuzz::Cost cost(size, {.memory = std::uint64_t{256} << 20, .memory_per_byte = 2048}); // 4 GiB of code
  if (const auto table = bpf::Table::parse(bytes)) look_up(*table);
  read_as_process(bytes);
  const auto section = Section::parse(bytes, 0x10000);
  if (!section) return 0;
  auto made = bpf::make_table({&*section, 1}, bytes.first(20), {});
  if (!made || made->bytes.size() > 1'000'000) return 0; // the rest would take long
  const auto table = bpf::Table::parse(made->bytes);
  require(table.has_value(), "the table is not valid");
  require(std::ranges::equal(table->build_id(), bytes.first(20)), "another build ID");
  look_up(*table);
  const auto index = Index::build({&*section, 1});
  for (std::uint32_t i = 0; index && made->lost_addresses == 0 && i < std::min(section->num_fdes(), 200u);
       ++i) {
    const AddressRange range = section->fde_range(i);
    for (const std::uint64_t pc : {range.start - 1, range.start, range.start + range.size / 2, range.end()})
      compare(*index, *table, pc);
  }
  const std::size_t place = (data[size - 1] * 256u + data[size - 2]) % made->bytes.size();
  made->bytes[place] ^= std::byte{data[size - 3]};
  if (const auto changed = bpf::Table::parse(made->bytes)) look_up(*changed);
  return 0;
}

} // namespace bpf_fuzzer
