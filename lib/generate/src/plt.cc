// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PLT is a sequence of stubs. The starts of stubs are not recorded, so a PLT is first cut after every jump
// and return, and its padding (nops; on s390x the index that the stub loads). A lazily bound stub has two
// such pieces: one jumps to the function, one pushes the index and jumps to PLT0; both are entered with the
// ABI's entry row. Pieces are then joined to blocks of the ABI's PLT entry size, which repeat.
//
// Pieces are analysed from the last to the first, since lazy ones jump back to PLT0, which gets its entry row
// from them. Without any, it gets it from what it leaves on the stack for the dynamic linker.
//
// In the retpolines of ld.lld, stubs and PLT0 call code that puts the function's address in the place of the
// return address, and returns. Both jump to a loop that catches speculation, with different frames, also from
// stubs in another section (.iplt): it has no row.

#include "sframe/generate/plt.h"

#include "sframe/address.h"
#include "sframe/base/budget.h"
#include "sframe/cfi/frame_row.h"
#include "sframe/code/analysis.h"
#include "sframe/convert.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace sframe::generate {

namespace {

/// A piece of a stub or whole stubs, with the padding after it.
struct Stub {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t code_size = 0; ///< of a piece: without the padding
  bool jumps_away = false;     ///< a piece that ends in an indirect jump, or a call of a retpoline
  std::uint64_t described = 0; ///< the bytes that the rows are for, from the start: less than `size` if
                               ///< others jump to the rest with another row
  std::vector<FrameRow> rows;  ///< adjacent rows differ; empty if the instructions cannot be analysed

  std::uint64_t end() const { return range_end(start, size); }
  bool is_whole() const { return described == size; }
  /// Appends the next piece.
  void join(const Stub& piece);
};

void Stub::join(const Stub& piece) {
  if (piece.rows.empty() || !is_whole()) rows.clear();
  if (!rows.empty())
    for (FrameRow row : piece.rows) {
      row.offset += static_cast<std::uint32_t>(piece.start - start);
      if (!rows.back().same_rules(row)) rows.push_back(row);
    }
  described = rows.empty() ? 0 : piece.start - start + piece.described;
  size += piece.size;
}

class PltReader {
public:
  PltReader(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address, Budget* budget)
      : abi_(abi), bytes_(bytes), address_(address), budget_(budget), analyzer_(abi) {}

  /// In blocks of the PLT entry size, or multiples if stubs have other sizes.
  std::vector<Stub> blocks();

private:
  std::span<const std::byte> at(std::uint64_t address, std::uint64_t size) const {
    return bytes_.subspan(address - address_, size);
  }

  std::vector<Stub> pieces() const;
  std::uint64_t after_padding(const code::Instruction& jump, bool has_called, code::Decoder& decoder) const;
  void find_rows(Stub& piece);
  void analyse(Stub& piece, const FrameRow& entry);
  std::int32_t pushed_before(const Stub& piece);
  bool is_doubtful(const FrameRow& row, std::uint64_t address) const;

  const AbiTraits& abi_;
  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  Budget* budget_;
  code::Analyzer analyzer_;
  /// Rows at jumps from one piece to another; nothing if two such jumps differ.
  std::map<std::uint64_t, std::optional<FrameRow>> entered_with_;
  bool others_push_ = false; ///< a piece after the first pushes, too, and jumps away
};

std::vector<Stub> PltReader::blocks() {
  std::vector<Stub> pieces = this->pieces();
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) find_rows(*piece);
  std::vector<Stub> blocks;
  for (const Stub& piece : pieces) {
    if ((piece.start - address_) % abi_.plt_entry_size == 0)
      blocks.push_back(piece);
    else
      blocks.back().join(piece);
  }
  return blocks;
}

std::vector<Stub> PltReader::pieces() const {
  const auto decoder = code::make_decoder(abi_);
  std::vector<Stub> pieces;
  if (!decoder) return pieces;
  if (budget_ && !budget_->take(Resource::code_steps, bytes_.size())) return pieces; // to find the pieces
  const std::uint64_t end = range_end(address_, bytes_.size());
  std::uint64_t start = address_;
  bool has_called = false;
  std::vector<code::Effect> effects;
  for (std::uint64_t address = address_; address < end;) {
    effects.clear();
    code::Instruction instruction;
    if (!decoder->decode(at(address, end - address), address, instruction, effects)) break;
    address += instruction.length;
    has_called |= instruction.flow == code::Flow::call;
    const bool is_indirect = instruction.flow == code::Flow::indirect_jump;
    if (!is_indirect && instruction.flow != code::Flow::jump && instruction.flow != code::Flow::ret) continue;
    const std::uint64_t next = after_padding(instruction, has_called, *decoder);
    pieces.push_back({start, next - start, address - start, is_indirect || has_called, 0, {}});
    start = address = next;
    has_called = false;
  }
  return pieces;
}

