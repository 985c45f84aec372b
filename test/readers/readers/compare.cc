// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up addresses with a reader (reader.h) and with libsframe, and counts where they differ. Run by
// test/readers/lookups.py.
//
//   compare [-r FILE OFFSET SIZE ADDRESS] [-t] OFFSET SIZE ADDRESS TEXT_START TEXT_END RANDOM FILE...
//
// Numbers are hexadecimal: the section's place in each FILE and its address, the executable mapping, and the
// number of random addresses to look up in addition to each row's first address and the one before it, and
// each function's last and the one after it. -r: the answers of libsframe are those for another section, of
// the same program, where that has any. -t: lookups are timed, too. Prints a line per file:
//
//   ADD REMOVED TRAPPED WARNINGS LOOKUPS FOUND OUTERMOST MISMATCHES ADDED TIME [TEXT of the first mismatch]
//
// ADD is what the reader returned for the section; REMOVED 1 if it dropped the section during a lookup,
// TRAPPED 1 if a lookup divided by zero or read outside the section; ADDED is the number of lookups for which
// only the FILE, not that of -r, has a row; TIME the nanoseconds of a lookup in a random function, or 0.

#include "reader.h"

#include <sframe/section.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

sigjmp_buf after_trap;

void trapped(int) {
  siglongjmp(after_trap, 1);
}

struct Counts {
  int add = 0;
  bool removed = false, trapped = false;
  unsigned long lookups = 0, found = 0, outermost = 0, mismatches = 0, added = 0;
  std::string first;
};

/// What the reader should hold for a rule of ours.
reader_rule expected_rule(const sframe::Rule& rule, std::int32_t fixed) {
  using Kind = sframe::Rule::Kind;
  switch (rule.kind) {
  case Kind::fixed: return {reader_rule::reader_cfa, true, 0, fixed};
  case Kind::value:
  case Kind::stored:
    if (rule.base == sframe::Rule::cfa_base)
      return {reader_rule::reader_cfa, rule.kind == Kind::stored, 0, rule.offset};
    return {reader_rule::reader_register, rule.kind == Kind::stored, rule.base, rule.offset};
  default: return {reader_rule::reader_same, false, 0, 0};
  }
}

bool equal(const reader_rule& a, const reader_rule& b) {
  if (a.base != b.base) return false;
  if (a.base == reader_rule::reader_same) return true;
  return a.stored == b.stored && a.offset == b.offset &&
         (a.base == reader_rule::reader_cfa || a.reg == b.reg);
}

std::string text(const reader_rule& rule) {
  if (rule.base == reader_rule::reader_same) return "same";
  const std::string inner = (rule.base == reader_rule::reader_cfa ? "cfa" : "r" + std::to_string(rule.reg)) +
                            (rule.offset < 0 ? "" : "+") + std::to_string(rule.offset);
  return rule.stored ? "[" + inner + "]" : inner;
}

class Comparison {
public:
  Comparison(const sframe::Section* section, const sframe::Section* reference, std::uint64_t bias,
             std::uint64_t text_start, std::uint64_t text_end)
      : section_(section), reference_(reference), bias_(bias), text_start_(text_start), text_end_(text_end) {}

  void look_up(std::uint64_t address) {
    if (counts.removed || counts.trapped) return;
    ++counts.lookups;
    reader_answer answer{};
    int result = 0;
    if (sigsetjmp(after_trap, 1) == 0) {
      result = reader_find(address + bias_, &answer);
    } else {
      counts.trapped = true;
      return;
    }
    counts.removed = !reader_has();
    if (!section_) return;
    // The reader knows the text's mapping only; the kernel's index of mappings includes the address after it.
    const bool mapped = address >= text_start_ && address <= text_end_;
    auto match = (reference_ ? reference_ : section_)->find(address);
    if (reference_ && match && !*match) {
      match = section_->find(address);
      counts.added += match && *match && mapped;
    }
    if (!match) {
      if (result == 0) differ(address, "found " + text(answer.cfa), "an error");
      return;
    }
    if (!*match || !mapped) {
      if (result == 0) differ(address, "found " + text(answer.cfa), "nothing");
      return;
    }
    const sframe::Match& ours = **match;
    if (ours.row.is_outermost()) {
      // Rows without data words have no rule: both readers return an error. Of the kernel's, those before
      // flexible FDEs set `outermost`.
      ++counts.outermost;
      if (result == 0 && !answer.outermost) differ(address, "found " + text(answer.cfa), "outermost");
      return;
    }
    if (result != 0)
      return differ(address, "error " + std::to_string(-result),
                    sframe::rule_text(ours.row.cfa, section_->abi(), true));
    ++counts.found;
    const sframe::Header& header = section_->header();
    reader_rule cfa = expected_rule(ours.row.cfa, 0);
    // Trees without the s390x series leave the data word as it is.
    const sframe::AbiTraits& abi = section_->abi();
    cfa.offset = (cfa.offset - abi.cfa_bias) / abi.cfa_scale;
    const reader_rule ra = expected_rule(ours.row.ra, header.fixed_ra_offset),
                      fp = expected_rule(ours.row.fp, header.fixed_fp_offset);
    if (answer.outermost || !equal(answer.cfa, cfa) || !equal(answer.ra, ra) || !equal(answer.fp, fp))
      differ(address, text(answer.cfa) + " " + text(answer.ra) + " " + text(answer.fp),
             text(cfa) + " " + text(ra) + " " + text(fp));
  }

