// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reader_models.h"

namespace sframe::test {

using Kind = ReaderAnswer::Kind;

std::uint64_t ReaderMemory::number(std::uint64_t at, std::uint32_t size) {
  if (at > bytes_.size() || bytes_.size() - at < size) {
    left_ = true;
    return 0;
  }
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < size; ++i)
    value =
        value << 8 | static_cast<std::uint8_t>(bytes_[at + (order_ == ByteOrder::big ? i : size - 1 - i)]);
  return value;
}

std::int64_t ReaderMemory::signed_number(std::uint64_t at, std::uint32_t size) {
  const std::uint32_t unused = 64 - 8 * size;
  return static_cast<std::int64_t>(number(at, size) << unused) >> unused;
}

ReaderHeader::ReaderHeader(ReaderMemory& memory) {
  const auto field = [&](std::uint64_t at, std::uint32_t size) {
    return static_cast<std::uint32_t>(memory.number(at, size));
  };
  magic = field(0, 2);
  version = field(2, 1);
  flags = field(3, 1);
  fixed_fp = static_cast<std::int8_t>(field(5, 1));
  fixed_ra = static_cast<std::int8_t>(field(6, 1));
  aux_size = field(7, 1);
  num_fdes = field(8, 4);
  num_fres = field(12, 4);
  fre_size = field(16, 4);
  fde_offset = field(20, 4);
  fre_offset = field(24, 4);
}

namespace {

constexpr std::uint32_t magic = 0xdee2, sorted = 1, frame_pointer = 2, pcrel = 4;

/// The width that the codes 0, 1 and 2 stand for; 0 for others.
std::uint32_t width(std::uint32_t code) {
  return code > 2 ? 0 : 1U << code;
}

} // namespace

// ---- The kernel

struct LinuxReader::Function {
  static constexpr std::uint64_t entry_size = 16, attribute_size = 5;
  std::uint64_t start, rows;
  std::uint32_t size, num_rows, info, info2, rep_size;
  bool repeats() const { return (info >> 4 & 1) != 0; }
};

struct LinuxReader::Row {
  std::uint64_t words, end;
  std::uint32_t offset, info, word_size;
  std::uint32_t count() const { return info >> 1 & 15; }
};

LinuxReader::LinuxReader(std::span<const std::byte> bytes, std::uint64_t address, const AbiTraits& abi,
                         AddressRange text)
    : memory_(bytes, abi.byte_order), address_(address), abi_(abi), text_(text), header_(memory_),
      fdes_(ReaderHeader::size + header_.aux_size + header_.fde_offset),
      rows_(ReaderHeader::size + header_.aux_size + header_.fre_offset), rows_end_(rows_ + header_.fre_size) {
}

bool LinuxReader::accepts() const {
  return header_.magic == magic && header_.version == 3 && (header_.flags & sorted) &&
         (header_.flags & pcrel) && header_.aux_size == 0 && header_.num_fdes != 0 && header_.num_fres != 0 &&
         ReaderHeader::size < memory_.size() && fdes_ + header_.num_fdes * Function::entry_size <= rows_ &&
         rows_end_ <= memory_.size();
}

/// Checks everything that lookups check one by one, and that starts increase.
bool LinuxReader::validates() const {
  if (!accepts()) return false;
  std::uint64_t previous = 0;
  for (std::uint32_t i = 0; i < header_.num_fdes; ++i) {
    Function function;
    if (read_function(i, function) != Status::ok || function.start <= previous) return false;
    previous = function.start;
    std::uint64_t at = function.rows;
    std::optional<std::uint32_t> before;
    for (std::uint32_t k = 0; k < function.num_rows; ++k) {
      Row row;
      FrameRow rules;
      if (read_row(function, at, row) != Status::ok || read_rules(function, row, rules) == Status::bad)
        return false;
      if (before && row.offset <= *before) return false;
      before = row.offset;
      at = row.end;
    }
  }
  return true;
}

std::uint64_t LinuxReader::start(std::uint32_t number) const {
  const std::uint64_t at = fdes_ + number * Function::entry_size;
  return address_ + at + memory_.number(at, 8);
}

LinuxReader::Status LinuxReader::read_function(std::uint32_t number, Function& out) const {
  out.start = start(number);
  if (out.start < text_.start || out.start - text_.start >= text_.size) return Status::nothing;
  const std::uint64_t at = fdes_ + number * Function::entry_size;
  out.size = static_cast<std::uint32_t>(memory_.number(at + 8, 4));
  const std::uint64_t attribute = rows_ + memory_.number(at + 12, 4);
  if (attribute + Function::attribute_size > rows_end_) return Status::nothing;
  out.num_rows = static_cast<std::uint32_t>(memory_.number(attribute, 2));
  out.info = static_cast<std::uint32_t>(memory_.number(attribute + 2, 1));
  out.info2 = static_cast<std::uint32_t>(memory_.number(attribute + 3, 1));
  out.rep_size = static_cast<std::uint32_t>(memory_.number(attribute + 4, 1));
  out.rows = attribute + Function::attribute_size;
  return Status::ok;
}

