// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emit.h"

#include <sframe/elf/sidecar.h>
#include <sframe/tool/output_file.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace sframe::gen {

namespace {

bool names_folder(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

expected<std::string, FileProblem> write(const std::string& path, std::span<const std::byte> bytes,
                                         std::uint32_t mode) {
  if (const auto written = tool::write_file(path, bytes, mode); !written)
    return problem_in(path, written.error());
  return path;
}

expected<std::string, FileProblem> emit_sidecar(const CommandLine& line, const Input& input,
                                                const Generated& generated, std::uint32_t mode) {
  if (!input.image)
    return problem_in(line.input, {"INPUT is a raw section; --emit=sidecar needs an ELF file", "", {}});
  const elf::Image& image = *input.image;
  std::string path = line.output;
  if (names_folder(path)) {
    const std::string below = elf::sidecar_path(image.build_id());
    if (below.empty())
      return problem_in(
          line.input,
          {"no build ID for the sidecar's path in the folder; pass a file name as OUTPUT", "", {}});
    path = (std::filesystem::path(path) / below).string();
    if (const auto made = tool::make_parent_folders(path); !made) return problem_in(path, made.error());
  }
  const auto bytes = elf::make_sidecar({.machine = image.machine(),
                                        .byte_order = image.byte_order(),
                                        .type = image.type(),
                                        .flags = image.flags(),
                                        .build_id = image.build_id(),
                                        .section = generated.bytes,
                                        .section_address = section_address(line, input)});
  return write(path, bytes, mode);
}

} // namespace

expected<std::string, FileProblem> write_image(const CommandLine& line, const elf::File& file,
                                               const elf::Edit& edit) {
  if (const auto written = tool::write_edited(line.output, file, edit); !written)
    return problem_in(line.output, written.error());
  return line.output;
}

expected<std::string, FileProblem> emit(const CommandLine& line, const elf::File& file, const Input& input,
                                        const Generated& generated) {
  if (!file.is_intact()) return problem_in(line.input, {tool::cut_input, {}, {}});
  const std::uint32_t mode = file.mode() & 0777; // neither a section nor a sidecar may be setuid
  switch (line.emit) {
  case Emit::elf: return write_image(line, file, generated.image);
  case Emit::section: return write(line.output, generated.bytes, mode);
  case Emit::sidecar: return emit_sidecar(line, input, generated, mode);
  }
  std::unreachable();
}

} // namespace sframe::gen
