// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a baseline of sframe-verify, as a map of generated code, as /proc/PID/maps and status,
// and as a name in JSON and in pages. Properties: a baseline that was read and written reads back the same; a
// function that is found contains the address; a JSON string is valid for another implementation and has the
// same text if that is UTF-8; text for the terminal has no control characters.

#include "memory_file.h"

#include "sframe/base/proc_text.h"
#include "sframe/languages/perf_map.h"
#include "sframe/page/page.h"
#include "sframe/tool/output.h"
#include "sframe/verify/baseline.h"

#include <llvm/Support/JSON.h>

#include <algorithm>
#include <span>

namespace readers_fuzzer {

using namespace sframe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Cost cost(size);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto baseline = verify::Baseline::parse(text)) {
    const std::string written = baseline->text();
    const auto again = verify::Baseline::parse(written);
    fuzz::require(again && again->text() == written, "a baseline does not read back");
  }
  const fuzz::MemoryFile file(std::as_bytes(std::span(data, size)));
  const auto map = languages::PerfMap::read(file.path());
  fuzz::require(map.has_value(), "a map that cannot be read");
  for (std::uint64_t address = 0x1000; address != 0;
       address = address < 0x3000 ? address + 0x80 : address << 8)
    if (const auto function = map->find(address, address + 1))
      fuzz::require(function->offset >= 1 && function->offset <= address + 1,
                    "an address outside of a function");
  for (const MapsLine& line : parse_maps(text)) fuzz::require(line.start < line.end, "an empty mapping");
  fuzz::require(status_value(text, "Name").find('\n') == std::string::npos, "a value of two lines");
  tool::Output json(-1), safe(-1);
  json.json_string(text);
  auto parsed = llvm::json::parse(json.text());
  fuzz::require(bool(parsed), "no JSON");
  const auto string = parsed->getAsString();
  fuzz::require(string.has_value(), "no string");
  if (llvm::json::isUTF8(llvm::StringRef(text.data(), text.size())))
    fuzz::require(*string == llvm::StringRef(text.data(), text.size()), "another string");
  const auto has_markup = [](std::string_view part) { return part.find_first_of("<>") != part.npos; };
  fuzz::require(!has_markup(page::script_json(json.text())), "a script that can end");
  fuzz::require(!has_markup(page::markup_text(text)), "markup in a text");
  const std::string heading = page::page_start("fuzz", text), other = page::page_start("fuzz", "");
  fuzz::require(std::ranges::count(heading, '<') == std::ranges::count(other, '<'), "markup in a title");
  safe.safe(text);
  for (const char c : safe.text())
    fuzz::require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a control character");
  return 0;
}

} // namespace readers_fuzzer
