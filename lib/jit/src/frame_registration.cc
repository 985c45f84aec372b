// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/jit/eh_frame.h"
#include "sframe/jit/publishers.h"

#include <new>

extern "C" {
[[gnu::weak]] void __register_frame(void* eh_frame);
[[gnu::weak]] void __deregister_frame(void* eh_frame);
}

namespace sframe::jit {

bool FrameRegistration::add(const PublishedCode& code) {
  if (!__register_frame || !__deregister_frame) return false;
  try {
    const auto [at, is_new] = frames_.try_emplace(code.start, make_eh_frame(code.start, code.rows));
    if (is_new) __register_frame(at->second.data());
    return is_new;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void FrameRegistration::drop(const PublishedCode& code) {
  const auto at = frames_.find(code.start);
  __deregister_frame(at->second.data());
  frames_.erase(at);
}

} // namespace sframe::jit
