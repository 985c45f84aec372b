// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of DWARF 5, section 6.4.1, in the versions that .eh_frame has (1 and 3). Signal frames have no
// place there, so that these CIEs keep their augmentation, which gdb and elfutils read in both sections.

#include "sframe/shrink/full.h"

#include "entry_writer.h"
#include "sframe/base/text.h"
#include "sframe/cfi/image.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace sframe::shrink {

using namespace cfi;

namespace {

constexpr std::uint32_t cie_id = 0xffffffff;
constexpr std::uint64_t entry_align = 8;

class DebugFrame : private EntryWriter {
public:
  explicit DebugFrame(ByteOrder order) : EntryWriter(order, entry_align) {}

  void add(const Fde& fde) {
    const std::uint64_t cie = place_of(fde.cie);
    const std::size_t start = begin(static_cast<std::uint32_t>(cie));
    append(fde.start, 8);
    append(fde.size, 8);
    if (!letters_of(fde.cie).empty()) append(0, 1);
    append(fde.instructions);
    end(start);
  }

  Result<std::vector<std::byte>> take() {
    if (out_.size() > std::numeric_limits<std::int32_t>::max())
      return fail("section of more than 2 GiB", ".debug_frame");
    return std::move(out_);
  }

private:
  /// What remains of the augmentation: how frames are read, not where their tables are.
  static std::string letters_of(const Cie& cie) {
    std::string letters;
    for (const char letter : as_text(cie.augmentation))
      if (letter != 'z' && letter != 'R' && letter != 'L' && letter != 'P') letters += letter;
    return letters.empty() ? letters : 'z' + letters;
  }

  std::uint64_t place_of(const Cie& cie) {
    const auto [known, added] = cies_.try_emplace(cie.offset, out_.size());
    if (!added) return known->second;
    const std::string letters = letters_of(cie);
    const std::size_t start = begin(cie_id);
    append_fields(cie, std::as_bytes(std::span(letters)));
    if (!letters.empty()) append(0, 1);
    append(cie.instructions);
    end(start);
    return known->second;
  }

  std::size_t begin(std::uint32_t id) {
    const std::size_t start = EntryWriter::begin();
    append(id, 4);
    return start;
  }

  std::map<std::uint64_t, std::uint64_t> cies_; ///< places by offset in .eh_frame
};

} // namespace

Result<std::vector<std::byte>> make_debug_frame(const elf::Image& image) {
  const ImageCfi cfi = open_cfi(image, {.debug_frame = false});
  if (cfi.sections.empty()) return fail("cannot read the section", ".eh_frame");
  const CfiSection& section = cfi.sections.front().section;
  DebugFrame out(image.byte_order());
  for (auto fdes = section.fdes();;) {
    const auto fde = fdes.next();
    if (!fde) return fail(message(fde.error().kind), ".eh_frame", fde.error().offset);
    if (!*fde) break;
    out.add(**fde);
  }
  return out.take();
}

} // namespace sframe::shrink
