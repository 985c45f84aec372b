// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs LLVM's row interpreter over .eh_frame and nothing else: a lower bound for a converter based on it.
//
//    llvm-rows FILE

#include "llvm_rows.h"

#include "llvm/Object/ELFObjectFile.h"

#include <cstdio>
#include <exception>
#include <span>

int main(int argc, char** argv) try {
  using namespace sframe;
  auto file = argc == 2 ? llvm::object::ObjectFile::createObjectFile(argv[1])
                        : llvm::createStringError("usage: llvm-rows FILE");
  if (!file) {
    std::fprintf(stderr, "%s\n", llvm::toString(file.takeError()).c_str());
    return 2;
  }
  for (const auto& part : file->getBinary()->sections()) {
    if (llvm::cantFail(part.getName()) != ".eh_frame") continue;
    const llvm::StringRef text = llvm::cantFail(part.getContents());
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    const cfi::CfiSection section(cfi::SectionKind::eh_frame, bytes, part.getAddress(), traits(Abi::amd64));
    std::printf("%lld rows\n", static_cast<long long>(bench::count_llvm_rows(section)));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
