// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a file for sframe-dump, in every format: ELF images, objects with relocations, archives,
// cores and raw sections. If they start with '{', the part up to the first zero is a report of sframe-gen
// (--origin). Files without sections are skipped if the size is odd. Run with -close_fd_mask=2, since errors
// are printed on standard error.

#include "cost.h"

#include "formats.h"
#include "inputs.h"

#include <sframe/elf/unpack.h>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <span>
#include <vector>

using namespace sframe;

namespace {

/// The report before the file, if there is one.
std::optional<dump::Origins> take_origins(std::span<const std::byte>& bytes) {
  if (bytes.empty() || bytes.front() != std::byte('{')) return std::nullopt;
  const std::size_t end = static_cast<std::size_t>(std::ranges::find(bytes, std::byte()) - bytes.begin());
  auto origins = dump::Origins::parse({reinterpret_cast<const char*>(bytes.data()), end});
  bytes = bytes.subspan(std::min(end + 1, bytes.size()));
  if (!origins) {
    sframe::fuzz::require(!origins.error().what.empty(), "no message");
    return std::nullopt;
  }
  return std::move(*origins);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto origins = take_origins(bytes);
  if (elf::is_packed(bytes)) return 0; // the zeros of a compressed core cost up to 4 GiB for each format
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  static const int nowhere = open("/dev/null", O_WRONLY);
  std::vector<dump::MakeDumper> makers;
  for (const dump::Format& format : dump::formats)
    for (const auto make : {format.dump, format.stats})
      if (make) makers.push_back(make);
  for (const auto make : makers) {
    tool::Output out(nowhere);
    tool::Messages messages("fuzz");
    dump::Names names;
    const auto dumper = make({.out = out,
                              .names = names,
                              .section = ".sframe",
                              .header_only = false,
                              .color = false,
                              .origins = origins ? &*origins : nullptr,
                              .title = {}});
    dump::Driver driver(*dumper, names, messages, out, {});
    files::OpenedFile file(elf::File::from_bytes("input", {bytes.begin(), bytes.end()}), Limits::standard);
    dump::InputOptions options;
    options.files.open_files = false; // no sidecar of a build ID that this machine has
    options.skip = size % 2 != 0;
    dump::show_opened("input", file, options, driver);
    const int code = driver.finish(".sframe", size % 2 != 0);
    if (code < tool::exit_ok || code > tool::exit_failure) std::abort();
    if (code != tool::exit_ok && messages.errors() == 0) std::abort(); // errors must be reported
  }
  return 0;
}
