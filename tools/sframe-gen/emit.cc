// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emit.h"

#include "bpf_table.h"
#include "tree_plan.h"

#include <sframe/elf/sidecar.h>
#include <sframe/tool/output_file.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace sframe::gen {

namespace {

/// The file at the output's path that the output would replace; empty if there is none, or it is not regular.
std::optional<elf::File> old_output(const CommandLine& line, const std::string& path) {
  if (!line.tree || line.force) return std::nullopt;
  auto file = elf::File::open_regular(path);
  return file ? std::optional(std::move(*file)) : std::nullopt;
}

/// Whether a result of this input may be written.
std::optional<Problem> check_input(const CommandLine& line, const elf::File& file) {
  if (!file.is_intact()) return Problem{tool::cut_input, {}, {}};
  if (line.tree && !file.is_unchanged())
    return Problem{"another process changed the file while it was converted", {}, {}};
  return std::nullopt;
}

expected<OutputFile, FileProblem> write(const CommandLine& line, const elf::File& file,
                                        const std::string& path, std::span<const std::byte> bytes) {
  if (auto wrong = check_input(line, file)) return problem_in(line.input, std::move(*wrong));
  const std::uint32_t mode = file.mode() & 0777; // neither a section nor a sidecar may be setuid
  OutputFile out{path, bytes.size(), true};
  const auto old = old_output(line, path);
  out.changed = !old || old->mode() != mode || !std::ranges::equal(old->bytes(), bytes);
  if (!out.changed) return out;
  if (const auto written = tool::write_file(path, bytes, mode); !written)
    return problem_in(path, written.error());
  return out;
}

/// Where a sidecar or a table is written.
expected<std::string, FileProblem> output_path(const CommandLine& line, const Input& input) {
  if (!names_folder(line.output)) return line.output;
  std::string path = input.image ? path_by_build_id(line, *input.image) : std::string();
  const std::string what = line.emit == Emit::sidecar ? "sidecar" : "table";
  if (path.empty())
    return refuse(line.input, {"no build ID for the " + what + "'s path in the directory" +
                                   (line.tree ? "" : "; pass a file name as OUTPUT"),
                               "",
                               {}});
  if (const auto made = tool::make_parent_folders(path); !made) return problem_in(path, made.error());
  return path;
}

expected<OutputFile, FileProblem> emit_sidecar(const CommandLine& line, const elf::File& file,
                                               const Input& input, const Generated& generated) {
  if (!input.image)
    return refuse(line.input, {"INPUT is a raw section; --emit=sidecar needs an ELF file", "", {}});
  const elf::Image& image = *input.image;
  const auto path = output_path(line, input);
  if (!path) return unexpected(path.error());
  const auto bytes = elf::make_sidecar({.machine = image.machine(),
                                        .byte_order = image.byte_order(),
                                        .type = image.type(),
                                        .flags = image.flags(),
                                        .build_id = image.build_id(),
                                        .section = generated.bytes,
                                        .section_address = section_address(line, input)});
  return write(line, file, *path, bytes);
}

#if SFRAME_BPF
expected<OutputFile, FileProblem> emit_bpf_table(const CommandLine& line, const elf::File& file,
                                                 const Input& input, const Generated& generated) {
  const auto bytes = make_bpf_table(input, generated.bytes, section_address(line, input));
  if (!bytes) return refuse(line.input, bytes.error());
  const auto path = output_path(line, input);
  if (!path) return unexpected(path.error());
  return write(line, file, *path, *bytes);
}
#endif

} // namespace

bool names_folder(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

std::string path_by_build_id(const CommandLine& line, const elf::Image& image) {
  std::string below = elf::sidecar_path(image.build_id());
  if (below.empty()) return below;
  std::filesystem::path path = std::filesystem::path(line.output) / below;
  if (line.emit == Emit::bpf_table) path.replace_extension(bpf_table_extension);
  return path.string();
}

expected<OutputFile, FileProblem> write_image(const CommandLine& line, const elf::File& file,
                                              const edit::Edit& edit) {
  if (auto wrong = check_input(line, file)) return problem_in(line.input, std::move(*wrong));
  OutputFile out{line.output, edit.size, true};
  const auto old = old_output(line, line.output);
  out.changed = !old || ((old->mode() ^ file.mode()) & 0777) != 0 || !edit.gives(file.bytes(), old->bytes());
  if (!out.changed) return out;
  // In a mirrored tree, hard links are made anew: an old one may be that of files that are two now.
  const auto links = line.tree && is_mirror(line) ? tool::HardLinks::part : tool::HardLinks::keep;
  if (const auto written = tool::write_edited(line.output, file, edit, links); !written)
    return problem_in(line.output, written.error());
  return out;
}

expected<OutputFile, FileProblem> emit(const CommandLine& line, const elf::File& file, const Input& input,
                                       const Generated& generated) {
  switch (line.emit) {
  case Emit::elf:
    // First: without it, the output has lost something.
    if (!generated.full_cfi.empty())
      if (auto written = write(line, file, line.full_cfi, generated.full_cfi); !written) return written;
    return write_image(line, file, generated.image);
  case Emit::section: return write(line, file, line.output, generated.bytes);
  case Emit::sidecar: return emit_sidecar(line, file, input, generated);
  case Emit::bpf_table:
#if SFRAME_BPF
    return emit_bpf_table(line, file, input, generated);
#else
    break; // no option selects it
#endif
  }
  std::unreachable();
}

} // namespace sframe::gen
