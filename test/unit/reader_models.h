// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small models of the programs that read sections at run time: what each accepts, and the rules that it finds
// for an address. They are independent of the library's readers and follow the behaviour of those programs,
// as docs/readers.md describes it, mistakes included. A model reads the bytes as its machine does: in the
// ABI's byte order.

#pragma once

#include <sframe/abi.h>
#include <sframe/base/address_ranges.h>
#include <sframe/row.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::test {

/// What a reader finds for an address.
struct ReaderAnswer {
  enum class Kind : std::uint8_t {
    rules,    ///< `row` has them; its offset is 0
    nothing,  ///< no rules: the reader's other methods go on
    discards, ///< no rules, and the whole stack trace is thrown away
    refuses,  ///< the section is bad: the reader does not use it again
    breaks,   ///< the reader reads outside the section, or divides by zero
  };
  Kind kind = Kind::nothing;
  FrameRow row;
};

/// A section's bytes in the reader's memory.
class ReaderMemory {
public:
  ReaderMemory(std::span<const std::byte> bytes, ByteOrder order) : bytes_(bytes), order_(order) {}

  std::uint64_t size() const { return bytes_.size(); }
  /// The unsigned integer at `at`, or 0 and left() if it is not in the section.
  std::uint64_t number(std::uint64_t at, std::uint32_t size);
  std::int64_t signed_number(std::uint64_t at, std::uint32_t size);
  /// True after a read outside the section.
  bool left() const { return left_; }

private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
  bool left_ = false;
};

/// The header's fields; all versions have the same.
struct ReaderHeader {
  static constexpr std::uint64_t size = 28;
  std::uint32_t magic, version, flags, aux_size, num_fdes, num_fres, fre_size, fde_offset, fre_offset;
  std::int32_t fixed_fp, fixed_ra;
  explicit ReaderHeader(ReaderMemory& memory);
};

/// The Linux kernel's reader (kernel/unwind/sframe.c, tree dylanbhatch/linux, commit 3231d5c): version 3. The
/// scaling of CFA offsets on s390x is that of the s390 series, version 4.
class LinuxReader {
public:
  /// `text`: the mapping of the code.
  LinuxReader(std::span<const std::byte> bytes, std::uint64_t address, const AbiTraits& abi,
              AddressRange text);

  /// Adds the section to a process: true if the kernel does.
  bool accepts() const;
  /// The same if it is built with CONFIG_SFRAME_VALIDATION.
  bool validates() const;
  /// Only for accepted sections.
  ReaderAnswer find(std::uint64_t pc) const;

private:
  struct Function;
  struct Row;
  enum class Status : std::uint8_t { ok, nothing, bad };
  Status read_function(std::uint32_t number, Function& out) const;
  Status read_row(const Function& function, std::uint64_t at, Row& out) const;
  Status read_rules(const Function& function, const Row& row, FrameRow& out) const;
  std::uint64_t start(std::uint32_t number) const;

  mutable ReaderMemory memory_;
  std::uint64_t address_;
  const AbiTraits& abi_;
  AddressRange text_;
  ReaderHeader header_;
  std::uint64_t fdes_, rows_, rows_end_; ///< offsets in the section
};

/// backtrace() of the GNU C library (sysdeps/generic/sframe-read.c, releases 2.42 to 2.44): version 2.
class GlibcReader {
public:
  GlibcReader(std::span<const std::byte> bytes, std::uint64_t address, const AbiTraits& abi);

  bool accepts() const;
  ReaderAnswer find(std::uint64_t pc) const;

private:
  struct Function;
  Function function(std::uint32_t number) const;
  ReaderAnswer rules(std::uint64_t words, std::uint32_t info) const;

  mutable ReaderMemory memory_;
  std::uint64_t address_;
  const AbiTraits& abi_;
  ReaderHeader header_;
};

} // namespace sframe::test