/// The start of the next piece. The jump of a lazy stub to PLT0, where a block starts or, of stubs in a
/// section of their own, elsewhere, ends its own block; the rest of that may be arbitrary data. Only nops can
/// follow other jumps, those of retpolines to their loop after a call, and returns.
std::uint64_t PltReader::after_padding(const code::Instruction& jump, bool has_called,
                                       code::Decoder& decoder) const {
  const std::uint64_t end = range_end(address_, bytes_.size());
  std::uint64_t address = jump.address + jump.length;
  const std::uint64_t block = abi_.plt_entry_size, target = jump.target - address_;
  const bool is_elsewhere = target >= bytes_.size();
  if (jump.flow == code::Flow::jump && (is_elsewhere ? !has_called : target % block == 0)) {
    const std::uint64_t passed = (address - address_ + block - 1) / block * block;
    return address_ + std::min(end - address_, passed);
  }
  std::vector<code::Effect> effects;
  code::Instruction next;
  while (address < end && decoder.decode(at(address, end - address), address, next, effects) && next.is_nop)
    address += next.length;
  return address;
}

void PltReader::find_rows(Stub& piece) {
  if (const auto known = entered_with_.find(piece.start); known != entered_with_.end()) {
    if (known->second) analyse(piece, *known->second);
    return;
  }
  FrameRow entry = abi_.entry_row();
  analyse(piece, entry);
  if (const std::int32_t before = pushed_before(piece)) {
    entry.cfa.offset += before;
    analyse(piece, entry);
  }
}

/// If this is PLT0, and no stub jumps to it: the bytes that stubs push before they jump to it. It leaves less
/// on the stack than the dynamic linker expects. The only piece that does so: stubs that jump to elsewhere
/// with what they push are no PLT0.
std::int32_t PltReader::pushed_before(const Stub& piece) {
  if (!piece.jumps_away || piece.rows.empty()) return 0;
  const Rule &first = piece.rows.front().cfa, &last = piece.rows.back().cfa;
  const std::int32_t pushed = last.base == first.base ? last.offset - first.offset : 0;
  const bool is_first = piece.start == address_;
  others_push_ |= !is_first && pushed > 0;
  if (!is_first || others_push_) return 0;
  const std::int32_t all = code::machine(abi_).resolver_stack;
  return pushed > 0 && pushed < all ? all - pushed : 0;
}

void PltReader::analyse(Stub& piece, const FrameRow& entry) {
  piece.rows.clear();
  const code::Results& results = analyzer_.run({.start = piece.start,
                                                .bytes = at(piece.start, piece.code_size),
                                                .entry = entry,
                                                .call_sites = {},
                                                .rows = {},
                                                .budget = budget_});
  bool understood = results.gaps().empty();
  piece.described = piece.size;
  results.visit([&](const code::Reached& reached) {
    auto row = code::row_of(reached.state(), abi_);
    if (!row) return understood = false;
    const std::uint64_t offset = reached.instruction.address - piece.start;
    if (offset != 0 && is_doubtful(*row, reached.instruction.address)) {
      piece.described = offset;
      return false;
    }
    row->offset = static_cast<std::uint32_t>(offset);
    if (piece.rows.empty() || !piece.rows.back().same_rules(*row)) piece.rows.push_back(*row);
    const bool jumps = reached.instruction.flow == code::Flow::jump;
    const std::uint64_t target = reached.instruction.target;
    if (jumps && target != piece.start && target - piece.start <= offset) { // the loop
      piece.described = target - piece.start;
      std::erase_if(piece.rows, [&](const FrameRow& made) { return made.offset >= piece.described; });
      return false;
    }
    if (jumps && target - address_ < bytes_.size()) {
      row->offset = 0;
      const auto [known, is_new] = entered_with_.try_emplace(target, *row);
      if (!is_new && known->second != *row) known->second.reset();
    }
    return true;
  });
  if (!understood) piece.rows.clear();
}

/// True if other pieces jump to the instruction with another row.
bool PltReader::is_doubtful(const FrameRow& row, std::uint64_t address) const {
  const auto known = entered_with_.find(address);
  return known != entered_with_.end() && !(known->second && known->second->same_rules(row));
}

/// The number of equal stubs at the start: equal rows, and equal size if the rows repeat.
std::size_t alike(std::span<const Stub> stubs) {
  const Stub& first = stubs.front();
  const auto differs = [&](const Stub& stub) {
    return !stub.is_whole() || stub.rows != first.rows || (first.rows.size() > 1 && stub.size != first.size);
  };
  return static_cast<std::size_t>(std::ranges::find_if(stubs, differs) - stubs.begin());
}

} // namespace

std::vector<PltFunction> plt_functions(const AbiTraits& abi, std::span<const std::byte> bytes,
                                       std::uint64_t address, Budget* budget) {
  std::vector<PltFunction> functions;
  const std::vector<Stub> stubs = PltReader(abi, bytes, address, budget).blocks();
  for (std::span<const Stub> rest = stubs; !rest.empty();) {
    const Stub& first = rest.front();
    // The format's block size has 8 bits: larger blocks are converted one by one.
    const bool repeatable = first.rows.size() <= 1 || first.size <= std::numeric_limits<std::uint8_t>::max();
    const std::size_t count = repeatable && first.is_whole() ? alike(rest) : 1;
    const std::uint64_t size = first.is_whole() ? rest[count - 1].end() - first.start : first.described;
    Fde fde = {.start = first.start, .size = static_cast<std::uint32_t>(size)};
    if (count > 1 && first.rows.size() > 1) {
      fde.pc_type = PcType::mask;
      fde.rep_size = static_cast<std::uint8_t>(first.size);
    }
    if (!first.rows.empty()) functions.push_back({fde, first.rows});
    rest = rest.subspan(count);
  }
  return functions;
}

