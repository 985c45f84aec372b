// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A perf.data file: header, events, and records in the order of their times. Formats: Linux,
// tools/perf/Documentation/perf.data-file-format.txt, and perf_event_open(2). As a file:
//
//   "PERFILE2"  size  attr_size  attrs{offset,size}  data{..}  types{..}  features[4]     the header
//   perf_event_attr  ids{offset,size}                                                     attrs
//   {type u32, misc u16, size u16} body                                                   data: records
//   {offset,size} for each bit of `features`                                              after data
//
// As `perf record -o -` writes it, there are only the first two words, and records: attributes and features
// are records, too. Compressed records are parts of one zstd stream, which has further records.

#pragma once

#include "sframe/abi.h"
#include "sframe/base/budget.h"
#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::perf {

/// perf_event_attr, as far as it is needed.
struct Event {
  std::uint32_t type = 0;
  std::uint64_t config = 0, period = 0, sample_type = 0, read_format = 0, branch_type = 0;
  std::uint64_t user_registers = 0, interrupted_registers = 0; ///< masks
  bool has_frequency = false;                                  ///< `period` is one
  bool samples_ids = false;                                    ///< all records have what samples have
  bool has_build_ids = false;                                  ///< mappings may have build IDs
  std::uint16_t max_stack = 0;
  std::string name;
  std::vector<std::uint64_t> ids;
};

/// PERF_RECORD_*: those that are needed.
enum class RecordType : std::uint32_t {
  mmap = 1,
  lost = 2,
  comm = 3,
  exit = 4,
  fork = 7,
  sample = 9,
  mmap2 = 10,
  lost_samples = 13,
  callchain_deferred = 22,
};

/// Where the processor was: Record::mode().
inline constexpr std::uint16_t mode_kernel = 1, mode_user = 2;

struct Record {
  RecordType type{};
  std::uint16_t misc = 0;
  std::span<const std::byte> body; ///< after the header, without the fields of Event::samples_ids
  std::uint64_t time = 0;          ///< nanoseconds of a clock; 0: before all others
  std::uint32_t tid = 0;           ///< by Event::samples_ids; 0: not known
  const Event* event = nullptr;

  std::uint16_t mode() const { return misc & 7; }
};

/// A sample's fields; those that its event does not have are 0 or empty.
struct SampleFields {
  std::uint64_t ip = 0, time = 0, period = 0;
  std::uint32_t pid = 0, tid = 0;
  std::optional<std::uint32_t> cpu;
  std::vector<std::uint64_t> callchain; ///< with marks of contexts
  std::uint64_t registers_abi = 0;      ///< 0: none; 1: 32 bits; 2: 64 bits
  std::span<const std::byte> registers; ///< a word for each bit of Event::user_registers
  std::span<const std::byte> stack;     ///< the copied part
  std::uint64_t wanted_stack = 0;       ///< bytes that perf asked for
};

class Data {
public:
  /// Reads the header and lists the records; decompresses them. Fails if the bytes are no perf.data. A file
  /// that is cut off, and damaged parts, are in problems(). `bytes` must outlive the object. If records are
  /// compressed, `budget`, which may be nullptr, is refilled for the size of the unpacked ones. Linear, but
  /// for the order of the records.
  static Result<Data> parse(std::span<const std::byte> bytes, Budget* budget);

  Data(Data&&) noexcept;
  Data& operator=(Data&&) noexcept;
  ~Data();

  ByteOrder byte_order() const;
  /// The ABI of the machine that was recorded, if the file tells; nullptr if it is none of SFrame's.
  const AbiTraits* abi() const;
  /// True if the file names a machine.
  bool names_machine() const;
  std::span<const std::unique_ptr<Event>> events() const;
  const std::vector<std::string>& command() const;
  /// As uname(2) has it; empty if the file does not tell.
  const std::string& kernel_release() const;
  /// By path; "[kernel.kallsyms]" is the kernel.
  const std::map<std::string, std::vector<std::byte>, std::less<>>& build_ids() const;
  /// The wall clock, in nanoseconds since 1970, at `time` of a record; nothing if the file does not tell.
  std::optional<std::uint64_t> wall_clock(std::uint64_t time) const;
  std::span<const Problem> problems() const;

  /// The number of records, in the order of their times; those without one are first.
  std::size_t size() const;
  Record record(std::size_t index) const;
  /// Nothing if the body is shorter than its fields.
  std::optional<SampleFields> sample(const Record& record) const;

private:
  struct Parts;
  explicit Data(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// Reads the fields of a record, in order.
class Fields {
public:
  Fields(std::span<const std::byte> bytes, ByteOrder order) : left_(bytes), order_(order) {}

  std::uint64_t u64() { return number(8); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::span<const std::byte> bytes(std::uint64_t size);
  void skip(std::uint64_t size) { (void)bytes(size); }
  /// Up to a zero, or all that is left.
  std::string text();
  /// A length in 4 bytes, and as many bytes with a text in them.
  std::string counted_text();

  std::span<const std::byte> left() const { return left_; }
  /// False if more was read than there is: what was read since then is zeros.
  bool good() const { return good_; }

private:
  std::uint64_t number(std::size_t size);

  std::span<const std::byte> left_;
  ByteOrder order_;
  bool good_ = true;
};

} // namespace sframe::perf
