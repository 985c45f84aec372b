// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// push %rbp; mov %rsp,%rbp; ... at 0x1000 becomes
//
//   CIE  1c 00 00 00  00 00 00 00  01 "zR" 00  01 01 10  01 00  (alignments 1, RA is r16, absolute addresses)
//   FDE  .. length, CIE, 0x1000, size, 00
//        0c 07 08  11 10 78          def_cfa r7+8; RA at cfa-8
//        02 01  0c 07 10  11 06 70   advance_loc 1; def_cfa r7+16; r6 at cfa-16

#include "sframe/jit/eh_frame.h"

#include "byte_writer.h"

#include "sframe/convert.h"
#include "sframe/section.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sframe::jit {

namespace {

enum Instruction : std::uint8_t { // DW_CFA_*
  advance_loc1 = 0x02,
  advance_loc2 = 0x03,
  advance_loc4 = 0x04,
  undefined = 0x07,
  same_value = 0x08,
  in_register = 0x09,
  def_cfa = 0x0c,
  def_cfa_expression = 0x0f,
  expression = 0x10,
  offset_extended_sf = 0x11,
  def_cfa_sf = 0x12,
  val_offset_sf = 0x15,
  val_expression = 0x16,
  negate_ra_state = 0x2d, // AArch64
};
constexpr std::uint8_t op_deref = 0x06, op_breg0 = 0x70, op_bregx = 0x92;
constexpr std::uint8_t absolute = 0x00, relative = 0x1c; ///< DW_EH_PE_absptr; pcrel | sdata8

/// The instructions of an FDE.
class FrameWriter {
public:
  FrameWriter(ByteWriter& out, const AbiTraits& abi, std::uint32_t start)
      : out_(out), abi_(abi), at_(start) {}

  void advance(std::uint32_t to) {
    const std::uint32_t distance = to - at_;
    if (distance == 0) return;
    at_ = to;
    out_.u8(distance <= 0xff ? advance_loc1 : distance <= 0xffff ? advance_loc2 : advance_loc4);
    if (distance <= 0xff)
      out_.u8(distance);
    else if (distance <= 0xffff)
      out_.u16(distance);
    else
      out_.u32(distance);
  }

  /// What is different from the row before.
  void row(const FrameRow& row) {
    if (first_ || row.cfa != last_.cfa) cfa(row.cfa);
    if (first_ || row.ra != last_.ra) rule(abi_.ra, row.ra);
    if (first_ || row.fp != last_.fp) rule(abi_.fp, row.fp);
    if (row.ra_signed != (!first_ && last_.ra_signed)) out_.u8(negate_ra_state);
    // Unwinders take SP for the CFA.
    if (first_ && abi_.sp_from_cfa) rule(abi_.sp, Rule::value(Rule::cfa_base, abi_.sp_from_cfa));
    last_ = row;
    first_ = false;
  }

  void rule(std::uint16_t reg, const Rule& rule) {
    const auto instruction = [&](Instruction code) {
      out_.u8(code);
      out_.uleb(reg);
    };
    const bool by_cfa = rule.base == Rule::cfa_base;
    switch (rule.kind) {
    case Rule::Kind::same: return instruction(same_value);
    case Rule::Kind::fixed: // not in rows without `fixed`
    case Rule::Kind::undefined: return instruction(undefined);
    case Rule::Kind::value:
      instruction(by_cfa ? val_offset_sf : rule.offset ? val_expression : in_register);
      break;
    case Rule::Kind::stored: instruction(by_cfa ? offset_extended_sf : expression); break;
    }
    if (by_cfa)
      out_.sleb(rule.offset);
    else if (rule.kind == Rule::Kind::value && rule.offset == 0)
      out_.uleb(rule.base);
    else
      address(rule, false);
  }

private:
  void cfa(const Rule& rule) {
    if (rule.kind == Rule::Kind::stored) {
      out_.u8(def_cfa_expression);
      return address(rule, true);
    }
    // The outermost frame has none, but unwinders want one.
    const bool has_base = rule.kind == Rule::Kind::value;
    const std::int32_t offset = has_base ? rule.offset : 0;
    out_.u8(offset < 0 ? def_cfa_sf : def_cfa);
    out_.uleb(has_base ? rule.base : abi_.sp);
    if (offset < 0)
      out_.sleb(offset);
    else
      out_.uleb(static_cast<std::uint32_t>(offset));
  }

  /// An expression: register plus offset, or what is stored there.
  void address(const Rule& rule, bool deref) {
    ByteWriter expression(abi_.byte_order);
    if (rule.base < 32) {
      expression.u8(op_breg0 + std::uint64_t{rule.base});
    } else {
      expression.u8(op_bregx);
      expression.uleb(rule.base);
    }
    expression.sleb(rule.offset);
    if (deref) expression.u8(op_deref);
    out_.uleb(expression.size());
    out_.append(expression.bytes);
  }

