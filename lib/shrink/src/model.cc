// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lib/cfi reads the entries and executes their instructions. What it does not keep, since rows do not need
// it, is read here: how pointers are stored. Whatever could be lost makes this fail.

#include "model.h"

#include "instructions.h"
#include "sframe/base/budget.h"
#include "sframe/base/text.h"

#include <algorithm>
#include <map>
#include <string>

namespace sframe::shrink {

using namespace cfi;

namespace {

constexpr std::string_view section_name = ".eh_frame";
constexpr std::uint64_t max_rules_per_byte = 2;

unexpected<Problem> fail_at(std::string what, std::uint64_t offset) {
  return fail(std::move(what), section_name, offset);
}

class Reader {
public:
  Reader(const CfiSection& section, Budget* budget) : section_(section), budget_(budget) {
    model_.abi = &section.abi();
    model_.states.add(State{}); // number 0, of CIEs that are not understood
  }

  Result<Model> read() {
    if (const auto done = check_end(); !done) return unexpected(done.error());
    for (auto fdes = section_.fdes();;) {
      const auto fde = fdes.next();
      if (!fde) return fail_at(message(fde.error().kind), fde.error().offset);
      if (!*fde) break;
      if (const auto done = add(**fde); !done) return unexpected(done.error());
    }
    std::ranges::sort(model_.functions, {}, &Function::start);
    for (std::size_t i = 1; i < model_.functions.size(); ++i)
      if (model_.functions[i].start - model_.functions[i - 1].start < model_.functions[i - 1].size)
        return fail_at("FDEs overlap", model_.functions[i].offset);
    if (model_.functions.empty()) return fail("no FDE", section_name);
    return std::move(model_);
  }

private:
  /// Nothing but the terminator, and zeros, may follow the entries.
  Result<void> check_end() const {
    DwarfReader reader(section_.bytes(), 0, section_.bytes().size(), section_.abi().byte_order);
    while (reader.left() >= 4) {
      const std::uint64_t at = reader.at();
      const auto length = reader.fixed<std::uint32_t>();
      if (length == 0) {
        const auto rest = section_.bytes().subspan(at);
        if (std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte(0); })) return {};
        return fail_at("entries after the terminator", at);
      }
      if (length >= 0xfffffff0) return fail_at("an entry of the 64-bit format, or with a wrong length", at);
      reader.skip(length);
    }
    if (reader.failed() || reader.left() != 0) return fail_at("an entry runs past the section", reader.at());
    return {};
  }

  DwarfReader reader_at(std::uint64_t offset) const {
    return {section_.bytes(), offset, section_.bytes().size(), section_.abi().byte_order};
  }

  /// The stored pointer at the reader's position.
  StoredPointer read_pointer(DwarfReader& reader, std::uint8_t encoding) const {
    const std::uint64_t place = section_.address() + reader.at();
    const unsigned width = width_of(encoding);
    std::uint64_t value = reader.number(width);
    if (encoding & pe_signed && width == 4)
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
    StoredPointer pointer{encoding, value};
    if (value != 0 && pointer.pc_relative()) pointer.value = value + place;
    return pointer;
  }

  /// The letters again, for the pointers' encodings. Fails if there is other data.
  Result<void> read_augmentation(const Cie& cie, ModelCie& out) {
    const std::string_view letters = as_text(cie.augmentation);
    if (!cie.has_augmentation_data) {
      if (letters.empty()) return {};
      return fail_at("unknown augmentation", cie.offset);
    }
    DwarfReader reader = reader_at(cie.offset + 9 + letters.size() + 1);
    reader.uleb();
    reader.sleb();
    if (cie.version == 1)
      reader.u8();
    else
      reader.uleb();
    const std::uint64_t size = reader.uleb();
    const std::uint64_t start = reader.at();
    if (std::ranges::count(letters, 'P') > 1) return fail_at("two personalities", cie.offset);
    for (const char letter : letters.substr(1)) {
      if (letter == 'R' || letter == 'L') reader.u8();
      if (letter != 'P') continue;
      const std::uint8_t encoding = reader.u8();
      if (width_of(encoding) == 0) return fail_at("a pointer's encoding cannot be written again", cie.offset);
      out.personality = read_pointer(reader, encoding);
    }
    if (reader.failed() || reader.at() - start != size)
      return fail_at("augmentation data of another size", cie.offset);
    return {};
  }

  Result<std::uint32_t> cie_number(const Cie& cie) {
    if (const auto known = cies_.find(cie.offset); known != cies_.end()) return known->second;
    if (cie.version == 4 || cie.address_size != 8 || cie.unknown_augmentation)
      return fail_at("a CIE of another version, or an unknown augmentation", cie.offset);
    ModelCie out;
    out.version = cie.version;
    out.augmentation = cie.augmentation;
    out.code_alignment = cie.code_alignment;
    out.data_alignment = cie.data_alignment;
    out.return_register = cie.return_register;
    out.fde_encoding = cie.fde_encoding;
    out.lsda_encoding = cie.lsda_encoding;
    out.has_augmentation_data = cie.has_augmentation_data;
    out.signal_frame = cie.signal_frame;
    if (const auto done = read_augmentation(cie, out); !done) return unexpected(done.error());
    const bool is_known_base =
        (cie.fde_encoding & 0xf0) == pe_absptr || (cie.fde_encoding & 0xf0) == pe_pcrel;
    if (width_of(cie.fde_encoding) == 0 || !is_known_base)
      return fail_at("a pointer's encoding cannot be written again", cie.offset);
    if (cie.lsda_encoding != pe_omit && width_of(cie.lsda_encoding) == 0)
      return fail_at("a pointer's encoding cannot be written again", cie.offset);
    const Survey all = survey(cie.instructions, section_.abi());
    out.instructions = cie.instructions.first(all.size);
    out.understood =
        all.understood && all.restored.empty() && cie.code_alignment != 0 && cie.data_alignment != 0;
    Fde probe{.start = 0, .size = 1, .cie = cie};
    FullRowCursor rows(section_, probe);
    FullRow row;
    if (rows.next(row) && row.cfa.kind != CfaRule::Kind::unspecified && !row.ra_signed)
      out.state = model_.states.add(row);
    else
      out.understood = false;
    const auto equal =
        std::ranges::find_if(model_.cies, [&](const ModelCie& other) { return out.equals(other); });
    const auto number = static_cast<std::uint32_t>(equal - model_.cies.begin());
    if (equal == model_.cies.end()) model_.cies.push_back(out);
    cies_.emplace(cie.offset, number);
    return number;
  }

