// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/program.h"

#include "interrupt.h"
#include "sframe/tool/large_heap.h"
#include "sframe/tool/messages.h"
#include "writing_process.h"

#include <cstdlib>
#include <exception>
#include <llvm/Support/ErrorHandling.h>
#include <new>
#include <stdexcept>
#include <unistd.h>

namespace sframe::tool {

namespace {

constinit const char* tool_name = nullptr; ///< before main() runs: the name it was called by
constinit std::terminate_handler default_terminate =
    nullptr; ///< the C++ library's handler for other exceptions

/// Writes to standard error without allocating.
void print_error(const char* what) noexcept {
  print_plain_line({tool_name ? tool_name : program_invocation_short_name, ": error: ", what});
}

/// Callable from any thread and inside LLVM: no destructor runs, so nothing incomplete is written.
[[noreturn]] void end_with(const char* what) noexcept {
  remove_temporaries();
  print_error(what);
  ::_exit(exit_failure);
}

constexpr const char* no_memory = "out of memory";

/// For exceptions that cannot be caught in run_program(): thrown on another thread, before main(), or through
/// a noexcept function.
[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) throw;
    // Before main() the C++ library's reserve for exceptions may not be there yet: std::bad_alloc itself
    // finds no memory.
    void* const some = std::malloc(256); // operator new would throw
    if (!some) end_with(no_memory);
    std::free(some);
  } catch (const std::bad_alloc&) {
    end_with(no_memory);
  } catch (const std::length_error&) {
    end_with(no_memory);
  } catch (...) { // a bug in the program: the C++ library prints the exception's type and aborts
  }
  default_terminate();
  std::abort();
}

void on_llvm_no_memory(void*, const char*, bool) {
  end_with(no_memory);
}

void on_llvm_fatal_error(void*, const char* reason, bool) {
  end_with(reason);
}

/// Runs before the constructors of static objects, which also allocate; LLVM has many.
[[gnu::constructor(101)]] void catch_the_rest() {
  default_terminate = std::set_terminate(on_terminate);
  llvm::install_bad_alloc_error_handler(on_llvm_no_memory);
  llvm::install_fatal_error_handler(on_llvm_fatal_error);
}

} // namespace

int run_program(const char* tool, int argc, char** argv, int (*body)(int argc, char** argv)) {
  tool_name = tool;
  prepare_heap();
  try {
    const int code = body(argc, argv);
    end_writing_process();
    return code;
  } catch (const std::bad_alloc&) {
    print_error(no_memory);
  } catch (const std::length_error&) { // more elements requested than fit in the address space
    print_error(no_memory);
  }
  return exit_failure;
}

} // namespace sframe::tool
