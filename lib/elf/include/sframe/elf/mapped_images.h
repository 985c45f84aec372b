// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of a process's mappings are which ELF image: the one place for this decision, for cores, minidumps
// and live processes.
//
// An image is where the program headers in its first page fit the mappings of its file. So the same file may
// be mapped again as data, or in part (libffi maps its trampolines a second time), and several mappings may
// have the file's first page: linkers put the text of small programs there, and each segment is a mapping of
// its own. Text may be in other memory than the file's: programs move it to large pages. It belongs to the
// image whose executable segment is there.
//
// Without a readable first page (cores may lack it), mappings of one file that follow each other are an
// image.

#pragma once

#include "sframe/address.h"
#include "sframe/bytes.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// A mapping of a process: of a file, or other memory.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;                 ///< bytes
  std::string_view path = {};                    ///< may end in " (deleted)"
  std::optional<bool> executable = std::nullopt; ///< nothing if it is unknown
  /// Equal for mappings of the same file; 0: not of a file. Used by find_images() only.
  std::uint32_t file = 0;
  /// Memory of another origin in the place of a file's part: the file offset is unknown.
  bool moved = false;
};

/// Mappings that are an image.
struct MappedImage {
  std::uint32_t file = 0;           ///< Mapping::file; 0 if no mapping is of the image's file
  std::uint64_t header_address = 0; ///< of the ELF header; 0 if it cannot be read
  /// Addresses in memory minus those in the file; nothing if the header cannot be read (see BiasFinder).
  std::optional<std::uint64_t> bias;
  std::vector<Mapping> mappings; ///< by address; parts of those that were passed
};

/// Reads the page of memory at an address: as many bytes as there are. They may change with the next call.
using PageReader = std::function<std::span<const std::byte>(std::uint64_t)>;

/// The bytes from an image's start that a PageReader has to return.
inline constexpr std::size_t header_window = 4096;

/// The images among mappings, by address. `mappings` are sorted and disjoint. `program_headers` is the
/// address of the program's headers (AT_PHDR), if it is known: by it a program is found none of whose
/// mappings is of its file; by `starts`, the addresses of ELF headers, such libraries are. Data files count
/// as images if their mappings have no readable first page; the caller knows what else to ask of an image. N
/// log N.
std::vector<MappedImage> find_images(std::span<const Mapping> mappings, ByteOrder order,
                                     const PageReader& read, std::uint64_t program_headers = 0,
                                     std::span<const std::uint64_t> starts = {});

/// Finds the bias of an image from its file: the one by which most mappings are where a PT_LOAD says.
class BiasFinder {
public:
  /// `file` must outlive the object.
  explicit BiasFinder(const Image& file);
  /// Nothing if no mapping fits the file. `mappings` are by address; N log N.
  std::optional<std::uint64_t> find(std::span<const Mapping> mappings) const;

  /// A bias that fits some of the mappings.
  struct Fit {
    std::uint64_t bias = 0;
    std::size_t mappings = 0;          ///< that fit
    std::size_t alike = 0;             ///< those of them that are executable if the segment is, and only then
    std::size_t starts = 0;            ///< those that start where a segment does
    std::size_t first_fit = 0;         ///< the position of the first of these
    std::uint64_t address = 0;         ///< of the segment that fits it: several may be in its first page
    std::optional<std::size_t> header; ///< the position of the first that starts with the file's first byte
  };
  /// True if the bias fits the mapping.
  bool fits(const Mapping& mapping, std::uint64_t bias) const;
  /// All of them, the best first: by the numbers in their order, then the first mapping and segment.
  std::vector<Fit> all_fits(std::span<const Mapping> mappings) const;

private:
  struct Place {
    std::uint64_t offset;   ///< of a segment in the file
    std::uint64_t last_end; ///< the highest end of this segment and those before it
    const Segment* segment;
  };
  template <class F> void each_segment(const Mapping& mapping, F&& f) const;

  std::vector<Place> places_; ///< of PT_LOAD segments, by offset
};

/// The first PT_LOAD that has the file's first bytes; nullptr if there is none.
const Segment* first_load(const Image& image);

} // namespace sframe::elf

#pragma GCC visibility pop