void StubRows::add(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address,
                   Budget* budget) {
  const auto by_address = [](const Stubs& a, const Stubs& b) {
    return a.function.fde.start < b.function.fde.start;
  };
  const auto old = static_cast<std::ptrdiff_t>(stubs_.size());
  constexpr std::size_t filling_size = 4; // no instruction of a stub is all zeros, on any ABI
  for (PltFunction& function : plt_functions(abi, bytes, address, budget)) {
    for (FrameRow& row : function.rows) resolve_fixed_of(row, abi.fixed_ra_offset, abi.fixed_fp_offset);
    const auto start = bytes.subspan(function.fde.start - address);
    const bool is_filling = std::ranges::all_of(start.first(std::min(start.size(), filling_size)),
                                                [](std::byte byte) { return byte == std::byte(0); });
    stubs_.push_back({std::move(function), is_filling});
  }
  const auto added = stubs_.begin() + old;
  if (added != stubs_.begin() && added != stubs_.end() && by_address(*added, added[-1]))
    std::inplace_merge(stubs_.begin(), added, stubs_.end(), by_address);
}

bool StubRows::visit(std::uint64_t begin, std::uint64_t end,
                     const std::function<bool(const Piece&)>& visitor) const {
  auto stubs =
      std::ranges::upper_bound(stubs_, begin, {}, [](const Stubs& s) { return s.function.fde.start; });
  if (stubs != stubs_.begin()) --stubs;
  for (; stubs != stubs_.end() && stubs->function.fde.start < end; ++stubs) {
    if (stubs->starts_with_filling) continue;
    const auto& [fde, rows] = stubs->function;
    const std::uint64_t all_end = range_end(fde.start, fde.size);
    const std::uint64_t size = fde.pc_type == PcType::mask && fde.rep_size ? fde.rep_size : fde.size;
    std::uint64_t stub = fde.start + (begin > fde.start ? (begin - fde.start) / size * size : 0);
    for (std::uint64_t stub_end; stub < std::min(end, all_end); stub = stub_end) {
      stub_end = std::min(range_end(stub, size), all_end);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t next = i + 1 < rows.size() ? stub + rows[i + 1].offset : stub_end;
        const Piece piece{.begin = stub + rows[i].offset, .end = next, .row = &rows[i], .stub_end = stub_end};
        if (piece.end > begin && piece.begin < end && !visitor(piece)) return false;
      }
    }
  }
  return true;
}

bool StubRows::prove(const FrameRow& row, std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t known = begin;
  const bool same = visit(begin, end, [&](const Piece& piece) {
    if (piece.begin > known || !piece.row->same_rules(row)) return false;
    known = piece.end;
    return true;
  });
  return same && known >= end;
}

bool StubRows::refute(const FrameRow& row, std::uint64_t begin, std::uint64_t end) const {
  return !visit(begin, end, [&](const Piece& piece) { return piece.row->same_rules(row); });
}

bool StubRows::refute(const cfi::CfiSection& section, const cfi::Fde& fde, std::uint64_t begin,
                      std::uint64_t end) const {
  const AbiTraits& abi = section.abi();
  const auto resolved = [&](const FrameRow& row) {
    return resolve_fixed(row, abi.fixed_ra_offset, abi.fixed_fp_offset);
  };
  cfi::MinimalRowCursor rows(section, fde);
  for (cfi::MinimalRow row; rows.next(row);) {
    const std::uint64_t from = std::max(begin, row.begin), to = std::min(end, row.end);
    if (from >= to) continue;
    if (const auto made = cfi::to_frame_row(row, abi)) {
      if (refute(resolved(*made), from, to)) return true;
    } else if (const auto plt = cfi::plt_cfa(row.expression(row.cfa), abi)) {
      const bool right = visit(from, to, [&](const Piece& piece) {
        const std::uint64_t at = std::max(piece.begin, from), last = std::min(piece.end, to) - 1;
        const auto fits = [&](std::uint64_t address) {
          const auto block_row = cfi::to_frame_row(plt_row(row, *plt, address), abi);
          return !block_row || piece.row->same_rules(resolved(*block_row));
        };
        return fits(at) && fits(last);
      });
      if (!right) return true;
    }
  }
  return false;
}

cfi::MinimalRow plt_row(cfi::MinimalRow row, const cfi::PltCfa& plt, std::uint64_t address) {
  const std::int64_t offset =
      std::int64_t{plt.offset} + ((address & plt.mask) >= plt.threshold ? plt.step : 0);
  row.cfa = {cfi::CfaRule::Kind::register_offset, plt.base, offset};
  return row;
}

} // namespace sframe::generate
