// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "disagreement.h"

#include "cfi_rows.h"
#include "compare_rows.h"
#include "merge.h"

#include <algorithm>
#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

namespace {

/// True if the two certainly differ.
bool differ(const CfiRule& eh, const CfiRule& debug, const AbiTraits& abi) {
  using Kind = CfiRule::Kind;
  if (eh.kind == Kind::broken || debug.kind == Kind::broken) return false;
  if (eh.kind == Kind::plt || debug.kind == Kind::plt)
    return eh.kind != debug.kind || eh.plt != debug.plt || !eh.row.same_rules(debug.row);
  const CfiRule& any = eh.kind == Kind::row ? debug : eh;
  const CfiRule& row = eh.kind == Kind::row ? eh : debug;
  if (row.kind != Kind::row) return false; // both are not representable as rows
  const Differences differences = compare(row.row, any, abi);
  return std::ranges::any_of(differences, [](Id id) { return id != Id::C108; });
}

} // namespace

void check_frame_sections(const Input& input, Sink& sink) {
  CfiRows eh_rows(input, input.budget(), input.eh_frame(), nullptr),
      debug_rows(input, input.budget(), input.debug_frame(), &sink);
  Merger merger(input, sink);
  CfiInterval a, b;
  bool more = eh_rows.next(a) && debug_rows.next(b);
  std::uint64_t fde = ~std::uint64_t{0};
  while (more) {
    const std::uint64_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
    const AbiTraits& abi = input.cfi()[a.fde->source].section.abi();
    if (begin < end && differ(a.rule, b.rule, abi)) {
      if (fde != a.fde->begin) merger.flush();
      fde = a.fde->begin;
      merger.add(Id::C112, begin, end, [&](Finding& finding) {
        finding.message = llvm::formatv(".debug_frame has {}", rule_text(b.rule, abi)).str();
        finding.cfi = rule_text(a.rule, abi);
        finding.table = input.cfi()[b.fde->source].name;
        finding.offset = b.fde->fde.offset;
      });
    }
    more = a.end <= b.end ? eh_rows.next(a) : debug_rows.next(b);
  }
  while (debug_rows.next(b)) {
  }
  merger.flush();
}

} // namespace sframe::verify
