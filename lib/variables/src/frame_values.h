// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Location descriptions in one frame: what registers, the CFA, the frame base and, for values at the
// function's entry, the caller have.

#pragma once

#include "entries.h"
#include "object.h"

#include "sframe/cfi/expression.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sframe::variables {

/// What lookups in all frames need.
struct Surroundings {
  modules::ModuleSpace& space;
  unwind::Memory memory;
  unwind::Walker walker; ///< steps to callers only
  std::shared_ptr<modules::DebugInfoCache> cache;
  bool other_modules = true; ///< see Settings
};

class FrameValues final : public cfi::LocationContext {
public:
  /// A frame in the code of `function`, an entry of a subprogram; `unit` is the one of its addresses (not the
  /// split one). `cfa` is the frame's, if it is known. `callers`: how many frames further up may be asked.
  /// All must outlive the object.
  FrameValues(Surroundings& surroundings, const unwind::FrameState& frame, std::optional<std::uint64_t> cfa,
              DebugReader& reader, const llvm::DWARFDie& function, unsigned callers);
  ~FrameValues();

  /// Where the object of `size` bytes is whose location one of the entries has.
  Object locate(std::span<const DebugEntry> entries, std::uint64_t size);

  /// The number that an attribute is, or whose expression it is; nothing if it cannot be computed. `first` is
  /// pushed first.
  std::optional<std::uint64_t> number(const llvm::DWARFDie& die, llvm::dwarf::Attribute attribute,
                                      std::optional<std::uint64_t> first = std::nullopt);

  unwind::Memory& memory() { return surroundings_.memory; }
  DebugReader& reader() { return reader_; }
  Surroundings& surroundings() { return surroundings_; }
  ByteOrder order() const { return order_; }

  bool part(const cfi::LocationPart& part) override;
  std::uint64_t relocated(std::uint64_t address) override;
  std::optional<std::uint64_t> frame_base() override;
  std::optional<std::uint64_t> call_frame_cfa() override { return cfa_; }
  std::optional<std::uint64_t> entry_value(std::span<const std::byte> expression) override;
  std::optional<std::uint64_t> passed_value(std::uint64_t parameter) override;
  std::optional<std::uint64_t> indexed(std::uint64_t index) override;
  std::optional<cfi::ValueType> base_type(std::uint64_t offset) override;
  std::optional<std::uint64_t> read_register(std::uint32_t reg) override;
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override;

private:
  struct Caller;
  using Expression = llvm::SmallVector<std::uint8_t, 4>;
  /// The expression that is valid at the frame's address; empty if there is none, nothing if it cannot be
  /// read.
  std::optional<Expression> expression_at(const llvm::DWARFDie& die, const llvm::DWARFFormValue& value);
  bool evaluate(llvm::DWARFUnit& unit, std::span<const std::byte> expression,
                std::vector<cfi::LocationPart>& parts, cfi::ExpressionError& error,
                std::optional<std::uint64_t> first = std::nullopt);
  std::optional<std::uint64_t> value_of(llvm::DWARFUnit& unit, std::span<const std::byte> expression,
                                        std::optional<std::uint64_t> first = std::nullopt);
  Object gather(std::span<const cfi::LocationPart> parts, std::uint64_t size);
  void gather_bits(const cfi::LocationPart& part, std::uint64_t at, std::uint64_t bits, Object& into);
  void gather(const cfi::LocationPart& part, std::uint64_t at, std::uint64_t size, Object& into);
  Missing missing_of(const cfi::ExpressionError& error) const;
  bool is_followed(std::uint64_t reg) const;
  Caller* caller();
  std::optional<std::uint64_t>
  number_at_call(FrameValues& callee, const std::function<bool(const llvm::DWARFDie& parameter)>& is_wanted);
  llvm::DWARFDie find_call_site(FrameValues& callee);
  bool calls(const llvm::DWARFDie& site, FrameValues& callee);

  Surroundings& surroundings_;
  const unwind::FrameState& frame_;
  std::optional<std::uint64_t> cfa_;
  DebugReader& reader_;
  llvm::DWARFDie function_;
  unsigned callers_;
  ByteOrder order_;
  const unwind::UnwindAbi* abi_;
  std::uint64_t address_; ///< in the file

  llvm::DWARFUnit* unit_ = nullptr; ///< of the expression being evaluated
  std::vector<cfi::LocationPart>* parts_ = nullptr;
  bool in_frame_base_ = false;
  std::optional<std::optional<std::uint64_t>> frame_base_;
  std::optional<std::unique_ptr<Caller>> caller_;
  std::optional<llvm::DWARFDie> call_site_; ///< that called the frame whose caller this is; invalid: unknown
};

} // namespace sframe::variables
