// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a program and its debug file: 4 bytes with the program's length, the program, the debug
// file. The latter is stored under the names that the program requests, if they are plain, and as the
// program's sidecar, alternate debug file, package of split ones, and split one. Properties: no name leads
// out of the given folder, and the file found is the one stored there; so for modules, which use it.

#include "cost.h"

#include "sframe/elf/package_note.h"
#include "sframe/elf/sidecar.h"
#include "sframe/files/debug_file.h"
#include "sframe/modules/module.h"
#include "sframe/modules/source.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace debugfile_fuzzer {

using namespace sframe;

namespace {

/// A folder that is gone when the fuzzer ends.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/debugfile-fuzzer-XXXXXX";
    fuzz::require(::mkdtemp(name) != nullptr);
    path = name;
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
};

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

class NoMemory final : public modules::ByteSource {
public:
  std::span<const std::byte> memory_at(std::uint64_t) override { return {}; }
};

/// What is known of a module's file.
enum class Known { path, name, nothing };

/// A module of the program: names, lines and tables, wherever they are. If only the file's name is known, it
/// is looked for in folders, by the start of its build ID, and has SFrame generated from CFI.
void use_module(const elf::Image& image, const std::string& folder, std::uint64_t size, Known known) {
  modules::FileOptions files{.sysroot = folder,
                             .sframe_dir = folder + "/sframe",
                             .more_debug_dirs = {folder + "/debug"},
                             .debug_dir = "",
                             .trust = modules::FileTrust::all};
  files.add_budget(size);
  NoMemory memory;
  static const auto folders =
      std::make_shared<const std::vector<std::string>>(std::initializer_list<std::string>{"/debug", ""});
  constexpr const char* paths[] = {"/program", "program", "/nothing"};
  modules::ModuleInfo info{.path = paths[static_cast<std::size_t>(known)],
                           .file = {},
                           .start = 0,
                           .end = ~std::uint64_t(0),
                           .bias = 0};
  info.build_id.assign(image.build_id().begin(), image.build_id().end());
  if (known == Known::name) {
    files.generate_sframe = true;
    info.folders = folders;
    info.build_id_cut = true;
    info.build_id.resize(std::min<std::size_t>(info.build_id.size(), 8));
  }
  modules::Module module(std::move(info), *image.abi(), files, memory);
  modules::DwarfSource source;
  for (const std::string& path : {module.file().path(), module.debug().path(), module.file().verified_path()})
    fuzz::require(path.empty() || path.starts_with(folder + "/"), "opened elsewhere");
  for (const elf::File& file : module.debug().beside("split.dwo"))
    fuzz::require(file.path().starts_with(folder + "/"), "looked for elsewhere");
  (void)module.symbols().source();
  if (const elf::Image* const found = module.image()) (void)elf::package_note(*found);
  (void)module.debug().alternate_image();
  (void)module.debug().image_number();
  unwind::CfiMatch cfi;
  std::size_t left = 16;
  for (const elf::CodeRange& range : image.executable_ranges()) {
    for (const std::uint64_t at : {range.start, range.start + range.size / 2}) {
      const modules::LinkAddress link(at);
      (void)module.symbols().find(link);
      (void)source.find(module, at);
      const auto extent = module.tables().function_at(link);
      if (extent) fuzz::require(at - extent->start < extent->size, "another function");
      (void)module.find_sframe(at);
      (void)module.find_cfi(at, cfi);
    }
    if (--left == 0) break;
  }
  if (const auto sidecar = module.converted_sidecar(); !sidecar.empty())
    fuzz::require(elf::Image::parse(sidecar).has_value(), "a sidecar that cannot be read");
  (void)module.file().problem();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = std::as_bytes(std::span(data, size));
  std::uint32_t program_size = 0;
  if (input.size() < sizeof program_size) return 0;
  std::memcpy(&program_size, input.data(), sizeof program_size);
  input = input.subspan(sizeof program_size);
  if (program_size > input.size()) return 0;
  const auto program = input.first(program_size), debug = input.subspan(program_size);
  const auto image = elf::Image::parse(program);
  if (!image) return 0;

  static const Folder folder;
  const std::string debug_folder = folder.path + "/debug";
  std::vector<std::string> written;
  const std::string id = elf::to_hex(image->build_id());
  if (id.size() > 2 && id.size() < 200)
    written.push_back(debug_folder + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  if (const auto link = files::debug_link(*image)) {
    fuzz::require(link->name.find('/') == link->name.npos && link->name != ".." && link->name != ".",
                  "a link that is a path");
    const auto plain = [](char c) { return c > ' ' && c < 0x7f; };
    if (std::ranges::all_of(link->name, plain) && link->name.size() < 200)
      written.push_back(folder.path + "/" + std::string(link->name));
  }
  if (const std::string path = elf::sidecar_path(image->build_id()); !path.empty() && path.size() < 200)
    written.push_back(folder.path + "/sframe/" + path);
  if (const auto link = files::alternate_link(*image); link && link->name == "alternate")
    written.push_back(folder.path + "/alternate");
  for (const std::string& path : written) write(path, debug);
  for (const char* const beside : {"/program.dwp", "/split.dwo"}) written.push_back(folder.path + beside);
  for (const std::string& path : std::span(written).last(2)) write(path, debug);
  written.push_back(folder.path + "/program");
  write(written.back(), program);
  {
    const fuzz::Cost cost(size);
    std::vector<files::Rejected> rejected;
    const std::string folders[] = {debug_folder};
    const auto found =
        files::find_debug_file(*image, folder.path + "/program", folders, Limits::standard, &rejected);
    if (found) {
      fuzz::require(found->path().starts_with(folder.path + "/"), "found elsewhere");
      fuzz::require(std::ranges::equal(found->bytes(), debug), "another file");
    }
    for (const files::Rejected& one : rejected)
      fuzz::require(one.path.starts_with(folder.path + "/") && !one.why.empty(), "rejected elsewhere");
  }
  if (image->abi()) {
    const fuzz::Cost cost(size, fuzz::many_passes);
    for (const Known known : {Known::path, Known::name, Known::nothing})
      use_module(*image, folder.path, size, known);
  }
  std::error_code error;
  for (const std::string& path : written) std::filesystem::remove(path, error);
  return 0;
}

} // namespace debugfile_fuzzer
