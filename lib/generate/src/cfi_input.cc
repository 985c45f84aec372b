// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/generate/cfi_input.h"

#include "sframe/cfi/image.h"

#include <algorithm>
#include <iterator>

namespace sframe::generate {

Result<CfiInput> CfiInput::from_image(const elf::Image& image, const elf::Image* debug) {
  CfiInput input;
  input.abi = image.abi();
  input.image = &image;
  if (!input.abi)
    return fail("SFrame does not support this machine (e_machine " + std::to_string(image.machine()) + ")");
  for (const elf::Image* from : {&image, debug}) {
    if (!from) continue;
    cfi::ImageCfi opened = cfi::open_cfi(*from);
    if (!opened.problems.empty()) return unexpected(opened.problems.front());
    for (const cfi::ImageSection& one : opened.sections) input.sections.push_back(one.section);
    std::ranges::move(opened.storage, std::back_inserter(input.storage));
  }
  for (const elf::CodeRange& code : image.executable_ranges()) input.code.push_back(code);
  for (const elf::SectionHeader& plt : image.plt_sections())
    input.plts.push_back(
        {plt.memory(), image.read(plt.address, plt.size).value_or(std::span<const std::byte>{})});
  return input;
}

AddressSet CfiInput::stubs() const {
  std::vector<AddressRange> ranges;
  for (const Plt& plt : plts) ranges.push_back(plt.range);
  return AddressSet(std::move(ranges));
}

} // namespace sframe::generate
