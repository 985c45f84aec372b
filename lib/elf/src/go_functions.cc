// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts: runtime/symtab.go (pcHeader, pcvalue, step), runtime/runtime2.go (_func) of Go 1.2, 1.16, 1.18
// and 1.20, the releases that changed them.

#include "sframe/elf/go_functions.h"

#include "sframe/base/text.h"
#include "sframe/bytes.h"
#include "sframe/elf/machine.h"
#include "sframe/elf/symbols.h"

#include <algorithm>

namespace sframe::elf {

namespace {

constexpr std::uint64_t header_size = 8, word_size = 8;
constexpr std::uint32_t magic_12 = 0xfffffffb, magic_116 = 0xfffffffa, magic_118 = 0xfffffff0,
                        magic_120 = 0xfffffff1;

/// Numbers of 32 bits in _func, after the function's start.
constexpr unsigned field_name = 0, field_frame_size = 3, field_file = 4, field_line = 5,
                   field_other_count = 6, field_unit = 7;
/// Among the further tables of a function (PCDATA): that of calls that were inlined.
constexpr std::uint32_t table_inlined = 2;

/// The start of the code in the header, and in moduledata: after a pointer, six slices, and three words.
constexpr std::uint64_t place_of_text = header_size + 2 * word_size,
                        text_of_module = word_size + 6 * 3 * word_size + 3 * word_size;

constexpr std::uint8_t flag_top = 1, flag_sets_sp = 2, flag_assembly = 4;

/// The text at the start of the bytes.
std::string_view text_at(std::span<const std::byte> bytes) {
  const auto most = bytes.first(std::min(bytes.size(), SymbolTable::max_name_size));
  const auto end = std::ranges::find(most, std::byte{0});
  return as_text(std::span(most.begin(), end));
}

/// A number of at most 32 bits, 7 bits per byte, lowest first.
std::optional<std::uint32_t> read_varint(std::span<const std::byte>& bytes) {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint32_t>(bytes.front());
    bytes = bytes.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  return std::nullopt;
}

} // namespace

std::optional<GoFunctions> GoFunctions::open(const Image& image) {
  if (image.relocatable()) return std::nullopt;
  GoFunctions table;
  table.order_ = image.byte_order();
  if (const MachineTraits* const machine = find_machine(image.machine())) table.frames_ = machine->go;
  for (const char* const name : {".gopclntab", ".data.rel.ro.gopclntab"})
    if (const SectionHeader* const section = image.find_section(name)) {
      auto contents = image.contents(*section);
      if (!contents) return std::nullopt;
      table.contents_ = std::move(*contents);
      if (!table.read_header() || !table.find_text(image, section->address)) return std::nullopt;
      return table;
    }
  // GNU ld puts the section of programs at any address, until Go 1.25, into .data.rel.ro. A program of Go has
  // a section that no linker renames.
  const SectionHeader* const section = image.find_section(".data.rel.ro");
  if (!section || !image.find_section(".go.buildinfo")) return std::nullopt;
  const auto bytes = image.read(section->address, section->size);
  for (std::size_t at = 0; bytes && at + header_size <= bytes->size(); at += word_size) {
    if (load<std::uint32_t>(&(*bytes)[at], table.order_) < magic_118) continue;
    table.contents_ = Contents(bytes->subspan(at));
    if (table.read_header() && table.has_frames() && table.count_ != 0 &&
        table.find_text(image, section->address + at) && table.at(0) && table.at(table.count_ - 1))
      return table;
  }
  return std::nullopt;
}

bool GoFunctions::read_header() {
  const std::span<const std::byte> bytes = contents_.bytes();
  if (bytes.size() < header_size) return false;
  switch (load<std::uint32_t>(bytes.data(), order_)) {
  case magic_12: version_ = Version::go12; break;
  case magic_116: version_ = Version::go116; break;
  case magic_118: version_ = Version::go118; break;
  case magic_120: version_ = Version::go120; break;
  default: return false;
  }
  quantum_ = std::to_integer<unsigned>(bytes[6]);
  if ((quantum_ != 1 && quantum_ != 2 && quantum_ != 4) || std::to_integer<unsigned>(bytes[7]) != word_size)
    return false;
  bool is_complete = true;
  const auto word = [&](unsigned number) {
    const auto value = load_at<std::uint64_t>(bytes, header_size + number * word_size, order_);
    is_complete &= value.has_value();
    return value.value_or(0);
  };
  count_ = word(0);
  if (version_ == Version::go12) {
    list_ = header_size + word_size;
  } else {
    const unsigned first = has_frames() ? 3 : 2; // the start of the code comes before, since 1.18
    names_ = word(first);
    units_ = word(first + 1);
    files_ = word(first + 2);
    values_ = word(first + 3);
    data_ = list_ = word(first + 4);
  }
  entry_size_ = has_frames() ? 4 : word_size;
  // The list ends with the end of the last function.
  const std::uint64_t list_size = from(list_).size();
  return is_complete && list_size >= entry_size_ && count_ <= (list_size - entry_size_) / (2 * entry_size_);
}

/// Functions have addresses until 1.18, later offsets from the start of the code. The word for that is
/// relocated in programs at any address. Since 1.26 it is not used any more, but the runtime's own data,
/// which begin with the table's address, have a section. Without that, the code is all of .text, unless C
/// code is linked in: the program's entry point shows that.
bool GoFunctions::find_text(const Image& image, std::uint64_t table_address) {
  if (!has_frames()) return true;
  text_ = load_at<std::uint64_t>(contents_.bytes(), place_of_text, order_).value_or(0);
  if (text_ || count_ == 0) return true;
  const auto pointers = image.loaded_pointers();
  const auto word = [&](std::uint64_t address) -> std::uint64_t {
    const auto pointer = std::ranges::lower_bound(pointers, address, {}, &Image::LoadedPointer::address);
    if (pointer != pointers.end() && pointer->address == address) return pointer->value;
    const auto bytes = image.read(address, word_size);
    return bytes ? load<std::uint64_t>(bytes->data(), order_) : 0;
  };
  const SectionHeader* const module = image.find_section(".go.module");
  const bool has_module = module && word(module->address) == table_address;
  text_ = word(has_module ? module->address + text_of_module : table_address + place_of_text);
  if (text_) return true;
  const SectionHeader* const text = image.find_section(".text");
  if (!text) return false;
  text_ = text->address;
  const auto entry = find(image.entry());
  return entry && entry->extent.start == image.entry() && entry->name.starts_with("_rt0_");
}

std::span<const std::byte> GoFunctions::from(std::uint64_t offset) const {
  const std::span<const std::byte> bytes = contents_.bytes();
  return bytes.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes.size())));
}

