// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "against.h"

#include <sframe/base/text.h>
#include <sframe/elf/file.h>
#include <sframe/elf/file_kind.h>
#include <sframe/files/opened_file.h>
#include <sframe/shrink/image.h>
#include <sframe/tool/output.h>

#include <array>
#include <optional>
#include <utility>

namespace sframe::verify {

namespace {

/// Nothing after an error, which has been reported.
std::optional<files::OpenedFile> open(tool::App& app, const std::string& path, Limits limits) {
  auto file = elf::File::open(path);
  if (!file) {
    app.messages().error(path, file.error());
    return std::nullopt;
  }
  if (!elf::Image::is_elf(file->bytes())) {
    app.messages().error(path, elf::with_file_kind("not an ELF file", file->bytes()));
    return std::nullopt;
  }
  files::OpenedFile opened(std::move(*file), limits);
  if (const auto& image = opened.image(); !image) {
    app.messages().error(path, image.error());
    return std::nullopt;
  }
  return opened;
}

void write_json(const AgainstOptions& options, const Result<shrink::Comparison>& result, tool::Output& out) {
  out << "{\"files\": [{\"path\": ";
  out.json_string(options.file) << ", \"against\": {\"original\": ";
  out.json_string(options.original) << ", \"equal\": " << (result ? "true" : "false");
  if (result) {
    const std::pair<const char*, std::uint64_t> counts[] = {{"functions", result->functions},
                                                            {"fdes", result->fdes},
                                                            {"rows", result->rows},
                                                            {"addresses", result->addresses}};
    for (const auto& [key, count] : counts) (out << ", \"" << key << "\": ").decimal(count);
    if (result->level != shrink::Level::lossless)
      (out << ", \"addresses_left_to_sframe\": ").decimal(result->different.size());
  } else {
    (out << ", \"difference\": ").json_string(result.error().text());
  }
  out << "}}]}\n";
}

void write_text(const AgainstOptions& options, const Result<shrink::Comparison>& result, bool is_verbose,
                tool::Output& out) {
  out.safe(options.file) << ": ";
  if (!result) {
    out << "differs from ";
    out.safe(options.original) << ": ";
    out.safe(result.error().text()) << '\n';
    return;
  }
  out << "has the call frame information of ";
  out.safe(options.original) << ": ";
  out.decimal(result->functions) << " functions in ";
  out.decimal(result->fdes) << " FDEs, ";
  out.decimal(result->rows) << " rows, ";
  out.decimal(result->addresses) << " addresses";
  if (result->level != shrink::Level::lossless)
    (out << ", but for ").decimal(result->different.size()) << " that are left to .sframe";
  out << '\n';
  if (is_verbose)
    for (const AddressRange& range : result->different.ranges())
      out << "  left to .sframe: " << hex(range.start) << " to " << hex(range.end()) << '\n';
}

} // namespace

int compare_files(tool::App& app, const AgainstOptions& options) {
  const std::array<std::string, 2> paths{options.original, options.file};
  app.confine({.read = {paths.begin(), paths.end()}, .found = {}, .write = {}});
  return app.run_with_output(paths, [&](tool::Output& out) -> int {
    const auto original = open(app, options.original, options.limits);
    const auto file = original ? open(app, options.file, options.limits) : std::nullopt;
    if (!file) return tool::exit_failure;
    const auto result = shrink::compare(*original->known_image(), *file->known_image());
    for (const auto* one : {&*original, &*file}) {
      const auto limit = one->budget().problem();
      if (!limit) continue;
      app.messages().error(one == &*file ? options.file : options.original, *limit);
      return tool::exit_failure;
    }
    if (options.json)
      write_json(options, result, out);
    else
      write_text(options, result, app.messages().verbose(), out);
    return result ? tool::exit_ok : tool::exit_findings;
  });
}

} // namespace sframe::verify
