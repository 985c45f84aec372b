// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lib/cfi executes the instructions. Of registers that are not in rows, the places on the stack are kept,
// which make_eh_frame() writes again.

#include "sframe/jit/cfi.h"

#include "sframe/bytes.h"
#include "sframe/cfi/frame_row.h"

#include <array>
#include <limits>
#include <new>
#include <optional>

namespace sframe::jit {

namespace {

unexpected<Error> malformed(const cfi::Error& what) {
  return unexpected(
      Error{.kind = ErrorKind::malformed_cfi, .offset = what.offset, .detail = cfi::message(what.kind)});
}

/// The entries before a length of 0, at which registered sections end: a buffer may be larger.
std::span<const std::byte> before_terminator(std::span<const std::byte> bytes, ByteOrder order) {
  for (std::uint64_t at = 0;;) {
    const auto length = load_at<std::uint32_t>(bytes, at, order);
    if (!length) return bytes;
    if (*length == 0) return bytes.first(at);
    if (*length < 0xfffffff0) {
      at += 4 + std::uint64_t{*length};
      continue;
    }
    const auto longer = load_at<std::uint64_t>(bytes, at + 4, order);
    if (!longer || *longer > bytes.size()) return bytes; // lib/cfi says what is wrong
    at += 12 + *longer;
  }
}

/// The places of registers on the stack, from row to row.
class SavedRegisters {
public:
  SavedRegisters(const AbiTraits& abi, const cfi::Fde& fde) : abi_(abi), fde_(fde) {
    is_complete_ = fde.cie.return_register == abi.ra;
  }

  void add(const cfi::FullRow& row) {
    const auto offset = static_cast<std::uint32_t>(row.begin - fde_.start);
    for (std::uint16_t reg = 0; reg < cfi::AllRegisters::slots; ++reg) {
      if (reg == abi_.sp || reg == abi_.fp || reg == abi_.ra || reg == fde_.cie.return_register) continue;
      const std::optional<std::int32_t> place = place_of(row.rules[reg]);
      if (place == open_[reg].place) continue;
      close(reg, offset);
      open_[reg] = {offset, place};
    }
  }

  std::vector<SavedRegister> finish(std::uint32_t end) {
    for (std::uint16_t reg = 0; reg < cfi::AllRegisters::slots; ++reg) close(reg, end);
    return std::move(saved_);
  }

  bool is_complete() const { return is_complete_; }

private:
  struct Open {
    std::uint32_t from = 0;
    std::optional<std::int32_t> place; ///< from the CFA
  };

  std::optional<std::int32_t> place_of(const cfi::RegisterRule& rule) {
    using Kind = cfi::RegisterRule::Kind;
    if (rule.kind == Kind::unspecified || rule.kind == Kind::undefined || rule.kind == Kind::same)
      return std::nullopt;
    if (rule.kind == Kind::offset && rule.offset == static_cast<std::int32_t>(rule.offset))
      return static_cast<std::int32_t>(rule.offset);
    is_complete_ = false;
    return std::nullopt;
  }

  void close(std::uint16_t reg, std::uint32_t to) {
    if (open_[reg].place) saved_.push_back({open_[reg].from, to, reg, *open_[reg].place});
  }

  const AbiTraits& abi_;
  const cfi::Fde& fde_;
  std::array<Open, cfi::AllRegisters::slots> open_;
  std::vector<SavedRegister> saved_;
  bool is_complete_ = true;
};

/// Fails if the instructions are malformed.
Result<CfiFunction> read_function(const cfi::CfiSection& section, const cfi::Fde& fde) {
  const AbiTraits& abi = section.abi();
  CfiFunction function{.start = fde.start,
                       .size = fde.size,
                       .rows = unexpected(Error{.kind = ErrorKind::bad_range, .offset = fde.offset})};
  if (fde.size == 0 || fde.size > std::numeric_limits<std::uint32_t>::max()) return function;
  std::vector<FrameRow> rows;
  std::optional<cfi::Unrepresentable> missing;
  SavedRegisters saved(abi, fde);
  cfi::FullRowCursor cursor(section, fde);
  for (cfi::FullRow row; cursor.next(row);) {
    if (missing) continue; // there may be a worse error
    const auto made = cfi::to_frame_row(row, abi);
    if (!made) {
      missing = made.error();
      continue;
    }
    if (rows.empty() || !rows.back().same_rules(*made)) rows.push_back(*made);
    saved.add(row);
  }
  if (const auto& error = cursor.error()) return malformed(*error);
  function.is_fit_for_exceptions = saved.is_complete() && !fde.lsda;
  if (missing) {
    function.rows = unexpected(
        Error{.kind = ErrorKind::unrepresentable, .offset = fde.offset, .detail = cfi::message(*missing)});
    return function;
  }
  const auto size = static_cast<std::uint32_t>(fde.size);
  function.rows = Rows::make({.size = size,
                              .signal_frame = fde.cie.signal_frame,
                              .pauth_key = fde.cie.b_key ? PauthKey::b : PauthKey::a},
                             rows, saved.finish(size), abi.id);
  if (!function.rows && function.rows.error().kind == ErrorKind::out_of_memory)
    return unexpected(function.rows.error());
  return function;
}

} // namespace

Result<std::vector<CfiFunction>> read_eh_frame(std::span<const std::byte> bytes, std::uint64_t address,
                                               Abi abi) {
  try {
    const AbiTraits& abi_traits = traits(abi);
    const cfi::CfiSection section(cfi::SectionKind::eh_frame, before_terminator(bytes, abi_traits.byte_order),
                                  address, abi_traits);
    std::vector<CfiFunction> functions;
    for (cfi::FdeCursor fdes(section);;) {
      const auto fde = fdes.next();
      if (!fde) return malformed(fde.error());
      if (!*fde) return functions;
      auto function = read_function(section, **fde);
      if (!function) return unexpected(function.error());
      functions.push_back(std::move(*function));
    }
  } catch (const std::bad_alloc&) {
    return unexpected(Error{.kind = ErrorKind::out_of_memory});
  }
}

} // namespace sframe::jit