  Counts counts;

private:
  void differ(std::uint64_t address, const std::string& theirs, const std::string& ours) {
    if (counts.mismatches++ != 0) return;
    char at[32];
    std::snprintf(at, sizeof at, "0x%llx: ", static_cast<unsigned long long>(address));
    counts.first = at + theirs + ", libsframe " + ours;
  }

  const sframe::Section *section_, *reference_;
  std::uint64_t bias_, text_start_, text_end_;
};

/// A file's section in memory of its own that ends where a page without access begins: what reads beyond it
/// is stopped. Empty if the file cannot be read.
std::span<std::byte> guarded_section(const char* path, std::uint64_t offset, std::uint64_t size) {
  static void* mapping = nullptr;
  static std::size_t mapped = 0;
  if (mapping) munmap(mapping, mapped);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = (size + page - 1) / page * page;
  mapped = inner + 2 * page;
  mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return {};
  std::byte* const begin = static_cast<std::byte*>(mapping);
  mprotect(begin, page, PROT_NONE);
  mprotect(begin + page + inner, page, PROT_NONE);
  const std::span<std::byte> bytes(begin + page + inner - size, size);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) return {};
  return bytes;
}

/// Nanoseconds of a lookup: the least of some rounds over addresses in random functions of the section.
double time_of_lookup(const sframe::Section& section, std::uint64_t bias) {
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> addresses(std::size_t{1} << 16);
  for (std::uint64_t& address : addresses) {
    const auto fde = section.fde(static_cast<std::uint32_t>(random() % section.num_fdes()));
    address = fde->start + random() % std::max(1u, fde->size) + bias;
  }
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 9; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (const std::uint64_t address : addresses) reader_search(address);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / static_cast<double>(addresses.size()));
  }
  return best;
}

std::uint64_t hexadecimal(const char* text) {
  return std::strtoull(text, nullptr, 16);
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::byte> reference_bytes;
  std::optional<sframe::Section> reference;
  bool timed = false;
  if (argc > 5 && std::strcmp(argv[1], "-r") == 0) {
    std::ifstream file(argv[2], std::ios::binary);
    file.seekg(static_cast<std::streamoff>(hexadecimal(argv[3])));
    reference_bytes.resize(hexadecimal(argv[4]));
    file.read(reinterpret_cast<char*>(reference_bytes.data()),
              static_cast<std::streamsize>(reference_bytes.size()));
    const auto section = sframe::Section::parse(reference_bytes, hexadecimal(argv[5]));
    if (!file || !section || section->num_fdes() == 0) {
      std::fprintf(stderr, "compare: cannot read %s\n", argv[2]);
      return 2;
    }
    reference = *section;
    argc -= 5, argv += 5;
  }
  if (argc > 1 && std::strcmp(argv[1], "-t") == 0) {
    timed = true;
    --argc, ++argv;
  }
  if (argc < 8) return 2;
  std::uint64_t numbers[6];
  for (int i = 0; i < 6; ++i) numbers[i] = hexadecimal(argv[i + 1]);
  const auto [offset, size, address, text_start, text_end, randoms] = numbers;
  struct sigaction action {};
  action.sa_handler = trapped;
  for (const int signal : {SIGFPE, SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
  for (int i = 7; i < argc; ++i) {
    const std::span<std::byte> bytes = guarded_section(argv[i], offset, size);
    if (bytes.empty()) {
      std::fprintf(stderr, "compare: cannot read %s\n", argv[i]);
      return 2;
    }
    const auto section = sframe::Section::parse(bytes, address);
    const std::uint64_t bias = reinterpret_cast<std::uintptr_t>(bytes.data()) - address;
    const std::uint16_t host = 0xdee2;
    const bool foreign = std::memcmp(bytes.data(), &host, 2) != 0 && std::to_integer<int>(bytes[0]) == 0xde;
    reader_warnings = 0;
    Comparison comparison(section ? &*section : nullptr, reference ? &*reference : nullptr, bias, text_start,
                          text_end);
    double time = 0;
    comparison.counts.add = reader_add(bytes.data(), size, text_start + bias, text_end + bias, foreign);
    if (comparison.counts.add == 0) {
      if (section)
        for (std::uint32_t n = 0; n < section->num_fdes(); ++n) {
          const auto fde = section->fde(n);
          if (!fde) continue;
          auto rows = section->rows(*fde);
          for (sframe::EncodedRow row; rows.next(row);) {
            comparison.look_up(fde->start + row.offset);
            comparison.look_up(fde->start + row.offset - 1);
          }
          comparison.look_up(fde->start + fde->size - 1);
          comparison.look_up(fde->start + fde->size);
        }
      std::mt19937_64 random(1);
      std::uniform_int_distribution<std::uint64_t> any(text_start - std::min<std::uint64_t>(text_start, 256),
                                                       text_end + 256);
      for (std::uint64_t n = 0; n < randoms; ++n) comparison.look_up(any(random));
      if (timed && section && section->num_fdes() != 0)
        time = time_of_lookup(reference ? *reference : *section, bias);
    }
    reader_remove();
    const Counts& c = comparison.counts;
    std::printf("%d %d %d %u %lu %lu %lu %lu %lu %.1f %s\n", c.add, c.removed, c.trapped, reader_warnings,
                c.lookups, c.found, c.outermost, c.mismatches, c.added, time, c.first.c_str());
  }
}
