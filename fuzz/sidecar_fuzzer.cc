// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as what a sidecar is made of: machine, type, byte order, address, build ID, section.
// Properties: the sidecar parses, and has the same; its path is below the folder for its build ID.

#include "cost.h"

#include "sframe/elf/sidecar.h"

#include <algorithm>
#include <cstring>

namespace sidecar_fuzzer {

using namespace sframe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sframe::fuzz::require;
  constexpr std::size_t head = 15;
  if (size < head) return 0;
  const sframe::fuzz::Cost cost(size);
  const auto rest = std::as_bytes(std::span(data + head, size - head));
  const std::size_t id_size = std::min<std::size_t>(data[0] & 0x3f, rest.size());
  elf::Sidecar sidecar;
  sidecar.byte_order = data[0] & 0x80 ? ByteOrder::big : ByteOrder::little;
  sidecar.type = data[0] & 0x40 ? elf::et_exec : elf::et_dyn;
  std::memcpy(&sidecar.machine, data + 1, 2);
  std::memcpy(&sidecar.flags, data + 3, 4);
  std::memcpy(&sidecar.section_address, data + 7, 8);
  sidecar.build_id = rest.first(id_size);
  sidecar.section = rest.subspan(id_size);
  const auto bytes = elf::make_sidecar(sidecar);
  const auto image = elf::Image::parse(bytes);
  require(image && image->problems().empty(), "the sidecar has problems");
  require(image->machine() == sidecar.machine && image->type() == sidecar.type, "another machine or type");
  require(image->byte_order() == sidecar.byte_order && image->segments().empty(), "another byte order");
  require(std::ranges::equal(image->build_id(), sidecar.build_id), "another build ID");
  const elf::SectionHeader* section = image->find_section(".sframe");
  require(section && section->type == elf::sht_gnu_sframe && section->allocated(), "no section");
  require(section->address == sidecar.section_address, "another address");
  const auto contents = image->contents(*section);
  require(contents && std::ranges::equal(contents->bytes(), sidecar.section), "other contents");
  const std::string path = elf::sidecar_path(sidecar.build_id);
  require(path.empty() == (id_size < 2), "a path without a build ID");
  const std::size_t fixed = std::strlen(".build-id//.sframe");
  require(path.empty() || (path.starts_with(".build-id/") && path.size() == fixed + 2 * id_size),
          "another path");
  require(path.find("..") == std::string::npos, "a path outside the folder");
  return 0;
}

} // namespace sidecar_fuzzer
