// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many inputs: files and folders of the command line, lists of files, patterns of what to leave out.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"
#include "sframe/tool/messages.h"
#include "sframe/tool/text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::tool {

class OptionList;

/// What becomes of a file that could have what a program works on, and has not (--missing). By default it is
/// an error if the command line names the file, and a warning in a tree.
enum class Missing : std::uint8_t { automatic, error, warn, skip };

struct InputOptions {
  std::vector<std::string> inputs; ///< of the command line
  Missing missing = Missing::automatic;
  bool recursive = false;
  std::string files_from; ///< a list of inputs: a file or "-"; empty: none
  bool null_separated = false;
  std::vector<std::string> excluded; ///< patterns
};

/// Where --help lists these options.
inline constexpr const char* input_group = "Several inputs";

/// Declares -r, --files-from, -0 and --exclude. The program declares the inputs.
void add_input_options(OptionList& cli, InputOptions& options);

/// Declares --missing. `text`: its description, which names the files that it is about.
void add_missing_option(OptionList& cli, Missing& missing, const std::string& text);

/// Fails if neither the command line nor a list names an input. `name`: of an input in --help.
Result<void> require_inputs(const InputOptions& options, std::string_view name);

/// One of the inputs, before anything was looked at.
struct NamedInput {
  std::string path;
  /// Its path in a mirrored tree: the name of a file of the command line, the path of a listed one without
  /// what leads to the root. Empty for a folder of the command line, whose contents are mirrored.
  std::string place;
};

struct NamedInputs {
  std::vector<NamedInput> inputs;
  std::vector<Glob> excluded;
  std::vector<Glob> excluded_folders; ///< patterns that ended with '/', without it
  bool recursive = false;
};

/// Reads the list of files and the patterns. Fails if one is invalid.
Result<NamedInputs> name_inputs(const InputOptions& options);

struct FoundFile {
  enum class Kind : std::uint8_t {
    regular,
    folder, ///< its contents follow it
    symbolic_link,
    special, ///< a socket, a device...; `what` names it
    failure, ///< `what` is the reason
  };
  Kind kind = Kind::failure;
  std::string path;
  std::string place; ///< its path in a mirrored tree
  std::string what;
  elf::File::Id id;
  std::uint64_t size = 0; ///< bytes, of a regular file
};

/// All files in the order of the inputs, those of a folder sorted by name. Symbolic links are followed if
/// they are inputs, not inside folders. A folder without `recursive`, and what cannot be read, is a failure.
/// Files whose name or path below the input matches a pattern are left out, folders with all their contents;
/// so is the folder `output`, if it is inside an input.
std::vector<FoundFile> find_files(const NamedInputs& named, elf::File::Id output = {});

/// True if the inputs are more than the files of the command line. Then those that are not of a program's
/// kind are skipped.
bool is_tree(const InputOptions& options);

/// Why a file that is neither an archive nor a raw section has no section, by its first bytes; empty if it
/// may have one. That it is 32-bit ELF is a reason in a tree only; elsewhere elf::Image::parse() fails for
/// it.
std::optional<std::string> unsuitable_file(std::span<const std::byte> bytes, bool tree);
/// The same for a member of an archive.
std::optional<std::string> unsuitable_member(std::span<const std::byte> bytes, bool tree);

/// For a file that has nothing for the program: a detail in a tree. Elsewhere false, and the caller reports
/// an error.
bool skip_in_tree(bool tree, MessageSink& messages, std::string_view path, std::string_view why);

/// True if the image has code and call frame information (without section headers: its search table) and is
/// no core, so that it could have an SFrame section. False for a separate debug file, where the code has no
/// contents. Linear in the number of sections.
bool may_have_section(const elf::Image& image);

/// Files that may have a section and have none, of a program that goes on without them.
class MissingSections {
public:
  void add(std::string path) { paths_.push_back(std::move(path)); }
  void add(const MissingSections& other) {
    paths_.insert(paths_.end(), other.paths_.begin(), other.paths_.end());
  }
  const std::vector<std::string>& paths() const { return paths_; }
  /// One warning for all of them, with their number and the first one; none if there are none.
  void warn(Messages& messages) const;

private:
  std::vector<std::string> paths_;
};

/// An input of a program that only reads.
struct InputFile {
  std::string path;
  std::string failure; ///< why it cannot be read; empty: not known yet
};

struct InputList {
  std::vector<InputFile> files;
  std::uint64_t skipped = 0; ///< special files, symbolic links inside folders, further names of a file
};

std::vector<std::string> paths(const NamedInputs& named);
std::vector<std::string> paths(const InputList& list);

/// The files of a tree, each once; of the files of a command line, all. The report of an earlier run,
/// `output`, is left out of a folder.
InputList list_files(const NamedInputs& named, bool tree, const std::string& output);

} // namespace sframe::tool
