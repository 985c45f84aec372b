// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as the .eh_frame section that a compiler passes to lib/jit. The first byte selects the ABI,
// the second is not used (as in the seeds of `cfi`). Properties: an error has a place in the bytes and a
// text; rows are for code of the FDE's size; DWARF that is made of them gives the same rows and saved
// registers again.

#include "chosen_abi.h"
#include "cost.h"

#include "sframe/jit/cfi.h"
#include "sframe/jit/eh_frame.h"

#include <algorithm>

namespace {

using namespace sframe;
using sframe::fuzz::require;

void check_function(const jit::CfiFunction& function, Abi abi) {
  if (!function.rows) {
    require(*message(function.rows.error().kind), "no text");
    return;
  }
  require(function.rows->code_size() == function.size, "rows of another size");
  const auto bytes = jit::make_eh_frame(function.start, *function.rows);
  const auto again = jit::read_eh_frame(bytes, 0, abi);
  require(again && again->size() == 1 && again->front().rows, "what was made cannot be read");
  const jit::CfiFunction& other = again->front();
  require(other.start == function.start && other.is_fit_for_exceptions, "another function");
  require(std::ranges::equal(other.rows->section(), function.rows->section()), "other rows");
  require(std::ranges::equal(other.rows->saved(), function.rows->saved()), "other registers");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  if (size < 2) return 0;
  const AbiTraits& abi = sframe::fuzz::chosen_abi(data[0]);
  const auto functions = jit::read_eh_frame(std::as_bytes(std::span(data + 2, size - 2)), 0x400000, abi.id);
  if (!functions) {
    require(functions.error().offset <= size && !functions.error().detail.empty(),
            "an error without a place");
    return 0;
  }
  for (const jit::CfiFunction& one : *functions) check_function(one, abi.id);
  return 0;
}
