// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists of names, and where they are looked up: symbols, dynamic relocations, stubs. A stub has no name
// of its own: it is the one with the position of its relocation in .rela.plt, after a header of at most 64
// bytes. All is read in the constructor; each question is a binary search.

#include "sframe/code/callees.h"

#include "sframe/base/budget.h"
#include "sframe/code/references.h"
#include "sframe/elf/go_functions.h"
#include "sframe/elf/symbols.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sframe::code {

namespace {

using Names = std::span<const std::string_view>;

/// Functions that never return. Sorted.
constexpr std::array<std::string_view, 74> no_return_names = {
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
    "__fortify_panic",
    "__libc_fatal",
    "__libc_start_call_main",
    "__longjmp_chk",
    "__module_put_and_kthread_exit",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "_exit",
    "_longjmp",
    "abort",
    "caml_array_bound_error_asm",
    "caml_ml_array_bound_error",
    "err",
    "errx",
    "exit",
    "fortify_panic",
    "g_assertion_message_expr",
    "kthread_complete_and_exit",
    "kthread_exit",
    "log_assert_failed",
    "log_assert_failed_unreachable",
    "longjmp",
    "make_task_dead",
    "panic",
    "pthread_exit",
    "quick_exit",
    "rust_begin_unwind",
    "siglongjmp",
    "thrd_exit",
    "usercopy_abort",
    "verr",
    "verrx",
    "xexit",
};
static_assert(std::ranges::is_sorted(no_return_names));

/// Functions that only landing pads call, by the Itanium C++ ABI for exception handling, 2.4 and 2.5, and
/// compilers' own. Sorted.
constexpr std::array<std::string_view, 6> exception_names = {
    "_Unwind_Resume",       "__clang_call_terminate", "__cxa_begin_catch",
    "__cxa_call_terminate", "__cxa_call_unexpected",  "__cxa_get_exception_ptr",
};
static_assert(std::ranges::is_sorted(exception_names));

/// What the code of Linux modules jumps to in order to return. Sorted.
constexpr std::array<std::string_view, 1> return_names = {"__x86_return_thunk"};

/// Longer names need not be read to their end.
constexpr std::size_t max_known = 128;
static_assert(std::ranges::max(no_return_names, {}, &std::string_view::size).size() < max_known);

bool is_one(Names names, std::string_view name) {
  name = name.substr(0, max_known);
  return std::ranges::binary_search(names, name.substr(0, name.find('@')));
}

/// Calls add(symbol, address) for each instruction of a stub for a function in another file. `places`: what
/// relocations change, by address.
template <class Add>
void each_stub(const elf::Image& image, std::span<const elf::Image::RelocatedPlace> places, const Add& add) {
  if (!image.abi()) return;
  ReferenceFinder finder(*image.abi());
  std::vector<Stub> stubs;
  for (const elf::SectionHeader& plt : image.plt_sections()) {
    if (image.budget() && !image.budget()->take(Resource::section_bytes, plt.size)) return;
    if (const auto bytes = image.read(plt.address, plt.size)) finder.find_stubs(*bytes, plt.address, stubs);
  }
  for (const Stub& stub : stubs) {
    const auto place =
        std::ranges::lower_bound(places, stub.pointer, {}, &elf::Image::RelocatedPlace::address);
    if (place != places.end() && place->address == stub.pointer) add(place->symbol, stub.address);
  }
}

} // namespace

Callees::Callees(const elf::Image& image, std::span<const OwnedRange> functions,
                 std::span<const elf::ExternalSymbol> externals)
    : ImageEnvironment(image), functions_(functions) {
  const auto add = [&](std::string_view name, std::uint64_t address) {
    if (is_one(no_return_names, name)) never_returning_.push_back(address);
    if (is_one(exception_names, name)) needing_exception_.push_back(address);
    if (is_one(return_names, name)) returns_.push_back(address);
  };
  const elf::SymbolTable table = elf::SymbolTable::load(image);
  for (const elf::Symbol& symbol : table.symbols()) add(symbol.name, symbol.address);
  std::vector<elf::Image::RelocatedPlace> places;
  for (const elf::SectionHeader& section : image.sections()) {
    if (section.type != elf::sht_rela || !section.allocated()) continue;
    for (const elf::Image::RelocatedPlace& place : image.relocated_places(section, max_known))
      if (!place.symbol.empty()) places.push_back(place);
  }
  std::ranges::stable_sort(places, {}, &elf::Image::RelocatedPlace::address);
  for (const elf::Image::RelocatedPlace& place : places) {
    imported_.push_back(place.address);
    add(place.symbol, place.address);
  }
  each_stub(image, places, add);
  std::vector<AddressRange> constant;
  for (const elf::Segment& segment : image.segments())
    if (segment.type == elf::pt_gnu_relro) constant.push_back(segment.memory());
  constant_pointers_ = AddressSet(std::move(constant));
  std::vector<AddressRange> stubs;
  for (const elf::SectionHeader& plt : image.plt_sections())
    stubs.push_back(AddressRange::between(plt.address, plt.address + plt.size));
  stubs_ = AddressSet(std::move(stubs));
  for (const elf::ExternalSymbol& symbol : externals) add(symbol.name, symbol.address);
  add_go(image);
  std::ranges::sort(never_returning_);
  std::ranges::sort(needing_exception_);
  std::ranges::sort(returns_);
}

/// When a goroutine's stack is too small, Go's runtime starts the function again, on another one, with the
/// registers that it had.
void Callees::add_go(const elf::Image& image) {
  const auto go = elf::GoFunctions::open(image);
  for (std::uint64_t i = 0; go && i < go->size(); ++i)
    if (const auto function = go->at(i); function && function->name.starts_with("runtime.morestack"))
      never_returning_.push_back(function->extent.start);
}

std::optional<std::uint64_t> Callees::callee_at(std::uint64_t address) {
  if (!constant_pointers_.contains(address)) return std::nullopt;
  if (std::ranges::binary_search(imported_, address)) return address;
  const auto callee = constant_pointer(address);
  return callee && !ImageEnvironment::code(*callee, 1).empty() ? callee : std::nullopt;
}

bool Callees::never_returns(std::uint64_t target) {
  return std::ranges::binary_search(never_returning_, target);
}

bool Callees::needs_exception(std::uint64_t target) {
  return std::ranges::binary_search(needing_exception_, target);
}

bool Callees::is_return(std::uint64_t target) {
  return std::ranges::binary_search(returns_, target);
}

std::uint64_t Callees::function_start(std::uint64_t address) {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &OwnedRange::begin);
  const bool is_inside = after != functions_.begin() && address < after[-1].end;
  return is_inside ? after[-1].begin : address;
}

std::span<const std::byte> Callees::code(std::uint64_t address, std::uint64_t size) {
  if (stubs_.contains(address)) return {};
  const auto after = std::ranges::upper_bound(functions_, address, {}, &OwnedRange::begin);
  if (after != functions_.end()) size = std::min(size, after->begin - address);
  if (after != functions_.begin() && address < after[-1].end) size = std::min(size, after[-1].end - address);
  return ImageEnvironment::code(address, size);
}

} // namespace sframe::code