LinuxReader::Status LinuxReader::read_row(const Function& function, std::uint64_t at, Row& out) const {
  const std::uint32_t offset_size = width(function.info & 15);
  if (offset_size == 0 || at + offset_size + 1 > rows_end_) return Status::bad;
  out.offset = static_cast<std::uint32_t>(memory_.number(at, offset_size));
  if (!function.repeats() && out.offset > function.size) return Status::bad;
  out.info = static_cast<std::uint32_t>(memory_.number(at + offset_size, 1));
  out.word_size = width(out.info >> 5 & 3);
  out.words = at + offset_size + 1;
  out.end = out.words + out.count() * out.word_size;
  return out.word_size == 0 || out.end > rows_end_ ? Status::bad : Status::ok;
}

/// A row without words has no CFA, so that nothing is found, although the kernel could see that it is an
/// outermost one.
LinuxReader::Status LinuxReader::read_rules(const Function& function, const Row& row, FrameRow& out) const {
  std::uint32_t left = row.count();
  if (left == 0) return Status::nothing;
  std::uint64_t at = row.words;
  const auto next_offset = [&] {
    const std::int64_t value = memory_.signed_number(at, row.word_size);
    at += row.word_size;
    --left;
    return static_cast<std::int32_t>(value);
  };
  const auto next_control = [&] {
    const std::uint64_t value = memory_.number(at, row.word_size);
    at += row.word_size;
    --left;
    return static_cast<std::uint32_t>(value);
  };
  const auto next_cfa_offset = [&] { // wraps in the kernel, too (-fno-strict-overflow)
    return static_cast<std::int32_t>(std::int64_t{next_offset()} * abi_.cfa_scale + abi_.cfa_bias);
  };
  // An offset of 0 in the header stands for none.
  const auto fixed = [](std::int32_t offset) { return offset ? Rule::at_cfa(offset) : Rule::same(); };
  out = {};
  switch (function.info2 & 0x1f) {
  case 0:
    out.cfa = Rule::value(row.info & 1 ? abi_.sp : abi_.fp, next_cfa_offset());
    out.ra = fixed(header_.fixed_ra == 0 && left ? next_offset() : header_.fixed_ra);
    out.fp = fixed(header_.fixed_fp == 0 && left ? next_offset() : header_.fixed_fp);
    return left ? Status::bad : Status::ok;
  case 1: {
    if (left < 2) return Status::bad;
    const auto rule = [](std::uint32_t control, std::int32_t offset) {
      const bool in_register = control & 1, load = control & 2;
      const std::uint16_t base = in_register ? static_cast<std::uint16_t>(control >> 3) : Rule::cfa_base;
      return load ? Rule::stored(base, offset) : Rule::value(base, offset);
    };
    const auto next_rule = [&](std::int32_t otherwise) {
      if (left < 2) return fixed(otherwise);
      const std::uint32_t control = next_control();
      return control ? rule(control, next_offset()) : fixed(otherwise);
    };
    const std::uint32_t control = next_control();
    out.cfa = rule(control, next_cfa_offset());
    out.ra = next_rule(header_.fixed_ra);
    out.fp = next_rule(header_.fixed_fp);
    if (left) return Status::bad;
    return control & 1 ? Status::ok : Status::nothing;
  }
  default: return Status::bad;
  }
}

ReaderAnswer LinuxReader::find(std::uint64_t pc) const {
  // The last function that starts at or before the address. A search that sees starts in the wrong order
  // gives up.
  std::int64_t low = 0, high = std::int64_t{header_.num_fdes} - 1, found = -1;
  std::uint64_t lowest = 0, highest = ~std::uint64_t{0};
  while (low <= high) {
    const std::int64_t middle = low + (high - low) / 2;
    const std::uint64_t at = start(static_cast<std::uint32_t>(middle));
    if (pc >= at ? at < lowest : at > highest) return {Kind::refuses, {}};
    if (pc >= at) {
      lowest = at;
      found = middle;
      low = middle + 1;
    } else {
      highest = at;
      high = middle - 1;
    }
  }
  Function function;
  if (found < 0 || read_function(static_cast<std::uint32_t>(found), function) != Status::ok ||
      pc >= function.start + function.size)
    return {};

  auto offset = static_cast<std::uint32_t>(pc - function.start);
  if (function.repeats()) {
    if (function.rep_size == 0) return {Kind::breaks, {}};
    offset %= function.rep_size;
  }
  std::optional<Row> last;
  std::uint64_t at = function.rows;
  for (std::uint32_t i = 0; i < function.num_rows; ++i) {
    Row row;
    if (read_row(function, at, row) != Status::ok || (last && row.offset <= last->offset))
      return {Kind::refuses, {}};
    if (row.offset > offset) break;
    last = row;
    at = row.end;
  }
  if (!last) return {};
  ReaderAnswer answer{Kind::rules, {}};
  const Status status = read_rules(function, *last, answer.row);
  if (status != Status::ok) return {status == Status::bad ? Kind::refuses : Kind::nothing, {}};
  return answer;
}

