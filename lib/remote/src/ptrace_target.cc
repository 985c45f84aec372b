// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/remote/targets.h"

#include "sframe/cfi/vector_granule.h"
#include "sframe/core/registers.h"

#include <array>
#include <cstring>
#include <elf.h>
#include <optional>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <utility>

namespace sframe::remote {

namespace {

/// A register set in the kernel's format: words in the host's byte order, since both are on the same
/// machine.
struct RegisterSet {
  std::array<std::uint64_t, 128> words{};
  std::size_t size = 0; ///< bytes

  bool read(std::uint32_t tid, int type) {
    iovec part{words.data(), sizeof words};
    if (::ptrace(PTRACE_GETREGSET, tid, type, &part) != 0) return false;
    size = part.iov_len;
    return true;
  }
  bool write(std::uint32_t tid, int type) {
    iovec part{words.data(), size};
    return ::ptrace(PTRACE_SETREGSET, tid, type, &part) == 0;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words)).first(size); }
};

/// The index of register `reg` in the set. The layouts exist only as a decoder, so it decodes a set in which
/// each word is its own index.
std::optional<std::size_t> index_in_set(const AbiTraits& abi, std::uint16_t reg, std::size_t size) {
  RegisterSet indices;
  indices.size = size;
  for (std::size_t i = 0; i < indices.words.size(); ++i) indices.words[i] = i;
  const auto decoded = core::decode_registers(abi.machine, abi.byte_order, indices.bytes());
  if (!decoded) return std::nullopt;
  const auto index = reg == unwind::pc_register ? std::optional(decoded->pc) : decoded->get(reg);
  if (!index || *index >= size / sizeof(std::uint64_t)) return std::nullopt;
  return *index;
}

} // namespace

PtraceTarget::PtraceTarget(std::uint32_t tid, const AbiTraits& abi, modules::FileOptions files)
    : tid_(tid), space_(tid, abi, std::move(files)) {}

Result<std::unique_ptr<PtraceTarget>> PtraceTarget::create(std::uint32_t tid, modules::FileOptions files) {
  const auto abi = process::find_process_abi(tid);
  if (!abi) return unexpected(abi.error());
  return std::unique_ptr<PtraceTarget>(new PtraceTarget(tid, **abi, std::move(files)));
}

modules::ModuleSpace& PtraceTarget::space() {
  if (stale_) {
    static_cast<void>(space_.refresh()); // if the process is gone, later reads fail
    space_.forget();
    stale_ = false;
  }
  return space_;
}

modules::Module* PtraceTarget::module_at(std::uint64_t address, void*) {
  return space().module_at(address);
}

bool PtraceTarget::is_code(std::uint64_t address, void*) {
  return space().is_code(address);
}

std::uint64_t PtraceTarget::code_address_mask(const AbiTraits& abi, void* arg) {
  // The kernel reports the bits that hold authentication codes.
  RegisterSet masks;
  if (abi.signs_return_addresses && masks.read(tid_, NT_ARM_PAC_MASK) && masks.size >= 16)
    return ~masks.words[1];
  return Accessors::code_address_mask(abi, arg);
}

std::uint64_t PtraceTarget::vector_granule(void*) {
  core::RegisterValues values;
  RegisterSet header;
  for (const core::VectorSet set : core::vector_sets)
    if (header.read(tid_, std::to_underlying(set)))
      core::decode_vector_length(set, abi().machine, abi().byte_order, header.bytes(), values);
  return values.get(cfi::vector_granule(abi()).value_or(0)).value_or(0);
}

RemoteStatus PtraceTarget::access_memory(std::uint64_t address, std::uint64_t& value, bool write, void*) {
  if (write)
    return ::ptrace(PTRACE_POKEDATA, tid_, address, value) == 0 ? RemoteStatus::ok : RemoteStatus::invalid;
  std::array<std::byte, sizeof value> word;
  if (space_.read_process(address, word) != word.size()) return RemoteStatus::invalid;
  std::memcpy(&value, word.data(), sizeof value);
  return RemoteStatus::ok;
}

RemoteStatus PtraceTarget::access_register(std::uint16_t reg, std::uint64_t& value, bool write, void*) {
  if (reg == unwind::pc_register && !write) stale_ = true;
  RegisterSet set;
  if (!set.read(tid_, NT_PRSTATUS)) return RemoteStatus::invalid;
  const AbiTraits& traits = abi();
  if (const auto index = index_in_set(traits, reg, set.size)) {
    if (!write) {
      value = set.words[*index];
      return RemoteStatus::ok;
    }
    set.words[*index] = value;
    return set.write(tid_, NT_PRSTATUS) ? RemoteStatus::ok : RemoteStatus::invalid;
  }
  core::RegisterValues floating;
  if (write || !set.read(tid_, NT_FPREGSET)) return RemoteStatus::bad_register;
  core::decode_fp_registers(traits.machine, traits.byte_order, set.bytes(), floating);
  const auto found = floating.get(reg);
  if (!found) return RemoteStatus::bad_register;
  value = *found;
  return RemoteStatus::ok;
}

RemoteStatus PtraceTarget::resume(RemoteCursor&, void*) {
  return ::ptrace(PTRACE_CONT, tid_, nullptr, nullptr) == 0 ? RemoteStatus::ok : RemoteStatus::invalid;
}

} // namespace sframe::remote
