// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that runs may free what is being read, and use it for something else. If the list's counter of
// changes is the same before and after, nothing was freed meanwhile. In a process that changes all the time,
// and in those with an older list, which does not count, what two readings have in common is kept: code that
// was there all the time. That it has not been replaced since is what the BPF program asks the other counter.

#include "sframe/bpf/process_code.h"

#include "sframe/number_hash.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string_view>
#include <tuple>
#include <unistd.h>
#include <unordered_map>

namespace sframe::bpf {

namespace {

constexpr std::size_t max_regions = 1 << 18, max_sections = std::size_t{16} << 20;
constexpr std::uint64_t max_region = std::uint64_t{64} << 20;
constexpr std::uint64_t max_registries = 1024, max_runs = 64, smallest_entry = 32, largest_entry = 256;
constexpr int max_readings = 4;

template <class T> bool read_number(const ReadMemory& read, std::uint64_t address, T& to) {
  return read(address, std::as_writable_bytes(std::span(&to, 1)));
}

/// One reading of all lists.
class Reading {
public:
  Reading(const ReadMemory& read, ProcessCode& code) : read_(read), code_(code) {}

  void add(std::uint32_t number) {
    struct {
      std::uint32_t version, entry_size;
      std::uint64_t first;
    } head{};
    number_ = number;
    if (!read_number(read_, code_.lists[number].address, head) || head.version != 1 ||
        head.entry_size < smallest_entry || head.entry_size > largest_entry)
      return;
    entry_size_ = head.entry_size;
    for (std::uint64_t at = head.first; at && registries_left_; --registries_left_) {
      std::uint64_t registry[2] = {};
      if (!read_number(read_, at, registry)) return;
      if (registry[1]) add_table(registry[1]);
      at = registry[0];
    }
  }

  void finish() {
    auto& regions = code_.regions;
    std::ranges::sort(regions, {}, [](const CodeRegion& one) { return std::tuple(one.start, one.rows); });
    std::uint64_t end = 0;
    const auto is_refused = [&](CodeRegion& one) {
      const bool refused = one.start < end || !copy_section(one);
      if (!refused) end = one.start + one.size;
      code_.refused += refused;
      return refused;
    };
    std::erase_if(regions, is_refused); // calls it in order
  }

private:
  void add_table(std::uint64_t table) {
    std::uint64_t count = 0;
    if (!read_number(read_, table, count) || count > max_runs) return;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t run[2] = {};
      if (!read_number(read_, table + 8 + i * sizeof run, run)) return;
      add_run(run[0], run[1]);
    }
  }

  void add_run(std::uint64_t entries, std::uint64_t count) {
    constexpr std::uint64_t at_once = 1024;
    buffer_.resize(at_once * entry_size_);
    while (count) {
      const std::uint64_t some = std::min(count, at_once);
      if (some > entries_left_) {
        code_.refused += count;
        return;
      }
      if (!read_(entries, std::span(buffer_).first(some * entry_size_))) return;
      for (std::uint64_t i = 0; i < some; ++i) add_entry(buffer_.data() + i * entry_size_);
      entries_left_ -= some;
      entries += some * entry_size_;
      count -= some;
    }
  }

  void add_entry(const std::byte* at) {
    std::uint64_t words[4]; // start, rows, name, size
    std::memcpy(words, at, sizeof words);
    if (!words[1]) return; // removed
    if (words[3] == 0 || words[3] > max_region || words[3] > ~words[0] ||
        code_.regions.size() == max_regions) {
      ++code_.refused;
      return;
    }
    code_.regions.push_back({.start = words[0], .size = words[3], .rows = words[1], .list = number_});
  }

  /// Of regions with the same rows once.
  bool copy_section(CodeRegion& region) {
    const auto [known, is_new] = copies_.try_emplace(region.rows, code_.sections.size(), 0);
    if (is_new) {
      std::uint64_t size = 0;
      const std::size_t offset = code_.sections.size();
      if (!read_number(read_, region.rows, size) || size > max_sections - offset) return false;
      code_.sections.resize(offset + size);
      if (!read_(region.rows + sizeof size, std::span(code_.sections).subspan(offset))) {
        code_.sections.resize(offset);
        return false;
      }
      known->second.second = size;
    }
    region.offset = known->second.first;
    region.section_size = known->second.second;
    return region.section_size != 0;
  }

