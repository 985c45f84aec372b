// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/coverage.h"

#include "sframe/base/text.h"
#include "sframe/verify/input.h"

#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

namespace {

AddressSet addresses(std::span<const OwnedRange> owned) {
  std::vector<AddressRange> ranges;
  ranges.reserve(owned.size());
  for (const OwnedRange& range : owned) ranges.push_back({range.begin, range.end - range.begin});
  return AddressSet(std::move(ranges));
}

std::string share_text(const CoveredBytes& bytes) {
  return llvm::formatv("{} % of {}", percent_text(bytes.percent()), with_commas(bytes.total)).str();
}

} // namespace

Coverage coverage(const Input& input) {
  const AddressSet covered = addresses(input.functions()).in_common(input.code());
  AddressSet described;
  for (const auto functions : {input.eh_frame(), input.debug_frame()})
    described.add(addresses(functions).in_common(input.code()).ranges());
  return {.executable = {input.code().size(), covered.size()},
          .described = {described.size(), described.size_in_common(covered)}};
}

void check_coverage(const Input& input, const Coverage& coverage, const RequiredCoverage& required,
                    Sink& sink) {
  const auto report = [&](std::string message) {
    sink.add({.id = Id::P412,
              .at = {},
              .message = std::move(message),
              .sframe = {},
              .cfi = {},
              .table = {},
              .offset = {}});
  };
  const auto demand = [&](std::optional<double> least, double percent, const char* of_what) {
    if (least && percent < *least)
      report(llvm::formatv("covers {} executable bytes, {} bytes with CFI; required: {} % of {}",
                           share_text(coverage.executable), share_text(coverage.described),
                           percent_text(*least), of_what)
                 .str());
  };
  if (required.executable && !input.image())
    report("a raw section has no executable bytes: pass the ELF file, and the section with --sframe");
  else
    demand(required.executable, coverage.executable.percent(), "the executable bytes");
  if (required.described && coverage.described.total == 0)
    report("there is no CFI: pass a file that has it");
  else
    demand(required.described, coverage.described.percent(), "the bytes with CFI");
}

} // namespace sframe::verify
