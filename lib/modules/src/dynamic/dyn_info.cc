// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libunwind's dynamic registration: a doubly linked list of procedures and tables (libunwind-dynamic(3) and
// libunwind-dynamic.h). The layouts, for pointers of 8 bytes:
//
//   unw_dyn_info_list_t     unw_dyn_info_t           ... u.pi              ... u.ti, u.rti
//   +0  u32 version (0)     +0   next                +56  name_ptr        +56  name_ptr
//   +4  u32 generation      +8   prev                +64  handler         +64  segbase
//   +8  first               +16  start_ip            +72  u32 flags       +72  table_len, in words
//                           +24  end_ip              +80  regions         +80  table_data
//   unw_dyn_region_info_t   +32  gp
//   +0   next               +40  s32 format          unw_dyn_op_t
//   +8   s32 insn_count     +48  load_offset         +0  s8 tag           +4  s32 when
//   +12  u32 op_count                                +1  s8 qp            +8  u64 val
//   +16  op[]                                        +2  s16 reg
//
// A table has the entries of .eh_frame_hdr: start of the code and offset of the FDE, 32 bits each, signed.

#include "dynamic/follow.h"

#include "sframe/bytes.h"
#include "sframe/cfi/section.h"

#include <algorithm>
#include <array>

namespace sframe::modules::dynamic {

namespace {

constexpr std::string_view list_name = "_U_dyn_info_list";
constexpr std::size_t max_regions = 4096, max_operations = 65536; ///< of one procedure
constexpr std::uint64_t info_size = 88, region_size = 16, operation_size = 16;
constexpr std::uint64_t largest_table = 1 << 24, largest_frames = 1 << 28; ///< bytes

/// The properties of an unw_dyn_info_format_t. ARM tables (3) are not for our ABIs.
struct Format {
  Registration::Form form;
  bool known;
  bool from_start; ///< starts count from start_ip, not from segbase
};
constexpr std::array formats = {
    Format{Registration::Form::procedure, true, false}, // UNW_INFO_FORMAT_DYNAMIC
    Format{Registration::Form::table, true, false},     // UNW_INFO_FORMAT_TABLE
    Format{Registration::Form::table, true, false},     // UNW_INFO_FORMAT_REMOTE_TABLE
    Format{{}, false, false},                           // UNW_INFO_FORMAT_ARM_EXIDX
    Format{Registration::Form::table, true, true},      // UNW_INFO_FORMAT_IP_OFFSET
};

/// An unw_dyn_info_t; nothing if it cannot be read. For an unknown format the range is empty.
std::optional<Registration> read_entry(unwind::Memory& memory, std::uint64_t at) {
  std::array<std::uint64_t, 11> words; // up to u, and the four words of u
  for (std::size_t i = 0; i < words.size(); ++i)
    if (!memory.load(at + 8 * i, words[i])) return std::nullopt;
  const auto format = memory.number(at + 40, 4);
  Registration entry{.entry = at, .range = {}, .name = words[7]};
  if (!format || *format >= formats.size() || !formats[*format].known || words[2] >= words[3]) return entry;
  entry.form = formats[*format].form;
  entry.range = AddressRange::between(words[2], words[3]);
  entry.data = words[10];
  if (entry.form == Registration::Form::table) {
    entry.load_offset = words[6];
    entry.fde_base = words[8];
    entry.start_base = formats[*format].from_start ? words[2] : words[8];
    entry.size = words[9] <= ~std::uint64_t{0} / 8 ? words[9] * 8 : ~std::uint64_t{0};
  }
  return entry;
}

/// The position of an operation in the order by `when`: a label refers to the state after the operations
/// before it in the list.
std::int32_t effective_when(const ProcedureOperation& operation, std::int32_t latest) {
  return operation.tag == ProcedureOperation::Tag::label_state ? std::max(operation.when, latest)
                                                               : operation.when;
}

/// The operations of a region, by `when`; nothing if they cannot be read.
std::optional<std::vector<ProcedureOperation>> read_operations(unwind::Memory& memory, std::uint64_t at,
                                                               std::uint64_t count, std::size_t most,
                                                               Budget* budget) {
  std::vector<ProcedureOperation> operations;
  std::int32_t latest = -1;
  for (; count; --count, at += operation_size) {
    if (!take(budget, operation_size)) return std::nullopt;
    const auto tag = memory.number(at, 1), reg = memory.number(at + 2, 2), when = memory.number(at + 4, 4),
               value = memory.number(at + 8, 8);
    if (!tag || !reg || !when || !value || operations.size() >= most) return std::nullopt;
    using Tag = ProcedureOperation::Tag;
    if (*tag > static_cast<std::uint64_t>(Tag::alias)) return std::nullopt;
    if (static_cast<Tag>(*tag) == Tag::stop) break;
    ProcedureOperation operation{static_cast<Tag>(*tag), static_cast<std::uint16_t>(*reg),
                                 static_cast<std::int32_t>(*when), *value};
    latest = operation.when = effective_when(operation, latest);
    operations.push_back(operation);
  }
  std::ranges::stable_sort(operations, {}, &ProcedureOperation::when);
  return operations;
}

/// Appends integers in the target's byte order.
class Appender {
public:
  Appender(std::vector<std::byte>& to, ByteOrder order) : to_(to), order_(order) {}
  void number(std::uint64_t value, unsigned size) {
    to_.resize(to_.size() + size);
    store_sized(to_.data() + to_.size() - size, value, size, order_);
  }

private:
  std::vector<std::byte>& to_;
  ByteOrder order_;
};

struct TableEntry {
  std::uint64_t start, fde;
};

/// The table's entries as addresses, by start.
std::optional<std::vector<TableEntry>> read_table(const Registration& table, unwind::Memory& memory) {
  const auto offset = [&](std::uint64_t at) -> std::uint64_t {
    return static_cast<std::uint64_t>(
        std::int64_t{static_cast<std::int32_t>(memory.number(at, 4).value_or(0))});
  };
  std::vector<TableEntry> entries;
  for (std::uint64_t at = 0; at + 8 <= table.size; at += 8) {
    if (!memory.word(table.data + at)) return std::nullopt;
    entries.push_back(
        {table.start_base + offset(table.data + at), table.fde_base + offset(table.data + at + 4)});
  }
  std::ranges::stable_sort(entries, {}, &TableEntry::start);
  return entries;
}

/// The range of memory with all FDEs of the table and their CIEs.
std::optional<AddressRange> find_frames(std::span<const TableEntry> entries, unwind::Memory& memory) {
  constexpr std::uint32_t extended_length = 0xffffffff;
  std::uint64_t start = last_address, end = 0;
  for (const TableEntry& entry : entries) {
    const auto length = memory.number(entry.fde, 4), to_cie = memory.number(entry.fde + 4, 4);
    if (!length || !to_cie || *length == extended_length) return std::nullopt;
    start = std::min({start, entry.fde, entry.fde + 4 - *to_cie});
    end = std::max(end, entry.fde + 4 + *length);
  }
  if (start >= end) return std::nullopt;
  return AddressRange::between(start, end);
}

/// An .eh_frame_hdr with absolute addresses (Linux Standard Base 5.0, section 10.6.2).
std::vector<std::byte> make_index(std::span<const TableEntry> entries, ByteOrder order) {
  std::vector<std::byte> bytes;
  Appender out(bytes, order);
  for (const std::uint8_t byte : {std::uint8_t{1}, std::uint8_t{cfi::pe_omit}, std::uint8_t{cfi::pe_udata4},
                                  std::uint8_t{cfi::pe_udata8}})
    out.number(byte, 1);
  out.number(entries.size(), 4);
  for (const TableEntry& entry : entries) {
    out.number(entry.start, 8);
    out.number(entry.fde, 8);
  }
  return bytes;
}

} // namespace

void read_dyn_info_list(unwind::Memory& memory, std::uint64_t head, Listing& listing) {
  const auto version = memory.number(head, 4), first = memory.number(head + 8, 8);
  if (!version || !first || *version != 0)
    return listing.problem(list_name, head,
                           version && first ? "has an unsupported version" : "cannot be read");
  follow(memory, *first, info_size, list_name, listing, [&](std::uint64_t at) {
    const auto entry = read_entry(memory, at);
    if (!entry)
      listing.problem(list_name, at, "cannot be read");
    else if (entry->range == AddressRange{})
      listing.problem(list_name, at, "has an entry of unknown format");
    else
      listing.entries.push_back(*entry);
    return entry.has_value();
  });
}

Result<GeneratedCode> copy_procedure(const Registration& registration, unwind::Memory& memory,
                                     std::uint64_t most, Budget* budget) {
  GeneratedCode code;
  Procedure& procedure = code.procedure.emplace(registration.range.start, registration.range.end(),
                                                std::vector<ProcedureRegion>{}, &memory.space());
  std::size_t operations = std::min<std::uint64_t>(max_operations, most / sizeof(ProcedureOperation));
  for (std::uint64_t at = registration.data; at;) {
    if (!take(budget, region_size)) return fail(std::string(over_budget));
    const auto next = memory.word(at), length = memory.number(at + 8, 4), count = memory.number(at + 12, 4);
    if (!next || !length || !count) return fail("regions cannot be read");
    if (procedure.regions.size() == max_regions) return fail("too many regions");
    auto read = read_operations(memory, at + region_size, *count, operations, budget);
    if (!read) return fail("operations cannot be read");
    operations -= read->size();
    procedure.regions.push_back({static_cast<std::int32_t>(*length), std::move(*read)});
    at = *next;
  }
  code.function = copy_string(memory, registration.name, budget);
  return code;
}

Result<GeneratedCode> copy_table(const Registration& registration, unwind::Memory& memory, std::uint64_t most,
                                 Budget* budget) {
  if (registration.size > std::min(most, largest_table))
    return fail("too large: limit on copied code reached");
  if (!take(budget, registration.size)) return fail(std::string(over_budget));
  const auto entries = read_table(registration, memory);
  if (!entries) return fail("cannot be read");
  const auto range = find_frames(*entries, memory);
  if (!range) return fail("table refers to unreadable FDEs");
  if (range->size > std::min(most, largest_frames)) return fail("table refers to FDEs too far apart");
  if (!take(budget, range->size)) return fail(std::string(over_budget));
  auto frames = copy_bytes(memory, range->start, range->size);
  if (!frames) return fail("table refers to unreadable FDEs");
  GeneratedCode code;
  code.frames = std::move(*frames);
  code.frames_address = range->start;
  code.frames_index = make_index(*entries, memory.space().abi().byte_order);
  return code;
}

} // namespace sframe::modules::dynamic
