// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "callees.h"

#include "sframe/elf/symbols.h"

#include <algorithm>
#include <array>
#include <llvm/Object/ELFObjectFile.h>
#include <string_view>

namespace sframe::verify {

namespace {

/// Sorted.
constexpr std::array<std::string_view, 62> names = {
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

bool known(std::string_view name) {
  return std::ranges::binary_search(names, name.substr(0, name.find('@')));
}

using Stubs = std::vector<std::string_view>;

/// The names of .rela.plt, one per stub, in order; empty where a stub has none.
Stubs stub_names(const llvm::object::ELFObjectFileBase& file) {
  Stubs stubs;
  for (const llvm::object::SectionRef& section : file.dynamic_relocation_sections()) {
    if (auto name = section.getName(); !name || *name != ".rela.plt") {
      if (!name) llvm::consumeError(name.takeError());
      continue;
    }
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      std::string_view text;
      if (const auto symbol = relocation.getSymbol(); symbol != file.symbol_end()) {
        if (auto name = symbol->getName())
          text = {name->data(), name->size()};
        else
          llvm::consumeError(name.takeError());
      }
      stubs.push_back(text);
    }
  }
  return stubs;
}

/// The addresses of stubs for such functions: stubs stand in the order of their relocations, behind at most a few
/// that are for all.
void add_stubs(const elf::Image& image, std::vector<std::uint64_t>& addresses) {
  constexpr std::uint64_t max_header = 64;
  const auto bytes = image.bytes();
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      {llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()), ""}, false);
  if (!file) return llvm::consumeError(file.takeError());
  const Stubs stubs = stub_names(*llvm::cast<llvm::object::ELFObjectFileBase>(file->get()));
  if (stubs.empty() || !image.abi()) return;
  for (const elf::Section& plt : image.plt_sections()) {
    const std::uint64_t size = image.abi()->plt_entry_size, header = plt.size - stubs.size() * size;
    if (header > max_header) continue; // stubs of another size, or for other relocations
    for (std::size_t i = 0; i < stubs.size(); ++i)
      if (known(stubs[i])) addresses.push_back(plt.address + header + i * size);
  }
}

} // namespace

Callees::Callees(const elf::Image& image) : ImageSurroundings(image) {
  for (const elf::Symbol& symbol : elf::SymbolTable::load(image).symbols())
    if (known(symbol.name)) never_returning_.push_back(symbol.address);
  add_stubs(image, never_returning_);
  std::ranges::sort(never_returning_);
}

bool Callees::never_returns(std::uint64_t target) {
  return std::ranges::binary_search(never_returning_, target);
}

} // namespace sframe::verify