/// `index` up to count_: the last one is the end of all.
std::optional<std::uint64_t> GoFunctions::start_of(std::uint64_t index) const {
  const auto bytes = from(list_);
  const std::uint64_t at = 2 * entry_size_ * index;
  if (at > bytes.size() || bytes.size() - at < entry_size_) return std::nullopt;
  return text_ + load_sized(bytes.data() + at, entry_size_, order_);
}

std::optional<GoFunction> GoFunctions::find(std::uint64_t address) const {
  // The last function that starts at or before the address.
  std::uint64_t low = 0, high = count_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto start = start_of(middle);
    if (!start) return std::nullopt;
    if (*start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return std::nullopt;
  auto function = at(low - 1);
  return function && function->extent.contains(address) ? function : std::nullopt;
}

std::optional<GoFunction> GoFunctions::at(std::uint64_t index) const {
  if (index >= count_) return std::nullopt;
  const auto start = start_of(index), end = start_of(index + 1);
  if (!start || !end || *end < *start) return std::nullopt;
  const std::uint64_t at = (2 * index + 1) * entry_size_;
  const auto list = from(list_);
  if (at > list.size() || list.size() - at < entry_size_) return std::nullopt;
  GoFunction function;
  function.extent = {*start, *end - *start};
  function.data = load_sized(list.data() + at, entry_size_, order_);
  const auto name = field(function, field_name);
  if (!name) return std::nullopt;
  function.name = text_at(from(names_).subspan(std::min<std::size_t>(*name, from(names_).size())));
  // Names are the same in all versions; the numbers that the table has for these functions are not.
  function.is_restorer = function.name.starts_with("runtime.sigreturn");
  function.is_injected = function.name == "runtime.sigpanic" || function.name == "runtime.asyncPreempt";
  // Programs start there; those of libraries (_lib) are called.
  function.is_top = function.name.starts_with("_rt0_") && !function.name.ends_with("_lib");
  if (has_frames()) {
    const auto flags = field(function, version_ == Version::go120 ? 9 : 8); // their second byte
    if (!flags) return std::nullopt;
    const auto flag = static_cast<std::uint8_t>(*flags >> (order_ == ByteOrder::little ? 8 : 16));
    function.is_handler = flag & flag_top && function.name == "runtime.sigtramp";
    function.is_top |= flag & flag_top && !function.is_handler;
    // Its new SP is computed on s390x in a way that the assembler takes for a larger frame (since Go 1.23).
    function.sets_sp = flag & flag_sets_sp || function.name == "runtime.switchToCrashStack0";
    function.is_assembly = flag & flag_assembly;
  }
  return function;
}

std::optional<std::uint32_t> GoFunctions::field(const GoFunction& function, unsigned number) const {
  const auto bytes = from(data_);
  if (function.data > bytes.size()) return std::nullopt;
  return load_at<std::uint32_t>(bytes, function.data + entry_size_ + number * std::uint64_t{4}, order_);
}

/// Calls `visit(end, value)` for each value: it is for the addresses up to the offset `end` from the
/// function's start. Ends when that returns false. Values are kept as differences: of the value, then of the
/// code offset where it ends. The first value starts at -1. False if the budget is used up.
template <class Visit>
bool GoFunctions::each_value(std::uint32_t table, Budget* budget, const Visit& visit) const {
  constexpr std::uint64_t limit = 1 << 18;
  const std::uint64_t most_steps =
      std::min(limit, budget ? budget->left(Resource::cfi_instructions) + 1 : limit); // one more uses it up
  auto bytes = from(values_);
  bytes = bytes.subspan(std::min<std::size_t>(table, bytes.size()));
  std::uint64_t offset = 0;
  std::uint32_t value = static_cast<std::uint32_t>(-1), steps = 0;
  bool more = table != 0;
  while (more && steps < most_steps) {
    const auto difference = read_varint(bytes);
    if (!difference || (*difference == 0 && steps)) break;
    const auto length = read_varint(bytes);
    if (!length || *length == 0) break;
    ++steps;
    value += (*difference >> 1) ^ -(*difference & 1); // zigzag
    offset += std::uint64_t{*length} * quantum_;
    more = visit(offset, static_cast<std::int32_t>(value));
  }
  return !budget || budget->take(Resource::cfi_instructions, steps);
}

std::optional<std::int32_t> GoFunctions::value_at(std::uint32_t table, const GoFunction& function,
                                                  std::uint64_t address, Budget* budget) const {
  const std::uint64_t wanted = address - function.extent.start;
  std::optional<std::int32_t> found;
  const bool in_budget = each_value(table, budget, [&](std::uint64_t end, std::int32_t value) {
    if (wanted < end) found = value;
    return wanted >= end;
  });
  return in_budget ? found : std::nullopt;
}

bool GoFunctions::frame_sizes(const GoFunction& function, Budget* budget,
                              std::vector<GoFrameSize>& sizes) const {
  sizes.clear();
  const auto table = has_frames() ? field(function, field_frame_size) : std::nullopt;
  if (!table) return true;
  std::uint64_t begin = 0;
  return each_value(*table, budget, [&](std::uint64_t end, std::int32_t size) {
    end = std::min(end, function.extent.size);
    if (size >= 0 && begin < end)
      sizes.push_back({{function.extent.start + begin, end - begin}, static_cast<std::uint32_t>(size)});
    begin = end;
    return begin < function.extent.size;
  });
}

std::optional<std::uint32_t> GoFunctions::frame_size(const GoFunction& function, std::uint64_t address,
                                                     Budget* budget) const {
  if (!has_frames()) return std::nullopt;
  const auto table = field(function, field_frame_size);
  const auto size = table ? value_at(*table, function, address, budget) : std::nullopt;
  return size && *size >= 0 ? std::optional(static_cast<std::uint32_t>(*size)) : std::nullopt;
}

std::optional<GoFunctions::Line> GoFunctions::line(const GoFunction& function, std::uint64_t address,
                                                   Budget* budget) const {
  if (!has_frames()) return std::nullopt;
  const auto files = field(function, field_file), lines = field(function, field_line),
             unit = field(function, field_unit), others = field(function, field_other_count);
  if (!files || !lines || !unit || !others) return std::nullopt;
  const auto file = value_at(*files, function, address, budget),
             number = value_at(*lines, function, address, budget);
  if (!file || !number || *file < 0 || *number < 0) return std::nullopt;
  const auto name = load_at<std::uint32_t>(
      from(units_), (std::uint64_t{*unit} + static_cast<std::uint32_t>(*file)) * 4, order_);
  if (!name || *name > from(files_).size()) return std::nullopt;
  Line line{text_at(from(files_).subspan(*name)), static_cast<std::uint32_t>(*number), false};
  if (line.file.empty()) return std::nullopt;
  if (*others > table_inlined) {
    const auto inlined = field(function, (version_ == Version::go120 ? 10 : 9) + table_inlined);
    const auto call = inlined ? value_at(*inlined, function, address, budget) : std::nullopt;
    line.is_inlined = call && *call >= 0;
  }
  return line;
}

} // namespace sframe::elf
