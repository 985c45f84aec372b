// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: Capstone, loaded when the first instruction is to be shown. It has 77,000 relocations, which are
// half of what a program takes to start, and most runs show no instruction of the machines that it is used
// for.

#pragma once

#include <capstone/capstone.h>

namespace sframe::code {

/// The functions of the library that are used; each as capstone.h declares it.
struct Capstone {
  decltype(&cs_open) open;
  decltype(&cs_close) close;
  decltype(&cs_option) option;
  decltype(&cs_disasm) disasm;
  decltype(&cs_free) free;
};

/// Loads the library at the first call, which takes 1.5 ms. nullptr if it is not there, or not readable for a
/// confined program (disassembler_library()). Any thread may call it.
const Capstone* capstone();

/// True if the thread's calls of the library since the last question were short of memory: their result is
/// not to be used.
bool took_reserve();

} // namespace sframe::code
