// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks decoders against LLVM's disassembler (its MC layer), which decodes the same bytes. LLVM knows
// lengths, kinds of branches and the registers that an instruction defines. Our decoder must write all of
// these registers and, with named exceptions, no others.

#pragma once

#include "sframe/code/instruction.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::test {

/// An instruction as LLVM sees it.
struct Opinion {
  std::string name; ///< from LLVM's instruction tables
  std::uint8_t length = 0;
  bool is_branch = false, is_indirect = false, is_barrier = false, is_call = false, is_return = false;
  std::uint64_t written = 0; ///< one bit per DWARF register below 32
  bool stores_to_sp = false; ///< writes memory at SP + a constant
  std::optional<std::uint64_t> target;
};

class SecondOpinion {
public:
  /// `sp`: its DWARF number. `tells_memory`: whether LLVM's tables of this target mark memory operands.
  SecondOpinion(const char* triple, const char* cpu, const char* features, std::uint32_t sp,
                bool tells_memory)
      : sp_(sp), tells_memory_(tells_memory) {
    const llvm::Triple target(triple);
    std::string error;
    const auto* found = llvm::TargetRegistry::lookupTarget(target, error);
    registers_.reset(found->createMCRegInfo(target));
    assembly_.reset(found->createMCAsmInfo(*registers_, target, options_));
    subtarget_.reset(found->createMCSubtargetInfo(target, cpu, features));
    context_ = std::make_unique<llvm::MCContext>(target, assembly_.get(), registers_.get(), subtarget_.get());
    instructions_.reset(found->createMCInstrInfo());
    analysis_.reset(found->createMCInstrAnalysis(instructions_.get()));
    disassembler_.reset(found->createMCDisassembler(*subtarget_, *context_));
  }

  std::optional<Opinion> decode(std::span<const std::byte> bytes, std::uint64_t address) const {
    llvm::MCInst instruction;
    std::uint64_t length = 0;
    const llvm::ArrayRef<std::uint8_t> raw(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (disassembler_->getInstruction(instruction, length, raw, address, llvm::nulls()) !=
        llvm::MCDisassembler::Success)
      return {};
    const llvm::MCInstrDesc& description = instructions_->get(instruction.getOpcode());
    Opinion opinion{.name = instructions_->getName(instruction.getOpcode()).str(),
                    .length = static_cast<std::uint8_t>(length),
                    .is_branch = description.isBranch(),
                    .is_indirect = description.isIndirectBranch(),
                    .is_barrier = description.isBarrier(),
                    .is_call = description.isCall(),
                    .is_return = description.isReturn()};
    for (unsigned i = 0; i < description.getNumDefs(); ++i)
      if (instruction.getOperand(i).isReg()) opinion.written |= bits_of(instruction.getOperand(i).getReg());
    for (const auto reg : description.implicit_defs()) opinion.written |= bits_of(reg);
    opinion.stores_to_sp = description.mayStore() && addresses_sp(instruction, description);
    std::uint64_t target = 0;
    if (analysis_->evaluateBranch(instruction, address, length, target)) opinion.target = target;
    return opinion;
  }

private:
  /// The registers that an LLVM register equals, contains or is part of. Pairs count as their parts.
  std::uint64_t bits_of(llvm::MCRegister reg) const {
    std::uint64_t bits = 0;
    const auto add = [&](llvm::MCRegister one) {
      const llvm::StringRef name = registers_->getName(one);
      if (name == "XZR" || name == "WZR" || name.ends_with("Q")) return;
      const std::int64_t number = registers_->getDwarfRegNum(one, true);
      if (number >= 0 && number < 32) bits |= std::uint64_t{1} << number;
    };
    for (const auto one : registers_->subregs_inclusive(reg)) add(one);
    const bool is_whole_pair = llvm::StringRef(registers_->getName(reg)).ends_with("Q");
    if (!is_whole_pair && bits == 0)
      for (const auto one : registers_->superregs(reg)) {
        const std::int64_t number = registers_->getDwarfRegNum(one, true);
        if (number >= 0 && number < 32) add(one);
      }
    return bits;
  }

  bool is_sp(const llvm::MCOperand& operand) const {
    return operand.isReg() && operand.getReg() && registers_->getDwarfRegNum(operand.getReg(), true) == sp_ &&
           llvm::StringRef(registers_->getName(operand.getReg())) != "XZR" &&
           llvm::StringRef(registers_->getName(operand.getReg())) != "WZR";
  }

  /// If memory operands are marked: the first one's base is SP and it has no index. Else: any operand is SP
  /// and there is no register offset.
  bool addresses_sp(const llvm::MCInst& instruction, const llvm::MCInstrDesc& description) const {
    for (unsigned i = 0; i < description.getNumOperands(); ++i) {
      if (description.operands()[i].OperandType != llvm::MCOI::OPERAND_MEMORY) continue;
      const bool has_index = i + 2 < description.getNumOperands() && instruction.getOperand(i + 2).isReg() &&
                             instruction.getOperand(i + 2).getReg() &&
                             description.operands()[i + 2].OperandType == llvm::MCOI::OPERAND_MEMORY;
      return is_sp(instruction.getOperand(i)) && !has_index;
    }
    if (tells_memory_) return false;
    const llvm::StringRef name = instructions_->getName(instruction.getOpcode());
    if (name.contains("ro")) return false;
    for (unsigned i = 0; i < description.getNumOperands(); ++i)
      if (is_sp(instruction.getOperand(i))) return true;
    return false;
  }

  std::uint32_t sp_;
  bool tells_memory_;
  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
};

/// Our decoder's side of the comparison.
struct Decoded {
  code::Instruction instruction;
  std::vector<code::Effect> effects;
  bool ok = false;

  std::uint64_t written() const {
    using Kind = code::Effect::Kind;
    std::uint64_t bits = 0;
    for (const auto& effect : effects)
      if (effect.kind != Kind::store && effect.kind != Kind::overwrite && effect.kind != Kind::compare &&
          effect.reg < 32)
        bits |= std::uint64_t{1} << effect.reg;
    if (instruction.link_register < 32) bits |= std::uint64_t{1} << instruction.link_register;
    return bits;
  }
  bool stores_at(std::uint8_t reg) const {
    for (const auto& effect : effects)
      if ((effect.kind == code::Effect::Kind::store || effect.kind == code::Effect::Kind::overwrite) &&
          effect.source == reg)
        return true;
    return false;
  }
};

inline Decoded decode(code::Decoder& decoder, std::span<const std::byte> bytes, std::uint64_t address) {
  Decoded result;
  result.ok = decoder.decode(bytes, address, result.instruction, result.effects);
  return result;
}

/// Bytes as hexadecimal digits, for messages.
inline std::string digits(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr char hex[] = "0123456789abcdef";
    text += hex[std::to_integer<unsigned>(byte) >> 4];
    text += hex[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

/// Calls `visit` with the bytes and the address of every code section of an ELF file; false if there is no
/// such file.
inline bool
for_each_code_section(const std::filesystem::path& path,
                      const std::function<void(std::span<const std::byte>, std::uint64_t)>& visit) {
  auto file = llvm::object::ObjectFile::createObjectFile(path.string());
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  for (const auto& section : file->getBinary()->sections()) {
    if (!section.isText()) continue;
    const llvm::StringRef contents = llvm::cantFail(section.getContents());
    visit(std::as_bytes(std::span(contents.data(), contents.size())), section.getAddress());
  }
  return true;
}

} // namespace sframe::test
