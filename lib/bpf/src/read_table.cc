// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two steps: sframe_bpf_open() of table.h, which BPF programs share, has the header and the sizes; Check goes
// through the parts, and each bit of them that has no meaning must be 0.

#include "sframe/bpf/read_table.h"

#include "sframe/version.h"

#include <string>
#include <utility>

namespace sframe::bpf {

namespace {

constexpr std::uint64_t word_size = sizeof(std::uint64_t);

sframe_bpf_words words_of(std::span<const std::byte> bytes, bool big_endian) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size() / word_size, big_endian};
}

unexpected<Problem> fail_at(std::uint64_t word, std::string what) {
  return fail(std::move(what), {}, word * word_size);
}

const AbiTraits* find_abi(std::uint32_t number) {
  for (const AbiTraits* abi : all_abis())
    if (static_cast<std::uint32_t>(abi->id) == number) return abi;
  return nullptr;
}

} // namespace

class Table::Check {
public:
  explicit Check(const Table& table) : words_(table.words_), header_(table.header_) {}

  Result<void> run() const {
    for (const auto part :
         {&Check::build_id, &Check::groups, &Check::rows, &Check::rules, &Check::wide_rules})
      if (auto done = (this->*part)(); !done) return done;
    return {};
  }

private:
  std::uint64_t word(std::uint32_t number) const { return sframe_bpf_word(words_, number); }

  Result<void> build_id() const {
    for (std::uint32_t i = 0; i < SFRAME_BPF_MAX_BUILD_ID / word_size; ++i) {
      const std::uint32_t used = header_.build_id_size > 8 * i ? header_.build_id_size - 8 * i : 0;
      if (used < word_size && word(5 + i) >> 8 * used != 0)
        return fail_at(5 + i, "bytes after the end of the build ID");
    }
    return {};
  }

  Result<void> groups() const {
    std::uint64_t rows = 0;
    for (std::uint32_t i = 0; i < header_.num_groups; ++i) {
      const std::uint64_t group = word(header_.groups + i);
      if (static_cast<std::uint32_t>(group) != rows) return fail_at(header_.groups + i, "wrong first row");
      for (int block = 0; block < 4; ++block) {
        const std::uint32_t count = sframe_bpf_bits(group, 32 + 8 * block, 8);
        for (std::uint32_t row = 1; row < count; ++row)
          if ((row_at(rows + row - 1) & 255) >= (row_at(rows + row) & 255))
            return fail_at(header_.rows + (rows + row) / 4, "rows of a block are not in order");
        rows += count;
      }
      if (rows > header_.num_rows) return fail_at(header_.groups + i, "more rows than in the header");
    }
    if (rows != header_.num_rows) return fail_at(2, "blocks have fewer rows than the header");
    return {};
  }

  /// With their escapes, which are in the same order.
  Result<void> rows() const {
    std::uint32_t escape = 0;
    for (std::uint32_t i = 0; i < header_.num_rows; ++i) {
      const std::uint32_t rule = row_at(i) >> 8;
      if (rule != SFRAME_BPF_ESCAPE) {
        if (rule >= header_.num_rules) return fail_at(header_.rows + i / 4, "no such rule");
        continue;
      }
      if (escape == header_.num_escapes) return fail_at(header_.rows + i / 4, "a row without its escape");
      const std::uint64_t entry = word(header_.escapes + escape);
      if (entry >> 32 != i) return fail_at(header_.escapes + escape, "an escape for another row");
      if (static_cast<std::uint32_t>(entry) >= header_.num_rules)
        return fail_at(header_.escapes + escape, "no such rule");
      ++escape;
    }
    if (escape != header_.num_escapes) return fail_at(header_.escapes + escape, "an escape for no row");
    for (std::uint32_t i = header_.num_rows; i % 4 != 0; ++i)
      if (row_at(i) != 0) return fail_at(header_.rows + i / 4, "a row after the last one");
    return {};
  }

