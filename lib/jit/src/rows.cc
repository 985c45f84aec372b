// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rows_data.h"

#include "sframe/builder.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace sframe::jit {

namespace {

bool is_saved_inside(const SavedRegister& saved, std::uint32_t size, const AbiTraits& abi) {
  return saved.from < saved.to && saved.to <= size && saved.reg != abi.sp && saved.reg != abi.fp &&
         saved.reg != abi.ra;
}

} // namespace

Abi host_abi() {
  return find_abi(std::string_view(SFRAME_HOST_ABI))->id;
}

Result<Rows> Rows::make(const Fde& function, std::span<const FrameRow> rows,
                        std::span<const SavedRegister> saved, Abi abi) {
  const AbiTraits& abi_traits = traits(abi);
  const std::uint32_t size = function.size;
  const auto is_inside = [&](const SavedRegister& one) { return is_saved_inside(one, size, abi_traits); };
  if (size == 0) return unexpected(Error{.kind = ErrorKind::bad_range});
  if (!std::ranges::all_of(saved, is_inside)) return unexpected(Error{.kind = ErrorKind::saved_register});
  try {
    Builder builder({.version = VersionNumber::v3, .abi = abi});
    Fde at_zero = function;
    at_zero.start = 0;
    if (const auto added = builder.add(at_zero, rows); !added)
      return unexpected(Error{.kind = ErrorKind::rows, .refusal = added.error()});
    const auto section = builder.finish(0);
    if (!section) return unexpected(Error{.kind = ErrorKind::rows, .refusal = section.error()});
    auto data = std::make_shared<Data>();
    data->code_size = size;
    data->abi = &abi_traits;
    data->saved.assign(saved.begin(), saved.end());
    data->words.resize(1 + (section->size() + 7) / 8);
    data->words[0] = section->size();
    std::memcpy(&data->words[1], section->data(), section->size());
    return Rows(std::move(data));
  } catch (const std::bad_alloc&) {
    return unexpected(Error{.kind = ErrorKind::out_of_memory});
  }
}

std::uint32_t Rows::code_size() const {
  return data_->code_size;
}

std::span<const std::byte> Rows::section() const {
  return data_->section();
}

std::span<const SavedRegister> Rows::saved() const {
  return data_->saved;
}

const AbiTraits& Rows::abi() const {
  return *data_->abi;
}

std::size_t Rows::memory() const {
  return data_->memory();
}

} // namespace sframe::jit
