// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// glibc keeps its last words in memory: __abort_msg points to a size (4 bytes) and the text
// (sysdeps/posix/libc_fatal.c).

#include "sframe/crash/abort_message.h"

#include "core_text.h"

namespace sframe::crash {

std::string abort_message(process::CoreProcess& process) {
  const core::Core& core = process.space().core();
  for (modules::Module& module : process.modules()) {
    const bool may_have =
        module.info().main || module.name().starts_with("libc.so") || module.name().starts_with("libc-2.");
    const auto variable = may_have ? module.symbols().find_definition("__abort_msg") : std::nullopt;
    const auto pointer = variable ? core.read_word(*variable) : std::nullopt;
    if (!pointer || *pointer == 0) continue;
    constexpr std::size_t longest = 4096;
    std::string message = string_at(core, *pointer + 4, longest).value_or("");
    while (message.ends_with('\n')) message.pop_back();
    return message;
  }
  return {};
}

} // namespace sframe::crash