  Result<void> rules() const {
    std::uint32_t wide = 0;
    for (std::uint32_t i = 0; i < header_.num_rules; ++i) {
      const std::uint64_t rule = word(header_.rules + i);
      bool valid = false;
      switch (rule & 3) {
      case SFRAME_BPF_NONE: valid = rule == 0 && i == 0; break;
      case SFRAME_BPF_OUTERMOST: valid = rule == SFRAME_BPF_OUTERMOST; break;
      case SFRAME_BPF_ROW:
        valid = i != 0 && (rule & 0xc0) == 0 && is_value(rule >> 32) && is_value(rule >> 48);
        break;
      case SFRAME_BPF_WIDE:
        valid = (rule & 0xfffffffc) == 0 && rule >> 32 == wide;
        ++wide;
        break;
      default: break; // two bits have four values
      }
      if (i == 0 && rule != 0) valid = false;
      if (!valid) return fail_at(header_.rules + i, "malformed rule");
    }
    if (wide != header_.num_wide) return fail_at(4, "another number of wide rules");
    return {};
  }

  Result<void> wide_rules() const {
    for (std::uint32_t i = 0; i < header_.num_wide; ++i) {
      const std::uint32_t at = header_.wide + SFRAME_BPF_WIDE_WORDS * i;
      const std::uint64_t rule = word(at);
      const bool has_ra = sframe_bpf_bits(rule, 24, 2) >= SFRAME_BPF_SUM;
      const bool has_fp = sframe_bpf_bits(rule, 42, 2) >= SFRAME_BPF_SUM;
      const bool valid = (rule & 3) == SFRAME_BPF_ROW && (rule & 0xc0) == 0 && rule >> 60 == 0 &&
                         (has_ra || (sframe_bpf_bits(rule, 26, 16) == 0 && word(at + 1) >> 32 == 0)) &&
                         (has_fp || (sframe_bpf_bits(rule, 44, 16) == 0 && word(at + 2) == 0)) &&
                         word(at + 2) >> 32 == 0;
      if (!valid) return fail_at(at, "malformed wide rule");
    }
    return {};
  }

  /// RA or FP in the low 16 bits.
  static bool is_value(std::uint64_t bits) { return (bits & 3) >= SFRAME_BPF_SUM || (bits & 0xfffc) == 0; }

  std::uint32_t row_at(std::uint64_t number) const {
    sframe_bpf_search none{};
    return sframe_bpf_row(words_, &header_, &none, static_cast<std::uint32_t>(number));
  }

  sframe_bpf_words words_;
  const sframe_bpf_table& header_;
};

Result<Table> Table::parse(std::span<const std::byte> bytes) {
  if (bytes.size() < SFRAME_BPF_HEADER_WORDS * word_size)
    return fail("not a table for BPF programs: too short");
  Table table;
  table.words_ = words_of(bytes, false);
  if (static_cast<std::uint32_t>(sframe_bpf_word(table.words_, 0)) != SFRAME_BPF_MAGIC)
    table.words_ = words_of(bytes, true);
  const std::uint64_t first = sframe_bpf_word(table.words_, 0);
  if (static_cast<std::uint32_t>(first) != SFRAME_BPF_MAGIC)
    return fail("not a table for BPF programs: no magic number");
  if (const std::uint32_t version = sframe_bpf_bits(first, 32, 8); version != SFRAME_BPF_VERSION)
    return fail("a table of version " + std::to_string(version) + ", not " +
                std::to_string(SFRAME_BPF_VERSION));
  table.abi_ = find_abi(sframe_bpf_bits(first, 40, 8));
  if (!table.abi_ || (table.abi_->byte_order == ByteOrder::big) != (table.words_.big_endian != 0))
    return fail_at(0, "an unknown ABI, or not its byte order");
  if (bytes.size() % word_size != 0 ||
      !sframe_bpf_open(table.words_, bytes.size() / word_size, &table.header_))
    return fail_at(0, "the header's numbers are not those of a table of this size");
  if (auto done = Check(table).run(); !done) return unexpected(std::move(done.error()));
  return table;
}

std::vector<std::byte> Table::build_id() const {
  std::vector<std::byte> id(header_.build_id_size);
  for (std::uint32_t i = 0; i < id.size(); ++i)
    id[i] = static_cast<std::byte>(sframe_bpf_word(words_, 5 + i / 8) >> 8 * (i % 8));
  return id;
}

sframe_bpf_rule Table::find(std::uint64_t address) const {
  sframe_bpf_rule rule{};
  sframe_bpf_find(words_, &header_, address, &rule);
  return rule;
}

} // namespace sframe::bpf
