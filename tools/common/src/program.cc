// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/program.h"

#include "interrupt.h"
#include "sframe/tool/messages.h"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <llvm/Support/ErrorHandling.h>
#include <new>
#include <stdexcept>
#include <unistd.h>

namespace sframe::tool {

namespace {

constinit const char* tool_name = nullptr;       ///< until main() runs: as it was called
constinit std::terminate_handler usual = nullptr; ///< what the C++ library does about other exceptions

/// On standard error, without an allocation.
void print_error(const char* what) noexcept {
  print_plain_line({tool_name ? tool_name : program_invocation_short_name, ": error: ", what});
}

/// From anywhere, threads and LLVM's insides among it: no destructor runs, so nothing half-done is written.
[[noreturn]] void end_with(const char* what) noexcept {
  remove_temporaries();
  print_error(what);
  ::_exit(exit_failure);
}

constexpr const char* no_memory = "out of memory";

/// An exception that cannot be caught at the border: thrown on another thread, before main(), or through a function that
/// must not throw.
[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    end_with(no_memory);
  } catch (const std::length_error&) {
    end_with(no_memory);
  } catch (...) { // a fault of the program's: the C++ library names it and aborts
  }
  usual();
  std::abort();
}

void on_llvm_no_memory(void*, const char*, bool) {
  end_with(no_memory);
}

void on_llvm_fatal_error(void*, const char* reason, bool) {
  end_with(reason);
}

/// Before the constructors of static objects, which allocate too; LLVM has many.
[[gnu::constructor(101)]] void catch_the_rest() {
  usual = std::set_terminate(on_terminate);
  llvm::install_bad_alloc_error_handler(on_llvm_no_memory);
  llvm::install_fatal_error_handler(on_llvm_fatal_error);
}

} // namespace

int run_program(const char* tool, int argc, char** argv, int (*body)(int argc, char** argv)) {
  tool_name = tool;
  try {
    return body(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error(no_memory);
  } catch (const std::length_error&) { // a container of more elements than there are addresses
    print_error(no_memory);
  }
  return exit_failure;
}

} // namespace sframe::tool
