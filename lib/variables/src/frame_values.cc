// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In three parts: what cfi::evaluate_location() asks about the frame (LocationContext); objects from the
// pieces that it finds (locate(), gather()); values at the function's entry. An object in two registers, of
// which one is lost, keeps its known half: each bit has a reason for being missing.
//
// A value at the entry comes from the caller: its call site (DW_TAG_call_site) has an expression for the
// register or place that the description names, which is evaluated in the caller's frame. The caller's values
// may need its own caller; at most `callers` frames are stepped to, and only where the step is exact.

#include "frame_values.h"

#include "sframe/base/text.h"
#include "sframe/cfi/vector_granule.h"
#include "sframe/unwind/abi.h"

#include <llvm/DebugInfo/DWARF/DWARFDebugLoc.h>
#include <llvm/DebugInfo/DWARF/DWARFLocationExpression.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

namespace sframe::variables {

namespace {

using namespace llvm::dwarf;

constexpr std::size_t most_parts = 1024;

bool is_left_aligned(Abi id, std::uint64_t reg) {
  const unwind::UnwindAbi* const abi = unwind::find_unwind_abi(id);
  return abi && reg < 64 && abi->left_aligned >> reg & 1;
}

/// The register that the expression names and nothing else; as a typed value, too.
std::optional<std::uint64_t> register_of(std::span<const std::byte> expression) {
  if (expression.empty()) return std::nullopt;
  const auto operation = std::to_integer<std::uint8_t>(expression[0]);
  if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31 && expression.size() == 1)
    return operation - DW_OP_reg0;
  const bool is_typed = operation == DW_OP_regval_type || operation == 0xf5; // the GNU operation
  if (!is_typed && operation != DW_OP_regx) return std::nullopt;
  const llvm::DataExtractor data(as_text(expression), true, 8);
  llvm::DataExtractor::Cursor at(1);
  const std::uint64_t reg = data.getULEB128(at);
  if (is_typed) data.getULEB128(at);
  const bool whole = at && at.tell() == expression.size();
  llvm::consumeError(at.takeError());
  return whole ? std::optional(reg) : std::nullopt;
}

} // namespace

/// The frame that called this one.
struct FrameValues::Caller {
  unwind::FrameState state;
  std::optional<DebugReader> reader;
  std::optional<FrameValues> values;
};

FrameValues::FrameValues(Surroundings& surroundings, const unwind::FrameState& frame,
                         std::optional<std::uint64_t> cfa, DebugReader& reader,
                         const llvm::DWARFDie& function, unsigned callers)
    : surroundings_(surroundings), frame_(frame), cfa_(cfa), reader_(reader), function_(function),
      callers_(callers), order_(surroundings.space.abi().byte_order),
      abi_(unwind::find_unwind_abi(surroundings.space.abi().id)),
      address_(reader.location_of(frame.lookup_pc()).Address) {}

FrameValues::~FrameValues() = default;

bool FrameValues::part(const cfi::LocationPart& part) {
  if (parts_->size() == most_parts) return false;
  parts_->push_back(part);
  return true;
}

std::uint64_t FrameValues::relocated(std::uint64_t address) {
  return address + reader_.module().bias();
}

std::optional<std::uint64_t> FrameValues::read_register(std::uint32_t reg) {
  const bool is_granule = reg == cfi::vector_granule(surroundings_.space.abi());
  return frame_.registers.get(is_granule ? unwind::Registers::vector_granule : reg);
}

std::optional<std::uint64_t> FrameValues::read_memory(std::uint64_t address, std::uint32_t size) {
  return surroundings_.memory.number(address, size);
}

