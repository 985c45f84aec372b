// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "callees.h"

#include "sframe/base/budget.h"
#include "sframe/elf/symbols.h"

#include <algorithm>
#include <array>
#include <llvm/Support/DataExtractor.h>
#include <string_view>

namespace sframe::verify {

namespace {

/// Sorted.
constexpr std::array<std::string_view, 64> names = {
    "_Exit",
    "_Unwind_Resume",
    "_ZSt10unexpectedv",
    "_ZSt16__throw_bad_castv",
    "_ZSt17__throw_bad_allocv",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "_ZSt18__throw_bad_typeidv",
    "_ZSt19__throw_ios_failurePKc",
    "_ZSt19__throw_ios_failurePKci",
    "_ZSt19__throw_logic_errorPKc",
    "_ZSt19__throw_range_errorPKc",
    "_ZSt20__throw_domain_errorPKc",
    "_ZSt20__throw_future_errori",
    "_ZSt20__throw_length_errorPKc",
    "_ZSt20__throw_out_of_rangePKc",
    "_ZSt20__throw_system_errori",
    "_ZSt21__glibcxx_assert_failPKciS0_S0_",
    "_ZSt21__throw_bad_exceptionv",
    "_ZSt21__throw_runtime_errorPKc",
    "_ZSt22__throw_overflow_errorPKc",
    "_ZSt23__throw_underflow_errorPKc",
    "_ZSt24__throw_invalid_argumentPKc",
    "_ZSt24__throw_out_of_range_fmtPKcz",
    "_ZSt25__throw_bad_function_callv",
    "_ZSt28__throw_bad_array_new_lengthv",
    "_ZSt9terminatev",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__clang_call_terminate",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_terminate",
    "__cxa_call_unexpected",
    "__cxa_deleted_virtual",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "__fortify_fail",
    "__libc_fatal",
    "__libc_start_call_main",
    "__longjmp_chk",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "_exit",
    "_longjmp",
    "abort",
    "err",
    "errx",
    "exit",
    "g_assertion_message_expr",
    "log_assert_failed",
    "log_assert_failed_unreachable",
    "longjmp",
    "pthread_exit",
    "quick_exit",
    "rust_begin_unwind",
    "siglongjmp",
    "thrd_exit",
    "verr",
    "verrx",
    "xexit",
};
static_assert(std::ranges::is_sorted(names));

/// Longer names need not be read to their end.
constexpr std::size_t max_known = 128;
static_assert(std::ranges::max(names, {}, &std::string_view::size).size() < max_known);

constexpr std::uint64_t relocation_size = 24;

bool known(std::string_view name) {
  name = name.substr(0, max_known);
  return std::ranges::binary_search(names, name.substr(0, name.find('@')));
}

std::span<const std::byte> bytes_of(const elf::Image& image, const elf::SectionHeader& section) {
  return image.read(section.address, section.size).value_or(std::span<const std::byte>{});
}

/// Reads with bounds checks: data outside is 0, or an empty string.
llvm::DataExtractor reader(const elf::Image& image, std::uint32_t section) {
  const auto sections = image.sections();
  const auto bytes =
      section < sections.size() ? bytes_of(image, sections[section]) : std::span<const std::byte>{};
  return {llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
          image.byte_order() == ByteOrder::little, 8};
}

/// The numbers of the relocations in .rela.plt that are for such functions.
std::vector<std::uint64_t> known_relocations(const elf::Image& image, const elf::SectionHeader& relocations) {
  constexpr std::uint64_t symbol_size = 24;
  const llvm::DataExtractor entries = reader(image, relocations.index),
                            symbols = reader(image, relocations.link);
  const llvm::DataExtractor names =
      reader(image, relocations.link < image.sections().size() ? image.sections()[relocations.link].link : 0);
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < entries.getData().size() / relocation_size; ++i) {
    std::uint64_t info_at = i * relocation_size + 8;
    std::uint64_t symbol_at = (entries.getU64(&info_at) >> 32) * symbol_size;
    const std::uint64_t name_at = symbol_at ? symbols.getU32(&symbol_at) : 0;
    if (!name_at) continue;
    const llvm::StringRef name = names.getData().substr(name_at, max_known);
    if (const llvm::StringRef text = name.split('\0').first; known({text.data(), text.size()}))
      found.push_back(i);
  }
  return found;
}

/// Adds the addresses of stubs for such functions. Stubs are in the order of the relocations in .rela.plt,
/// after a small common header.
void add_stubs(const elf::Image& image, std::vector<std::uint64_t>& addresses) {
  if (!image.abi()) return;
  const auto sections = image.sections();
  const auto relocations = std::ranges::find_if(sections, [](const elf::SectionHeader& section) {
    return section.type == elf::sht_rela && section.allocated() && section.name == ".rela.plt";
  });
  if (relocations == sections.end()) return;
  constexpr std::uint64_t max_header = 64;
  const std::uint64_t count = relocations->size / relocation_size, size = image.abi()->plt_entry_size;
  const std::vector<std::uint64_t> known = known_relocations(image, *relocations);
  for (const elf::SectionHeader& plt : image.plt_sections()) {
    if (plt.size / size < count) continue;
    const std::uint64_t header = plt.size - count * size;
    if (header > max_header) continue; // stubs of another size, or for other relocations
    if (image.budget() && !image.budget()->take(Resource::section_bytes, plt.size)) return;
    for (const std::uint64_t i : known) addresses.push_back(plt.address + header + i * size);
  }
}

} // namespace

Callees::Callees(const elf::Image& image, std::span<const OwnedRange> functions)
    : ImageEnvironment(image), functions_(functions) {
  const elf::SymbolTable table = elf::SymbolTable::load(image);
  for (const elf::Symbol& symbol : table.symbols())
    if (known(symbol.name)) never_returning_.push_back(symbol.address);
  add_stubs(image, never_returning_);
  std::ranges::sort(never_returning_);
}

bool Callees::never_returns(std::uint64_t target) {
  return std::ranges::binary_search(never_returning_, target);
}

std::span<const std::byte> Callees::code(std::uint64_t address, std::uint64_t size) {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &OwnedRange::begin);
  if (after != functions_.end()) size = std::min(size, after->begin - address);
  if (after != functions_.begin() && address < after[-1].end) size = std::min(size, after[-1].end - address);
  return ImageEnvironment::code(address, size);
}

} // namespace sframe::verify
