// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was mapped where when a sample was taken: the processes that are recorded, their mappings with code,
// and the files of these. A process that is there when the recording begins is read from /proc once; all
// later changes are events (process_events.h).

#pragma once

#include "../generated_names.h"
#include "process_events.h"

#include "sframe/bpf/stack.h"
#include "sframe/profile/recording_builder.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sframe {
struct MapsLine;
}

namespace sframe::profile_tool {

/// A mapping with code; it begins at its key in CodeMappings.
struct CodeMapping {
  std::uint64_t end = 0, offset = 0;
  std::uint32_t image = 0; ///< number of what is mapped
};
using CodeMappings = std::map<std::uint64_t, CodeMapping>;

class Processes {
public:
  /// What is known of a process.
  struct Known {
    std::string name;
    std::shared_ptr<CodeMappings> mappings; ///< copied before it is changed if others have it, too
  };

  /// `all`: also those that are not watched.
  Processes(profile::RecordingBuilder& builder, GeneratedNames& names, bool all)
      : builder_(builder), names_(names), all_(all) {}

  /// Records this process from now on.
  void watch(std::uint32_t pid);
  void apply(const ProcessEvent& event);
  /// Drops processes that have ended.
  void forget_ended();

  /// Reads what is not known from /proc.
  const Known& find(std::uint32_t pid);

  struct Owner {
    std::uint32_t pid = 0;
    std::uint32_t process = profile::none; ///< in the recording
  };
  /// The place of an address in the mappings, as a location of the recording.
  std::uint32_t locate(const Owner& owner, const CodeMappings& mappings, std::uint64_t pc, bool guessed);

  /// Frames whose mapping was not known: the process had ended before it was looked at.
  std::uint64_t unknown() const { return unknown_; }

private:
  enum class Kind : std::uint8_t { unopened, elf, vdso, kernel, generated };
  /// A file, or what else is mapped.
  struct Image {
    Kind kind = Kind::unopened;
    std::string path;
    std::vector<std::byte> build_id;
    std::optional<profile::FileIdentity> identity; ///< without a build ID
    std::uint64_t inode = 0;
    std::uint32_t file = profile::none; ///< in the recording
    sframe_bpf_segment segments[SFRAME_BPF_MAX_SEGMENTS] = {};
  };
  struct Place {
    std::uint32_t pid;
    std::uint64_t start, end;
  };

  Known& at(std::uint32_t pid);
  void read(std::uint32_t pid, Known& known);
  void add(Known& known, std::uint64_t start, const CodeMapping& mapping);
  std::uint32_t image(std::string_view path, std::uint64_t device, std::uint64_t inode);
  void open(Image& image, const Place& place);
  bool open_file(Image& image, const std::string& path, bool is_mapped);
  std::uint64_t link_address(const Image& image, std::uint64_t offset) const;

  profile::RecordingBuilder& builder_;
  GeneratedNames& names_;
  bool all_;
  std::unordered_map<std::uint32_t, Known> processes_;
  std::vector<std::uint32_t> ended_;
  std::vector<Image> images_;
  std::map<std::string, std::uint32_t> by_identity_; ///< numbers of images
  std::uint64_t unknown_ = 0;
};

} // namespace sframe::profile_tool