  ByteWriter& out_;
  const AbiTraits& abi_;
  std::uint32_t at_;
  bool first_ = true;
  FrameRow last_;
};

/// A function as it is in the section, with its rows.
struct DecodedFunction {
  Fde fde;
  std::vector<FrameRow> rows;

  explicit DecodedFunction(const Section& section) {
    const auto encoded = section.fde(0);
    if (!encoded) return;
    fde = *encoded;
    if (section.outermost_throughout(*encoded)) rows.push_back(FrameRow::outermost(0));
    const Header& header = section.header();
    auto cursor = section.rows(*encoded);
    for (FrameRow row; cursor.next(row);) {
      resolve_fixed_of(row, header.fixed_ra_offset, header.fixed_fp_offset);
      rows.push_back(row);
    }
    repeat();
  }

private:
  /// DWARF has no blocks.
  void repeat() {
    if (fde.pc_type != PcType::mask) return;
    const std::vector<FrameRow> block = std::move(rows);
    rows.clear();
    for (std::uint32_t at = 0; fde.size - at > 0; at += std::min<std::uint32_t>(fde.rep_size, fde.size - at))
      for (FrameRow row : block)
        if (row.offset < fde.size - at) {
          row.offset += at;
          rows.push_back(row);
        }
  }
};

/// At an offset in the code: a register is not saved any more, or it is saved from there on.
struct SaveEvent {
  std::uint32_t place = 0;
  bool starts = false;
  const SavedRegister* saved = nullptr;
};

/// By offset; ends come before starts.
std::vector<SaveEvent> events_of(std::span<const SavedRegister> saved) {
  std::vector<SaveEvent> events;
  events.reserve(2 * saved.size());
  for (const SavedRegister& one : saved) {
    events.push_back({one.from, true, &one});
    events.push_back({one.to, false, &one});
  }
  std::ranges::stable_sort(events, {},
                           [](const SaveEvent& event) { return std::pair(event.place, event.starts); });
  return events;
}

void write_instructions(FrameWriter& out, const DecodedFunction& function,
                        std::span<const SavedRegister> saved) {
  const std::vector<SaveEvent> events = events_of(saved);
  const std::uint32_t first = function.rows.front().offset;
  auto row = function.rows.begin();
  auto event = events.begin();
  while (row != function.rows.end() || event != events.end()) {
    const bool is_row = event == events.end() || (row != function.rows.end() && row->offset <= event->place);
    const std::uint32_t place = is_row ? row->offset : event->place;
    if (place >= function.fde.size) break;
    if (place >= first) out.advance(place);
    if (is_row) {
      out.row(*row++);
      continue;
    }
    out.rule(event->saved->reg, event->starts ? Rule::at_cfa(event->saved->cfa_offset) : Rule::same());
    ++event;
  }
}

/// Starts a CIE or FDE; finish_entry() writes its length.
std::size_t start_entry(ByteWriter& out) {
  const std::size_t start = out.size();
  out.u32(0);
  return start;
}
void finish_entry(ByteWriter& out, std::size_t start) {
  out.align(8); // 0 is DW_CFA_nop
  out.put_u32(start, out.size() - start - 4);
}

} // namespace

std::vector<std::byte> make_eh_frame(std::uint64_t start, const Rows& rows,
                                     std::optional<std::uint64_t> section_address) {
  const AbiTraits& abi = rows.abi();
  ByteWriter out(abi.byte_order);
  const auto section = Section::parse(rows.section(), 0);
  const DecodedFunction function(*section);
  if (!function.rows.empty()) {
    const std::size_t cie = start_entry(out);
    out.u32(0);
    out.u8(1);
    std::string augmentation = "zR";
    if (function.fde.signal_frame) augmentation += 'S';
    if (function.fde.pauth_key == PauthKey::b) augmentation += 'B';
    out.text(augmentation);
    out.uleb(1); // code and data alignment
    out.sleb(1);
    out.u8(abi.ra);
    out.uleb(1);
    out.u8(section_address ? relative : absolute);
    finish_entry(out, cie);

    const std::uint32_t first = function.rows.front().offset;
    const std::size_t fde = start_entry(out);
    out.u32(fde + 4 - cie);
    out.u64(start + first - (section_address ? *section_address + out.size() : 0));
    out.u64(function.fde.size - first);
    out.uleb(0);
    FrameWriter writer(out, abi, first);
    write_instructions(writer, function, rows.saved());
    finish_entry(out, fde);
  }
  out.u32(0);
  return std::move(out.bytes);
}

} // namespace sframe::jit
