// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "code_units.h"

namespace sframe::verify {

std::vector<CodeUnit> code_units(std::span<const OwnedRange> sframe, std::span<const OwnedRange> cfi) {
  std::vector<CodeUnit> units;
  std::size_t fde = 0;
  for (std::size_t piece = 0; piece < sframe.size();) {
    const OwnedRange& first = sframe[piece];
    while (fde < cfi.size() && cfi[fde].end <= first.begin) ++fde;
    const bool inside = fde < cfi.size() && cfi[fde].begin <= first.begin && first.end <= cfi[fde].end;
    CodeUnit unit{first.begin, first.end, {}, {}};
    if (inside) unit = {cfi[fde].begin, cfi[fde].end, {}, cfi[fde]};
    std::size_t behind = piece + 1;
    while (inside && behind < sframe.size() && sframe[behind].end <= unit.end) ++behind;
    unit.sframe = sframe.subspan(piece, behind - piece);
    units.push_back(unit);
    piece = behind;
  }
  return units;
}

} // namespace sframe::verify
