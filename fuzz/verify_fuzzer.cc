// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a file for sframe-verify: an ELF image or object, else a raw section. Properties: every
// function gets one verdict, every finding has a message, and the findings of the check against code do not
// depend on the number of threads.

#include "cost.h"

#include "sframe/verify/against_cfi.h"
#include "sframe/verify/against_code.h"
#include "sframe/verify/input.h"
#include "sframe/verify/structure.h"
#include "sframe/verify/verdicts.h"

#include <cstdlib>
#include <vector>

using namespace sframe;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

class Listener final : public verify::Sink {
public:
  void add(verify::Finding finding) override {
    require(!finding.message.empty());
    if (finding.at) require(finding.end >= finding.at->pc);
    ids.push_back(finding.id);
  }
  std::vector<verify::Id> ids;
};

void check_verdicts(const verify::Input& input, const verify::Verdicts& verdicts) {
  const verify::Summary summary = verdicts.summary();
  require(summary.functions == input.num_functions());
  require(summary.functions == summary.agree + summary.contradiction + summary.undecided + summary.unreached);
}

std::vector<verify::Id> check_code(const verify::Input& input, unsigned threads) {
  Listener listener;
  verify::Verdicts verdicts(input);
  check_against_code(input, threads, verdicts, listener);
  check_verdicts(input, verdicts);
  return std::move(listener.ids);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  const auto bytes = std::as_bytes(std::span(data, size));
  verify::Input::Sources sources;
  std::optional<elf::Image> image;
  if (elf::Image::is_elf(bytes)) {
    auto parsed = elf::Image::parse(bytes);
    if (!parsed) return 0;
    image = std::move(*parsed);
    sources.image = &*image;
  } else {
    sources.raw = bytes;
    sources.raw_address = 0x400000;
    sources.use_raw = true;
  }
  const auto input = verify::Input::load(sources);
  if (!input) return 0;
  Listener listener;
  verify::Verdicts verdicts(*input);
  check_structure(*input, listener);
  check_against_cfi(*input, verdicts, listener);
  check_verdicts(*input, verdicts);
  require(check_code(*input, 1) == check_code(*input, 2));
  return 0;
}
