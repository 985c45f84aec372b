// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: appends CIEs and FDEs (DWARF 5, section 6.4.1) to bytes. What they refer to by distance is for
// those who derive from it.

#pragma once

#include "sframe/address.h"
#include "sframe/base/leb128.h"
#include "sframe/bytes.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::shrink {

class EntryWriter {
protected:
  /// Entries are filled up to a multiple of `alignment` bytes.
  EntryWriter(ByteOrder order, std::uint64_t alignment) : order_(order), alignment_(alignment) {}

  void append(std::uint64_t value, unsigned bytes) {
    out_.resize(out_.size() + bytes);
    store_sized(out_.data() + out_.size() - bytes, value, bytes, order_);
  }
  void append(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

  /// Begins an entry; its length is set by end().
  std::size_t begin() {
    const std::size_t start = out_.size();
    append(0, 4);
    return start;
  }
  void end(std::size_t start) {
    out_.resize(start + align_up(out_.size() - start, alignment_)); // zeros are DW_CFA_nop
    store_sized(out_.data() + start, out_.size() - start - 4, 4, order_);
  }

  /// A CIE's fields from its version to its return register. `Cie`: a ModelCie or a cfi::Cie.
  template <class Cie> void append_fields(const Cie& cie, std::span<const std::byte> augmentation) {
    append(cie.version, 1);
    append(augmentation);
    append(0, 1);
    append_uleb(out_, cie.code_alignment);
    append_sleb(out_, cie.data_alignment);
    if (cie.version == 1)
      append(cie.return_register, 1);
    else
      append_uleb(out_, cie.return_register);
  }

  std::vector<std::byte> out_;

private:
  ByteOrder order_;
  std::uint64_t alignment_;
};

} // namespace sframe::shrink
