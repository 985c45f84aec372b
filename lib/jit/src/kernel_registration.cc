// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As proposed, both system calls get a pointer to four numbers of 64 bits, and their size in bytes:
//
//   start and size of the section, start and size of the code
//
// Of these, sframe_unregister() uses the first; the others are 0. A size that the kernel does not know is
// EINVAL.

#include "elf_object.h"
#include "sframe/jit/publishers.h"

#include <algorithm>
#include <cerrno>
#include <new>

#include <sys/syscall.h>
#include <unistd.h>

namespace sframe::jit {

namespace {

#if defined(SYS_sframe_register) && defined(SYS_sframe_unregister)
constexpr long known_register = SYS_sframe_register, known_unregister = SYS_sframe_unregister;
#else
constexpr long known_register = 0, known_unregister = 0;
#endif

struct SframeSetup {
  std::uint64_t sframe_start = 0, sframe_size = 0, text_start = 0, text_size = 0;
};

bool call_kernel(long number, const SframeSetup& setup, std::size_t size = sizeof(SframeSetup)) {
  return syscall(number, &setup, size) == 0;
}

/// A call with a size that is none.
bool is_known(long number) {
  if (number <= 0) return false;
  const int saved_errno = errno;
  const bool known = call_kernel(number, {}, 0) || (errno != ENOSYS && errno != EPERM); // EPERM: a sandbox
  errno = saved_errno;
  return known;
}

} // namespace

KernelRegistration::KernelRegistration(long register_number, long unregister_number)
    : register_(register_number ? register_number : known_register),
      unregister_(unregister_number ? unregister_number : known_unregister) {
  if (!is_known(register_) || !is_known(unregister_)) register_ = unregister_ = 0;
}

bool KernelRegistration::add(const PublishedCode& code) {
  if (!is_available()) return true;
  try {
    std::vector<std::byte> section = sframe_at(code.start, code);
    const auto address = reinterpret_cast<std::uint64_t>(section.data());
    const std::vector<std::byte> placed = sframe_at(address, code);
    if (placed.empty() || placed.size() != section.size()) return false;
    std::ranges::copy(placed, section.begin());
    const SframeSetup setup = {address, section.size(), code.start, code.rows.code_size()};
    const auto [at, is_new] = sections_.try_emplace(code.start, std::move(section));
    if (!is_new) return false;
    if (call_kernel(register_, setup)) return true;
    sections_.erase(at);
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void KernelRegistration::drop(const PublishedCode& code) {
  const auto at = sections_.find(code.start);
  if (at == sections_.end()) return;
  call_kernel(unregister_, {.sframe_start = reinterpret_cast<std::uint64_t>(at->second.data())});
  sections_.erase(at);
}

} // namespace sframe::jit
