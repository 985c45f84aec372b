// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a file for sframe-dump, in every format: ELF images, objects with relocations, archives,
// cores and raw sections. Run with -close_fd_mask=2, since errors are printed on standard error.

#include "cost.h"

#include "formats.h"
#include "inputs.h"

#include <sframe/elf/unpack.h>

#include <cstdlib>
#include <fcntl.h>
#include <span>

using namespace sframe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (elf::is_packed(bytes)) return 0; // the zeros of a compressed core cost up to 4 GiB for each format
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  static const int nowhere = open("/dev/null", O_WRONLY);
  static constexpr auto makers = {dump::make_text_dumper,  dump::make_gnu_dumper,
                                  dump::make_llvm_dumper,  dump::make_json_dumper,
                                  dump::make_stats_dumper, dump::make_stats_json_dumper};
  for (const auto make : makers) {
    tool::Output out(nowhere);
    tool::Messages messages("fuzz");
    dump::Names names;
    const auto dumper =
        make({.out = out, .names = names, .section = ".sframe", .header_only = false, .color = false});
    dump::Driver driver(*dumper, names, messages, out, {});
    dump::show_bytes("input", bytes, {}, driver);
    const int code = driver.finish();
    if (code < tool::exit_ok || code > tool::exit_failure) std::abort();
    if (code != tool::exit_ok && messages.errors() == 0) std::abort(); // errors must be reported
  }
  return 0;
}
