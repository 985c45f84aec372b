// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "capstone.h"

#include "sframe/code/disassembly.h"

#include <dlfcn.h>
#include <optional>

#define SFRAME_TEXT_OF(x) #x
#define SFRAME_TEXT(x) SFRAME_TEXT_OF(x)

namespace sframe::code {

namespace {

template <class Function> bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

std::optional<Capstone> load() {
  void* const library = ::dlopen("libcapstone.so." SFRAME_TEXT(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
  Capstone found{};
  if (!library || !find(library, "cs_open", found.open) || !find(library, "cs_close", found.close) ||
      !find(library, "cs_option", found.option) || !find(library, "cs_disasm", found.disasm) ||
      !find(library, "cs_free", found.free) || !find(library, "cs_errno", found.error))
    return std::nullopt;
  return found; // stays loaded
}

} // namespace

const Capstone* capstone() {
  static const std::optional<Capstone> loaded = load();
  return loaded ? &*loaded : nullptr;
}

const char* disassembler_library() {
  return SFRAME_CAPSTONE_LIBRARY;
}

} // namespace sframe::code
