// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as the code of one function. The first byte selects the ABI, the second the function's
// start, the third and fourth how the rest is split into code, rows and constant data. Properties: decoders
// consume at least one byte and never more than there are; visited instructions are inside the function and
// decodable; a state queried separately equals the visited one; a follower of rows finds what a check of each
// finds; instructions as text are one line; references are to what was asked for.

#include "chosen_abi.h"
#include "cost.h"

#include "sframe/code/analysis.h"
#include "sframe/code/disassembly.h"
#include "sframe/code/references.h"
#include "sframe/code/row_follower.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

using namespace sframe;
using namespace sframe::code;

void require(bool condition) {
  if (!condition) std::abort();
}

using Bytes = std::span<const std::byte>;

/// Constant data everywhere: the same bytes again and again.
class World final : public Environment {
public:
  explicit World(Bytes data) : data_(data) {}

  Bytes constant_data(std::uint64_t address, std::uint64_t size) override {
    if (data_.size() < size) return {};
    return data_.subspan(address % (data_.size() - size + 1), size);
  }
  std::optional<std::uint64_t> constant_pointer(std::uint64_t address) override {
    std::uint64_t value = 0;
    const Bytes bytes = constant_data(address, sizeof value);
    if (bytes.empty()) return std::nullopt;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  bool never_returns(std::uint64_t target) override { return target % 5 == 0; }

private:
  Bytes data_;
};

/// Rows and call sites from pairs of bytes, sorted as the interface asks.
struct Tables {
  std::vector<FrameRow> rows;
  std::vector<CallSite> call_sites;

  Tables(Bytes bytes, std::uint64_t start, const AbiTraits& abi) {
    std::uint32_t offset = 0;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
      const auto distance = static_cast<std::uint32_t>(bytes[i]),
                 what = static_cast<std::uint32_t>(bytes[i + 1]);
      FrameRow row = abi.entry_row();
      row.offset = offset;
      row.cfa.offset += 8 * static_cast<std::int32_t>(what >> 4);
      if (what & 1) row.cfa.base = abi.fp;
      if (what & 2) row.fp = Rule::at_cfa(-16);
      if (what & 4) row.ra = Rule::at_cfa(-8);
      row.ra_signed = what & 8;
      rows.push_back(row);
      call_sites.push_back({start + offset, start + offset + distance, start + 4 * what});
      offset += distance + 1;
    }
  }
};

void try_decoder(const AbiTraits& abi, Bytes code, std::uint64_t start) {
  const auto decoder = make_decoder(abi);
  Instruction instruction;
  std::vector<Effect> effects;
  for (std::size_t at = 0; at < code.size(); at += instruction.length) {
    effects.clear();
    const bool good = decoder->decode(code.subspan(at), start + at, instruction, effects);
    require(instruction.length > 0);
    if (!good) continue;
    require(instruction.length <= code.size() - at && instruction.length <= machine(abi).max_length);
    for (const Effect& effect : effects)
      require(effect.reg == Effect::none || effect.reg < machine(abi).num_registers);
  }
}

void try_analysis(Analyzer& analyzer, const Function& function, const AbiTraits& abi) {
  const Results& results = analyzer.run(function);
  std::vector<std::pair<std::uint64_t, Value>> seen;
  RowFollower follower(abi);
  results.visit([&](const Reached& at) {
    const std::uint64_t address = at.instruction.address;
    require(address - function.start < function.bytes.size());
    require(at.certainty != Certainty::unreached);
    const FrameRow& row = function.rows.empty() ? function.entry : function.rows.back();
    require(follower.agrees(&row, at) == (check(row, at.state(), abi).worst() == Agreement::agrees));
    (void)row_of(at.state(), abi);
    if (seen.size() < 64) seen.emplace_back(address, at.state().reg(abi.sp));
  });
  for (const auto& [address, sp] : seen) {
    const State* state = results.state_at(address);
    require(state);
    require(state->reg(abi.sp) == sp);
    (void)results.row_at(address);
  }
  for (const Gap& gap : results.gaps()) require(gap.end - gap.begin - 1 < function.bytes.size());
  for (const Obstacle& obstacle : results.obstacles())
    require(obstacle.address - function.start < std::max<std::uint64_t>(1, function.bytes.size()));
}

/// For people: slow, so only a few.
void try_text(const AbiTraits& abi, Bytes code, std::uint64_t start) {
  std::size_t at = 0;
  for (unsigned i = 0; i < 8 && at < code.size(); ++i) {
    const std::string text = instruction_text(abi, code.subspan(at), start + at);
    require(!text.empty() && text.find('\n') == text.npos);
    const InstructionOperands operands = instruction_operands(abi, code.subspan(at), start + at);
    require(operands.length <= code.size() - at);
    for (const std::uint8_t reg : operands.registers) require(reg != MemoryAccess::none);
    at += std::max<std::size_t>(1, operands.length) + i * 7;
  }
}

void try_references(const AbiTraits& abi, Bytes code, std::uint64_t start) {
  const AddressSet wanted({{start, code.size()}});
  std::vector<Reference> found;
  ReferenceFinder(abi).find(code, start, wanted, nullptr, found);
  for (const Reference& reference : found) require(wanted.contains(reference.target));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  if (size < 4) return 0;
  const AbiTraits& abi = sframe::fuzz::chosen_abi(data[0]);
  if (!make_decoder(abi)) return 0;
  const std::uint64_t start =
      data[1] & 0x80 ? std::uint64_t(0) - 64 * (data[1] & 0x7f) : 0x400000u + 4 * data[1];
  const Bytes rest = std::as_bytes(std::span(data + 4, size - 4));
  const Bytes tables = rest.first(rest.size() * data[2] / 512), code = rest.subspan(tables.size());
  const Tables made(tables, start, abi);
  World world(code);

  try_decoder(abi, code, start);
  Analyzer analyzer(abi);
  Function function{.start = start, .bytes = code, .entry = abi.entry_row(), .environment = &world};
  try_analysis(analyzer, function, abi);
  function.rows = made.rows;
  function.call_sites = made.call_sites;
  if (!made.rows.empty()) function.entry = made.rows.front();
  try_analysis(analyzer, function, abi);
  try_text(abi, code, start);
  try_references(abi, code, start);
  return 0;
}
