// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dump_core CORE: prints the stack of every thread of a core file. The shortest program with the library:
// open, make a walker with the ready steppers, walk.

#include "print_frames.h"

#include "sframe/process/open_core.h"
#include "sframe/steppers/steppers.h"

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: dump_core CORE\n", stderr);
    return 2;
  }
  const auto core = sframe::process::open_core(argv[1]);
  if (!core) {
    std::fprintf(stderr, "%s: %s\n", argv[1], core.error().text().c_str());
    return 2;
  }

  sframe::process::CoreProcess& process = *(*core)->process;
  sframe::process::CoreSpace& space = process.space();
  sframe::unwind::Walker walker(space, sframe::steppers::default_steppers(space.abi(), space.main_module()));
  sframe::modules::ElfSymbols symbols;
  return example::print_stacks(walker, process, symbols) ? 0 : 1;
}
