// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library that is loaded and unloaded: its function calls the one that it is given.
void callback(void (*function)(void)) {
  function();
  __asm__ volatile("");
}
