// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/against_code.h"

#include "callees.h"
#include "cfi_rows.h"
#include "code_checker.h"
#include "code_units.h"
#include "sframe/verify/parallel.h"

namespace sframe::verify {

namespace {

constexpr std::size_t chunk_size = 64; ///< functions per work item of a thread

std::vector<OwnedRange> all_cfi(const Input& input) {
  return overlay(cfi_ranges(input, cfi::SectionKind::eh_frame, nullptr),
                 cfi_ranges(input, cfi::SectionKind::debug_frame, nullptr));
}

} // namespace

bool has_code(const Input& input) {
  const elf::Image* image = input.image();
  return image && !image->relocatable() && image->abi() && !input.code().empty() && !input.parts().empty() &&
         &input.parts().front().section.abi() == image->abi();
}

void check_against_code(const Input& input, unsigned threads, Verdicts& verdicts, Sink& sink) {
  if (!has_code(input)) return;
  const std::vector<OwnedRange> sframe = disjoint(input.functions()), cfi = all_cfi(input);
  const std::vector<CodeUnit> units = code_units(sframe, cfi);
  Callees callees(*input.image(), cfi);
  const auto make_analyzer = [&] { return code::Analyzer(*input.image()->abi()); };
  check_in_chunks(threads, units.size(), chunk_size, sink, make_analyzer,
                  [&](std::size_t begin, std::size_t end, code::Analyzer& analyzer, Sink& chunk_sink) {
                    const auto chunk = std::span(units).subspan(begin, end - begin);
                    CodeChecker checker(input, sframe, chunk, analyzer, callees, verdicts, chunk_sink);
                    for (const CodeUnit& unit : chunk) checker.check(unit);
                  });
}

} // namespace sframe::verify