  const ReadMemory& read_;
  ProcessCode& code_;
  std::uint32_t number_ = 0;
  std::uint64_t entry_size_ = 0;
  std::uint64_t registries_left_ = max_registries, entries_left_ = 2 * max_regions;
  std::vector<std::byte> buffer_;
  /// Offset and size, by address.
  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>, NumberHash> copies_;
};

std::span<const std::byte> section_of(const ProcessCode& code, const CodeRegion& region) {
  return std::span(code.sections).subspan(region.offset, region.section_size);
}

/// Removes what was not in the reading before.
void keep_common(ProcessCode& code, const ProcessCode& before) {
  auto at = before.regions.begin();
  std::erase_if(code.regions, [&](const CodeRegion& one) {
    while (at != before.regions.end() && at->start < one.start) ++at;
    return at == before.regions.end() || at->start != one.start || at->size != one.size ||
           at->rows != one.rows || !std::ranges::equal(section_of(before, *at), section_of(code, one));
  });
}

} // namespace

ProcessCode read_process_code(const ReadMemory& read, std::span<const CodeList> lists) {
  ProcessCode before;
  for (int readings = 1;; ++readings) {
    ProcessCode code;
    code.lists.assign(lists.begin(), lists.end());
    std::vector<std::uint64_t> changes(lists.size());
    Reading reading(read, code);
    bool consistent = true;
    for (std::uint32_t i = 0; i < lists.size(); ++i) {
      CodeList& list = code.lists[i];
      std::uint64_t counters[2] = {};
      if (list.has_counters && !read_number(read, list.address + 16, counters)) list.has_counters = false;
      changes[i] = counters[0];
      list.replacements = counters[1];
      reading.add(i);
    }
    reading.finish();
    for (std::uint32_t i = 0; i < lists.size(); ++i) {
      std::uint64_t now = 0;
      consistent &= code.lists[i].has_counters && read_number(read, code.lists[i].address + 16, now) &&
                    now == changes[i];
    }
    if (consistent) return code;
    if (readings >= max_readings || (readings > 1 && std::ranges::none_of(lists, &CodeList::has_counters))) {
      keep_common(code, before);
      for (std::uint32_t i = 0; i < lists.size(); ++i) // the older number, as of the older reading
        code.lists[i].replacements = before.lists[i].replacements;
      return code;
    }
    before = std::move(code);
  }
}

namespace {

bool read_file(int file, std::uint64_t offset, void* to, std::size_t size) {
  return ::pread(file, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

constexpr std::string_view list_name = "sframe_jit_list";

std::optional<ListSymbol> find_in(int file, const Elf64_Shdr& symbols, const Elf64_Shdr& strings,
                                  std::uint64_t& left) {
  constexpr std::uint64_t at_once = 4096;
  const std::uint64_t count = std::min(symbols.sh_size / sizeof(Elf64_Sym), left);
  std::vector<Elf64_Sym> some(std::min(count, at_once));
  for (std::uint64_t i = 0; i < count; i += some.size()) {
    some.resize(std::min(count - i, at_once));
    left -= some.size();
    if (!read_file(file, symbols.sh_offset + i * sizeof(Elf64_Sym), some.data(),
                   some.size() * sizeof(Elf64_Sym)))
      return std::nullopt;
    for (const Elf64_Sym& one : some) {
      char name[list_name.size() + 1];
      if (ELF64_ST_TYPE(one.st_info) != STT_OBJECT || one.st_shndx == SHN_UNDEF || one.st_size < 16 ||
          one.st_size > 64 || one.st_name > strings.sh_size ||
          !read_file(file, strings.sh_offset + one.st_name, name, sizeof name) ||
          std::string_view(name, sizeof name) != std::string_view(list_name.data(), list_name.size() + 1))
        continue;
      return ListSymbol{one.st_value, one.st_size >= 32};
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<ListSymbol> find_list_symbol(int file) {
  Elf64_Ehdr header;
  if (!read_file(file, 0, &header, sizeof header) || header.e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_file(file, header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr)))
    return std::nullopt;
  std::uint64_t left = 4'000'000;
  for (const std::uint32_t type : {SHT_DYNSYM, SHT_SYMTAB})
    for (const Elf64_Shdr& one : sections)
      if (one.sh_type == type && one.sh_link < sections.size())
        if (const auto found = find_in(file, one, sections[one.sh_link], left)) return found;
  return std::nullopt;
}

} // namespace sframe::bpf
