// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The image of a module: its file, if that is found and is the one that was mapped, else the parts of it in
// the process's own memory (the vdso is completely there). It is looked for at the first question, and from a
// server only if nothing here has it.

#pragma once

#include "sframe/abi.h"
#include "sframe/files/access.h"
#include "sframe/modules/found_file.h"
#include "sframe/modules/generated_code.h"
#include "sframe/modules/mapping.h"
#include "sframe/modules/tables.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::modules {

class ModuleFile {
public:
  /// As for Module. Opens nothing.
  ModuleFile(ModuleInfo info, const AbiTraits& abi, const files::FileOptions& files, ByteSource& memory,
             std::shared_ptr<const GeneratedCode> code);
  ModuleFile(const ModuleFile&) = delete;

  /// The bias and the mappings, as far as they are known without opening the file.
  const Mapping& mapping() const { return mapping_; }
  const AbiTraits& abi() const { return abi_; }
  const files::FileAccess& access() const { return access_; }
  /// True if the process has generated the image.
  bool is_generated() const { return code_ != nullptr; }

  /// The image that the questions of a walk use: a missing file is fetched.
  files::SharedImage& use();
  /// The image without the server's help; not counted as used.
  files::SharedImage& look();
  /// True after use().
  bool is_used() const { return served_.has_value(); }

  /// The image of use(); nullptr if there is none.
  const elf::Image* image() { return use().image(); }
  /// The image of use() or look() if its sections can be read, not only segments: of the file, the vdso,
  /// generated code. Else nullptr.
  const elf::Image* with_sections(const files::SharedImage& image) const;
  /// True if there is an image. Does not count as use: the mapping may be a region for generated code
  /// instead.
  bool is_image() { return look().image() != nullptr; }
  /// The SFrame section that a server had, instead of the file; empty if there is none.
  std::span<const std::byte> served_section() const;
  /// True if there is such a section, and the server was not asked for the file.
  bool has_section_only() const { return served_ && served_->section && !served_->has_file; }
  /// Asks for it then, since more than the section is needed. True if there is a file now, so that all that
  /// was derived from the former image has to be derived again; the former image stays valid.
  bool fetch_whole();

  /// The path of the file, as it was opened; empty if there is none, or it is not the one that was mapped.
  std::string path();
  /// The path of the file on this machine, if it is certain to be the one that was mapped: it has the build
  /// ID that is in the process. Else empty. Does not count as use.
  std::string verified_path();
  /// The build ID in the process, else in the file; may be empty.
  std::span<const std::byte> build_id();
  /// Where files that belong to the image are looked for.
  files::Origin origin();
  /// True if a server has provided the file, or its SFrame section instead.
  bool is_fetched() const;
  /// True if the file should be there, and is missing or another one.
  bool is_missing();

  /// What a user reads about the module: the file's problem, or the first one that was added. One line; empty
  /// if there is none, and for a module not used yet. A limit that was reached meanwhile is the problem.
  const std::string& problem_so_far();
  /// The same after looking for the file.
  const std::string& problem();
  /// Adds a problem, if there is none; empty: no problem.
  void add_problem(const std::string& line);
  /// A problem that matters more than others.
  void set_problem(const std::string& line);
  /// True if something of the file, its sidecar or its debug file was not read because of a limit.
  bool has_reached_limit() const;

private:
  /// What a server was asked for.
  struct Served {
    std::optional<elf::File> section; ///< .sframe, if there is no file
    std::optional<bool> has_file;     ///< nothing: not asked for it
  };

  FoundFile& found();
  bool has_file() { return found().image->file() != nullptr; }
  void ask_server(Served& served);
  bool fetch_file(Served& served);

  Mapping mapping_;
  const AbiTraits& abi_;
  const files::FileAccess access_;
  ByteSource& memory_;
  const std::shared_ptr<const GeneratedCode> code_;
  Lazy<FoundFile> found_;
  std::optional<Served> served_;                     ///< after the first use
  std::shared_ptr<files::SharedImage> former_image_; ///< of before fetch_whole(): still referred to
  std::string problem_;
};

} // namespace sframe::modules

#pragma GCC visibility pop