std::optional<std::uint64_t> FrameValues::indexed(std::uint64_t index) {
  if (index > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const auto found = unit_->getAddrOffsetSectionItem(static_cast<std::uint32_t>(index));
  return found ? std::optional(found->Address) : std::nullopt;
}

std::optional<cfi::ValueType> FrameValues::base_type(std::uint64_t offset) {
  const std::uint64_t at = unit_->getOffset() + offset;
  if (offset >= unit_->getLength() || !reader_.take(Resource::debug_steps, 1)) return std::nullopt;
  const llvm::DWARFDie die = unit_->getDIEForOffset(at);
  if (!die || die.getTag() != DW_TAG_base_type) return std::nullopt;
  const auto size = number_of(die, DW_AT_byte_size);
  if (!size || *size == 0 || *size > 8) return std::nullopt;
  using Kind = cfi::ValueType::Kind;
  cfi::ValueType type{Kind::unsigned_number, static_cast<std::uint8_t>(*size)};
  switch (number_of(die, DW_AT_encoding).value_or(0)) {
  case DW_ATE_signed:
  case DW_ATE_signed_char: type.kind = Kind::signed_number; break;
  case DW_ATE_float:
    if (*size != 4 && *size != 8) return std::nullopt;
    type.kind = Kind::floating;
    break;
  default: break;
  }
  return type;
}

/// A frame base that is a register is the register's value.
std::optional<std::uint64_t> FrameValues::frame_base() {
  if (frame_base_) return *frame_base_;
  if (std::exchange(in_frame_base_, true)) return std::nullopt; // it refers to itself
  const auto value = function_.find(DW_AT_frame_base);
  const auto expression = value ? expression_at(function_, *value) : std::nullopt;
  frame_base_ = expression && !expression->empty()
                    ? value_of(*function_.getDwarfUnit(), std::as_bytes(std::span(*expression)))
                    : std::nullopt;
  in_frame_base_ = false;
  return *frame_base_;
}

std::optional<FrameValues::Expression> FrameValues::expression_at(const llvm::DWARFDie& die,
                                                                  const llvm::DWARFFormValue& value) {
  if (const auto block = value.getAsBlock()) return Expression(block->begin(), block->end());
  auto offset = value.getAsSectionOffset();
  llvm::DWARFUnit& unit = *die.getDwarfUnit();
  if (offset && value.getForm() == DW_FORM_loclistx)
    offset = unit.getLoclistOffset(static_cast<std::uint32_t>(*offset));
  if (!offset) return std::nullopt;
  std::optional<Expression> found;
  std::optional<Expression> fallback;
  llvm::Error error = unit.getLocationTable().visitAbsoluteLocationList(
      *offset, unit.getBaseAddress(),
      [&](std::uint32_t index) { return unit.getAddrOffsetSectionItem(index); },
      [&](llvm::Expected<llvm::DWARFLocationExpression> location) {
        if (!location) {
          llvm::consumeError(location.takeError());
          return reader_.take(Resource::debug_steps, 1);
        }
        if (!reader_.take(Resource::debug_steps, 1 + location->Expr.size() / 16)) return false;
        if (!location->Range)
          fallback = location->Expr;
        else if (address_ >= location->Range->LowPC && address_ < location->Range->HighPC)
          found = location->Expr;
        return !found;
      });
  llvm::consumeError(std::move(error));
  if (!found) found = std::move(fallback);
  return found ? found : Expression();
}

bool FrameValues::evaluate(llvm::DWARFUnit& unit, std::span<const std::byte> expression,
                           std::vector<cfi::LocationPart>& parts, cfi::ExpressionError& error,
                           std::optional<std::uint64_t> first) {
  std::vector<cfi::LocationPart>* const outer_parts = std::exchange(parts_, &parts);
  llvm::DWARFUnit* const outer_unit = std::exchange(unit_, &unit);
  std::uint64_t steps = 1;
  const std::uint8_t offset_size = unit.getFormat() == DWARF64 ? 8 : 4;
  const auto result = cfi::evaluate_location(
      expression, *this, {.byte_order = order_, .address_size = 8, .cfa = first, .offset_size = offset_size},
      steps);
  parts_ = outer_parts;
  unit_ = outer_unit;
  if (!result) error = result.error();
  return reader_.take(Resource::debug_steps, steps) && result;
}

std::optional<std::uint64_t> FrameValues::value_of(llvm::DWARFUnit& unit,
                                                   std::span<const std::byte> expression,
                                                   std::optional<std::uint64_t> first) {
  std::vector<cfi::LocationPart> parts;
  cfi::ExpressionError ignored;
  if (!evaluate(unit, expression, parts, ignored, first) || parts.size() != 1) return std::nullopt;
  using Kind = cfi::LocationPart::Kind;
  switch (parts[0].kind) {
  case Kind::memory: // the value on top of the stack
  case Kind::number: return parts[0].value;
  case Kind::reg:
    return parts[0].value < unwind::Registers::count ? frame_.registers.get(parts[0].value) : std::nullopt;
  case Kind::bytes:
    if (parts[0].bytes.empty() || !std::has_single_bit(parts[0].bytes.size()) || parts[0].bytes.size() > 8)
      return std::nullopt;
    return load_sized(parts[0].bytes.data(), static_cast<unsigned>(parts[0].bytes.size()), order_);
  default: return std::nullopt;
  }
}

std::optional<std::uint64_t> FrameValues::number(const llvm::DWARFDie& die, llvm::dwarf::Attribute attribute,
                                                 std::optional<std::uint64_t> first) {
  const auto value = die.find(attribute);
  if (!value) return std::nullopt;
  if (const auto expression = block_of(*value)) return value_of(*die.getDwarfUnit(), *expression, first);
  return number_of(*value);
}

bool FrameValues::is_followed(std::uint64_t reg) const {
  return abi_ && reg < abi_->register_names.size();
}

Missing FrameValues::missing_of(const cfi::ExpressionError& error) const {
  using Kind = cfi::ExpressionErrorKind;
  switch (error.kind) {
  case Kind::no_register: return is_followed(error.address) ? Missing::optimized_out : Missing::not_available;
  case Kind::no_memory: return Missing::unreadable;
  case Kind::no_value: return Missing::optimized_out;
  default: return Missing::not_supported;
  }
}

Object FrameValues::locate(std::span<const DebugEntry> entries, std::uint64_t size) {
  if (const auto location = find(entries, DW_AT_location)) {
    llvm::DWARFUnit& unit = *location->entry->die.getDwarfUnit();
    const auto expression = expression_at(location->entry->die, location->value);
    if (!expression) return Object::without(Missing::not_supported);
    std::vector<cfi::LocationPart> parts;
    cfi::ExpressionError error;
    if (!evaluate(unit, std::as_bytes(std::span(*expression)), parts, error))
      return Object::without(missing_of(error), error.address);
    if (parts.empty()) return Object::without(Missing::optimized_out);
    return gather(parts, size);
  }
  const auto constant = find(entries, DW_AT_const_value);
  if (!constant) return Object::without(Missing::optimized_out);
  cfi::LocationPart part;
  const char* text = nullptr;
  if (const auto bytes = block_of(constant->value)) {
    part.kind = cfi::LocationPart::Kind::bytes;
    part.bytes = *bytes;
  } else if (const auto number = number_of(constant->value)) {
    part.kind = cfi::LocationPart::Kind::number;
    part.value = *number;
  } else if ((text = reader_.text_of(*constant->entry, DW_AT_const_value))) {
    part.kind = cfi::LocationPart::Kind::bytes;
    part.bytes = std::as_bytes(std::span(text, std::strlen(text) + 1));
  } else {
    return Object::without(Missing::not_supported);
  }
  return gather(std::span(&part, 1), size);
}

Object FrameValues::gather(std::span<const cfi::LocationPart> parts, std::uint64_t size) {
  using Kind = cfi::LocationPart::Kind;
  if (parts.size() == 1 && !parts[0].bits && parts[0].kind == Kind::memory) return Object::at(parts[0].value);
  if (size > Object::most_bytes) return Object::without(Missing::not_supported);
  if (!reader_.take(Resource::debug_steps, size / 16)) return Object::without(Missing::not_supported);
  Object object;
  object.bytes.resize(size);
  object.missing.assign(size * 8, Missing::optimized_out);
  std::uint64_t at = 0; // in bits
  for (const cfi::LocationPart& part : parts) {
    if (at >= size * 8) break;
    const std::uint64_t bits = std::min(part.bits.value_or(size * 8), size * 8 - at);
    const bool whole_bytes = at % 8 == 0 && bits % 8 == 0 && part.bit_offset % 8 == 0;
    if (whole_bytes)
      gather(part, at / 8, bits / 8, object);
    else
      gather_bits(part, at, bits, object);
    at += bits;
  }
  return object;
}

/// Bit-fields in registers and constants.
void FrameValues::gather_bits(const cfi::LocationPart& part, std::uint64_t at, std::uint64_t bits,
                              Object& into) {
  const auto missing = std::span(into.missing).subspan(at, bits);
  const std::uint64_t first = part.bit_offset;
  if (bits > 64 || first > 8 * Object::most_bytes) {
    std::ranges::fill(missing, part.kind == cfi::LocationPart::Kind::nowhere ? Missing::optimized_out
                                                                             : Missing::not_supported);
    return;
  }
  // As many whole bytes as have them.
  cfi::LocationPart whole = part;
  whole.bit_offset = 0;
  const std::uint64_t bytes = (first + bits + 7) / 8;
  Object source;
  source.bytes.resize(bytes);
  source.missing.assign(bytes * 8, Missing::optimized_out);
  gather(whole, 0, bytes, source);
  std::uint64_t value = 0;
  using Kind = cfi::LocationPart::Kind;
  // The low bits of a number are the last ones in the big-endian order.
  const bool is_number = part.kind == Kind::number || part.kind == Kind::reg;
  const std::uint64_t skipped = order_ == ByteOrder::big && is_number ? bytes * 8 - bits - first : first;
  const Absence absence = read_bits({&source, 0}, skipped, bits, surroundings_.memory, value);
  if (absence.why == Missing::none) insert(into.bytes, at, bits, order_, value);
  if (absence.why == Missing::unreadable) into.unreadable_address = absence.address;
  std::ranges::fill(missing, absence.why);
}

void FrameValues::gather(const cfi::LocationPart& part, std::uint64_t at, std::uint64_t size, Object& into) {
  using Kind = cfi::LocationPart::Kind;
  const std::span<std::byte> bytes = std::span(into.bytes).subspan(at, size);
  const std::span<Missing> missing = std::span(into.missing).subspan(at * 8, size * 8);
  const auto miss = [&](Missing why, std::uint64_t address = 0) {
    std::ranges::fill(missing, why);
    if (address) into.unreadable_address = address;
  };
  const std::uint64_t skipped = part.bit_offset / 8;
  /// The first bytes of what is there.
  const auto copy = [&](std::span<const std::byte> from) {
    const std::size_t count = skipped < from.size() ? std::min(from.size() - skipped, bytes.size()) : 0;
    if (count) std::ranges::copy(from.subspan(skipped, count), bytes.begin());
    std::ranges::fill(missing.first(count * 8), Missing::none);
  };
  const auto copy_number = [&](std::uint64_t value, bool left) {
    std::array<std::byte, 8> word;
    for (unsigned i = 0; i < 8; ++i)
      word[order_ == ByteOrder::little ? i : 7 - i] = static_cast<std::byte>(value >> 8 * i);
    std::span<const std::byte> from = word;
    // The low bytes are the last ones in the big-endian order.
    if (order_ == ByteOrder::big && !left && size < 8 && skipped == 0) from = from.last(size);
    copy(from);
  };
  switch (part.kind) {
  case Kind::nowhere: return miss(Missing::optimized_out);
  case Kind::pointer: return miss(Missing::synthetic_pointer);
  case Kind::bytes: return copy(part.bytes);
  case Kind::number: return copy_number(part.value, false);
  case Kind::reg: {
    if (part.value >= unwind::Registers::count || !is_followed(part.value))
      return miss(Missing::not_available);
    const auto value = frame_.registers.get(part.value);
    if (!value) return miss(Missing::optimized_out);
    return copy_number(*value, is_left_aligned(surroundings_.space.abi().id, part.value));
  }
  case Kind::memory: {
    const Object object = Object::at(part.value + skipped);
    const Absence absence = read({&object, 0}, surroundings_.memory, bytes);
    if (absence.why != Missing::none) return miss(absence.why, absence.address);
    std::ranges::fill(missing, Missing::none);
    return;
  }
  }
}

// Values at the function's entry.

FrameValues::Caller* FrameValues::caller() {
  if (caller_) return caller_->get();
  caller_.emplace();
  if (callers_ == 0) return nullptr;
  auto found = std::make_unique<Caller>();
  const unwind::FrameStepper* by = nullptr;
  unwind::StepResult step;
  surroundings_.walker.step(frame_, found->state, by, step);
  if (step.status != unwind::StepStatus::stepped || step.trust != unwind::Trust::exact || step.may_skip ||
      found->state.pc_exact)
    return nullptr;
  modules::Module* const module = surroundings_.space.module_at(found->state.lookup_pc());
  if (module != &reader_.module() && !surroundings_.other_modules) return nullptr;
  modules::DebugInfo* const debug =
      module ? find_debug_info(*module, *surroundings_.cache, found->state.lookup_pc()) : nullptr;
  if (!debug) return nullptr;
  found->reader.emplace(*module, *debug);
  const auto chain = found->reader->find_chain(found->reader->location_of(found->state.lookup_pc()).Address);
  if (!chain.unit || chain.entries.empty()) return nullptr;
  // The CFA of the caller.
  unwind::FrameState further;
  unwind::StepResult next;
  surroundings_.walker.step(found->state, further, by, next);
  const auto cfa = next.has_cfa ? std::optional(next.cfa) : std::nullopt;
  found->values.emplace(surroundings_, found->state, cfa, *found->reader, chain.entries.back(), callers_ - 1);
  *caller_ = std::move(found);
  return caller_->get();
}

std::optional<std::uint64_t> FrameValues::entry_value(std::span<const std::byte> expression) {
  Caller* const from = caller();
  if (!from) return std::nullopt;
  const auto reg = register_of(expression);
  return from->values->number_at_call(*this, [&](const llvm::DWARFDie& parameter) {
    const auto location = parameter.find(DW_AT_location);
    const auto of = location ? block_of(*location) : std::nullopt;
    return of && (reg ? register_of(*of) == reg : std::ranges::equal(*of, expression));
  });
}

std::optional<std::uint64_t> FrameValues::passed_value(std::uint64_t parameter) {
  const std::uint64_t offset = unit_->getOffset() + parameter;
  Caller* const from = caller();
  if (!from) return std::nullopt;
  return from->values->number_at_call(*this, [&](const llvm::DWARFDie& passed) {
    for (const auto attribute : {DW_AT_call_parameter, DW_AT_abstract_origin}) {
      const auto die = from->reader->referred({passed, &from->reader->debug()}, attribute);
      if (die && die->die) return die->in == &reader_.debug() && die->die.getOffset() == offset;
    }
    return false;
  });
}

/// The entry of the call that this frame made, if it is one of the callee's function.
llvm::DWARFDie FrameValues::find_call_site(FrameValues& callee) {
  const std::uint64_t return_address = address_ + 1;
  std::vector<llvm::DWARFDie> open{function_};
  while (!open.empty()) {
    const llvm::DWARFDie parent = open.back();
    open.pop_back();
    for (const llvm::DWARFDie& child : parent.children()) {
      if (!reader_.visit(child)) return {};
      const auto tag = child.getTag();
      if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) {
        open.push_back(child);
      } else if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) {
        const auto pc = toAddress(child.find(tag == DW_TAG_call_site ? DW_AT_call_return_pc : DW_AT_low_pc));
        if (pc == return_address) return calls(child, callee) ? child : llvm::DWARFDie();
      }
    }
  }
  return {};
}