  Result<void> add(const Fde& fde) {
    if (fde.after_terminator) return fail_at("FDE after the terminator", fde.offset);
    if (fde.size == 0) return fail_at("FDE of no address", fde.offset);
    const auto number = cie_number(fde.cie);
    if (!number) return unexpected(number.error());
    Function out{.start = fde.start, .size = fde.size, .offset = fde.offset, .cie = *number};
    const ModelCie& cie = model_.cies[*number];
    if (const auto done = read_lsda(fde, cie, out); !done) return unexpected(done.error());
    const Survey all = survey(fde.instructions, section_.abi());
    if (budget_ && !budget_->take(Resource::cfi_instructions, fde.instructions.size() + 1))
      return fail(budget_->problem() ? budget_->problem()->what : "too many instructions", section_name);
    if (!all.understood && has_absolute_location(fde.instructions))
      return fail_at("DW_CFA_set_loc, or an unknown instruction", fde.offset);
    out.instructions = fde.instructions.first(all.size);
    // A restored register with a rule in the CIE: libgcc and DWARF disagree about what that means.
    const State& initial = model_.states[cie.state];
    out.understood =
        all.understood && cie.understood && std::ranges::all_of(all.restored, [&](std::uint64_t reg) {
          return initial.rule(static_cast<std::uint32_t>(reg)).kind == RegisterRule::Kind::unspecified;
        });
    // A row of a few bytes may have 96 rules, all different from those before. No program comes near.
    if (model_.states.num_rules() > max_rules_per_byte * section_.bytes().size()) out.understood = false;
    if (out.understood) out.understood = read_steps(fde, cie, out);
    model_.functions.push_back(out);
    return {};
  }

  /// Instructions that cannot be copied to another place.
  bool has_absolute_location(std::span<const std::byte> instructions) const {
    DwarfReader reader(instructions, 0, instructions.size(), section_.abi().byte_order);
    while (reader.left() != 0)
      if (!read_instruction(reader, instructions)) return true;
    return false;
  }

  Result<void> read_lsda(const Fde& fde, const ModelCie& cie, Function& out) const {
    if (!cie.has_augmentation_data) return {};
    DwarfReader reader = reader_at(fde.offset + 8);
    reader.skip(std::uint64_t{2} * width_of(cie.fde_encoding));
    const std::uint64_t size = reader.uleb();
    const std::uint64_t start = reader.at();
    if (cie.lsda_encoding != pe_omit) out.lsda = read_pointer(reader, cie.lsda_encoding).value;
    if (reader.failed() || reader.at() - start != size)
      return fail_at("augmentation data of another size", fde.offset);
    return {};
  }

  /// The function's states. False if they cannot all be written.
  bool read_steps(const Fde& fde, const ModelCie& cie, Function& out) {
    out.first_step = static_cast<std::uint32_t>(model_.steps.size());
    FullRowCursor rows(section_, fde);
    FullRow row;
    bool sound = true;
    while (sound && rows.next(row)) {
      const std::uint32_t state = model_.states.add(row);
      const std::uint64_t offset = row.begin - fde.start;
      sound = row.cfa.kind != CfaRule::Kind::unspecified && !row.ra_signed_with_pc &&
              offset % cie.code_alignment == 0;
      const bool repeats = out.num_steps != 0 && model_.steps.back().state == state;
      if (repeats) continue;
      model_.steps.push_back({offset, state});
      ++out.num_steps;
    }
    if (sound && !rows.error() && out.num_steps != 0) return true;
    model_.steps.resize(out.first_step);
    out.num_steps = 0;
    return false;
  }

  const CfiSection& section_;
  Budget* budget_;
  Model model_;
  std::map<std::uint64_t, std::uint32_t> cies_; ///< numbers by offset
};

} // namespace

unsigned width_of(std::uint8_t encoding) {
  const std::uint8_t base = encoding & 0x70;
  if (base != pe_absptr && base != pe_pcrel && base != pe_datarel) return 0;
  switch (encoding & 0x0f) {
  case pe_absptr:
  case pe_udata8:
  case pe_sdata8: return 8;
  case pe_udata4:
  case pe_sdata4: return 4;
  default: return 0;
  }
}

bool ModelCie::equals(const ModelCie& other) const {
  return version == other.version && std::ranges::equal(augmentation, other.augmentation) &&
         code_alignment == other.code_alignment && data_alignment == other.data_alignment &&
         return_register == other.return_register && fde_encoding == other.fde_encoding &&
         lsda_encoding == other.lsda_encoding && personality == other.personality &&
         std::ranges::equal(instructions, other.instructions);
}

Result<Model> read_model(const CfiSection& section, Budget* budget) {
  return Reader(section, budget).read();
}

} // namespace sframe::shrink