// ---- The C library

struct GlibcReader::Function {
  static constexpr std::uint64_t entry_size = 20;
  std::int32_t start;
  std::uint32_t size, rows, num_rows, info, rep_size;
};

GlibcReader::GlibcReader(std::span<const std::byte> bytes, std::uint64_t address, const AbiTraits& abi)
    : memory_(bytes, abi.byte_order), address_(address), abi_(abi), header_(memory_) {}

bool GlibcReader::accepts() const {
  return header_.magic == magic && header_.version == 2 &&
         (header_.flags & ~(sorted | frame_pointer | pcrel)) == 0 && header_.fde_offset <= header_.fre_offset;
}

/// The functions are expected right after the header, whatever the header states.
GlibcReader::Function GlibcReader::function(std::uint32_t number) const {
  const std::uint64_t at = ReaderHeader::size + header_.aux_size + number * Function::entry_size;
  const auto field = [&](std::uint64_t offset, std::uint32_t size) {
    return static_cast<std::uint32_t>(memory_.number(at + offset, size));
  };
  std::uint32_t start = field(0, 4);
  if (header_.flags & pcrel) start += static_cast<std::uint32_t>(at);
  return {
      static_cast<std::int32_t>(start), field(4, 4), field(8, 4), field(12, 4), field(16, 1), field(17, 1)};
}

ReaderAnswer GlibcReader::find(std::uint64_t pc) const {
  if (!(header_.flags & sorted) || header_.num_fdes == 0) return {};
  const auto wanted = static_cast<std::int32_t>(pc - address_);
  // A plain binary search that stops at the first function that contains the address.
  std::int32_t low = 0, high = static_cast<std::int32_t>(header_.num_fdes - 1);
  std::optional<Function> found;
  while (!found && low <= high) {
    const std::int32_t middle = low + (high - low) / 2;
    const Function candidate = function(static_cast<std::uint32_t>(middle));
    if (memory_.left()) return {Kind::breaks, {}};
    const std::int64_t distance = std::int64_t{wanted} - candidate.start;
    if (distance >= 0 && distance < candidate.size)
      found = candidate;
    else if (distance > 0)
      low = middle + 1;
    else
      high = middle - 1;
  }
  if (!found) return {};

  // The rows are expected right after the functions.
  const std::uint32_t offset_size = width(found->info & 15);
  if (offset_size == 0) return {};
  std::uint64_t at =
      ReaderHeader::size + header_.aux_size + header_.num_fdes * Function::entry_size + found->rows;
  const auto distance = static_cast<std::uint32_t>(std::int64_t{wanted} - found->start);
  for (std::uint32_t i = 0; i < found->num_rows; ++i) {
    const auto begin = static_cast<std::uint32_t>(memory_.number(at, offset_size));
    const auto info = static_cast<std::uint32_t>(memory_.number(at + offset_size, 1));
    const std::uint64_t words = at + offset_size + 1;
    const std::uint32_t size_code = info >> 5 & 3;
    at = words + (info >> 1 & 15) * (size_code == 3 ? 1 : width(size_code));
    const bool is_last = i + 1 == found->num_rows;
    const auto last =
        (is_last ? found->size : static_cast<std::uint32_t>(memory_.number(at, offset_size))) - 1;
    if (memory_.left() || (found->info & 0x10 && found->rep_size == 0)) return {Kind::breaks, {}};
    if (begin > distance) return {};
    const std::uint32_t in_block = found->info & 0x10 ? distance % found->rep_size : distance;
    if (begin <= in_block && in_block <= last) return rules(words, info);
  }
  return {};
}

/// Without a CFA or an RA there is no trace at all. A missing FP is unchanged. The mark of signed return
/// addresses is ignored.
ReaderAnswer GlibcReader::rules(std::uint64_t words, std::uint32_t info) const {
  const std::uint32_t count = info >> 1 & 15, size = width(info >> 5 & 3);
  if (size == 0 || count > 3) return {Kind::discards, {}};
  const auto word = [&](std::uint32_t i) {
    return static_cast<std::int32_t>(memory_.signed_number(words + i * size, size));
  };
  const std::uint32_t fp_word = header_.fixed_ra ? 1 : 2;
  if (count == 0 || (!header_.fixed_ra && count < 2)) return {Kind::discards, {}};
  ReaderAnswer answer{Kind::rules, {}};
  answer.row.cfa = Rule::value(info & 1 ? abi_.sp : abi_.fp, word(0));
  answer.row.ra = Rule::at_cfa(header_.fixed_ra ? header_.fixed_ra : word(1));
  if (header_.fixed_fp || count > fp_word)
    answer.row.fp = Rule::at_cfa(header_.fixed_fp ? header_.fixed_fp : word(fp_word));
  if (memory_.left()) return {Kind::breaks, {}};
  return answer;
}

} // namespace sframe::test