/// The value of a parameter of the call that this frame made, as the call site in its function has it.
std::optional<std::uint64_t>
FrameValues::number_at_call(FrameValues& callee,
                            const std::function<bool(const llvm::DWARFDie& parameter)>& is_wanted) {
  if (!call_site_) call_site_ = find_call_site(callee);
  if (!*call_site_) return std::nullopt;
  for (const llvm::DWARFDie& parameter : call_site_->children()) {
    if (!reader_.visit(parameter)) return std::nullopt;
    if (parameter.getTag() != DW_TAG_call_site_parameter &&
        parameter.getTag() != DW_TAG_GNU_call_site_parameter)
      continue;
    if (!is_wanted(parameter)) continue;
    for (const auto attribute : {DW_AT_call_value, DW_AT_GNU_call_site_value})
      if (const auto value = parameter.find(attribute)) {
        const auto of_value = block_of(*value);
        return of_value ? value_of(*parameter.getDwarfUnit(), *of_value) : std::nullopt;
      }
  }
  return std::nullopt;
}

/// True if the call is one of that function. Otherwise there are tail calls between the two, after which the
/// registers have other values.
bool FrameValues::calls(const llvm::DWARFDie& site, FrameValues& callee) {
  const DebugEntry entry{site, &reader_.debug()};
  for (const auto attribute : {DW_AT_call_target, DW_AT_GNU_call_site_target})
    if (const auto value = site.find(attribute)) {
      const auto expression = block_of(*value);
      const auto target = expression ? value_of(*site.getDwarfUnit(), *expression) : std::nullopt;
      const auto start = toAddress(callee.function_.find({DW_AT_entry_pc, DW_AT_low_pc}));
      return target && start && *target == callee.relocated(*start);
    }
  for (const auto attribute : {DW_AT_call_origin, DW_AT_abstract_origin}) {
    const auto called = reader_.referred(entry, attribute);
    if (!called || !called->die) continue;
    const auto of_call = reader_.follow_origins(*called);
    const auto of_callee = callee.reader_.follow_origins({callee.function_, &callee.reader_.debug()});
    if (!of_call || !of_callee) return false;
    for (const DebugEntry& one : *of_call)
      for (const DebugEntry& other : *of_callee)
        if (one.die == other.die) return true;
    // A declaration in another unit.
    const auto name = [](DebugReader& reader, std::span<const DebugEntry> entries) -> const char* {
      for (const auto with : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
        for (const DebugEntry& one : entries)
          if (const char* const text = reader.text_of(one, with)) return text;
      return nullptr;
    };
    const char* const called_name = name(reader_, *of_call);
    const char* const own_name = name(callee.reader_, *of_callee);
    return called_name && own_name && std::strcmp(called_name, own_name) == 0 &&
           has_flag(*of_call, DW_AT_external) && has_flag(*of_callee, DW_AT_external);
  }
  return false;
}

} // namespace sframe::variables
