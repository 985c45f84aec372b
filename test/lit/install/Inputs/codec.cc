#include <cstdio>
#include <fstream>
#include <iterator>
#include <sframe/section.h>
#include <vector>

int main(int, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto section = sframe::Section::parse(std::as_bytes(std::span(bytes)));
  if (!section) return 1;
  sframe::FrameRow row;
  if (!section->rows(*section->fde(4)).next(row)) return 1;
  std::printf("%u functions, first row of the fifth: %s\n", section->num_fdes(),
              sframe::rule_text(row.cfa, section->abi(), true).c_str());
}
