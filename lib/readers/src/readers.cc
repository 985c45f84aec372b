// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/readers/readers.h"

#include <algorithm>

namespace sframe::readers {

namespace {

constexpr std::uint8_t sorted_and_pcrel = flag_sorted | flag_func_start_pcrel;
constexpr std::uint8_t all_known = flag_sorted | flag_frame_pointer | flag_func_start_pcrel;

constexpr Reader spec{.option = "spec",
                      .name = "",
                      .version = default_version,
                      .versions = 0xff,
                      .flags = 0,
                      .known_flags = 0xff,
                      .refuses_auxiliary = false,
                      .refuses_empty = false,
                      .requires_order = false,
                      .refuses_gaps = false,
                      .by_program_header = true,
                      .requires_mapping = false,
                      .equal_starts = EqualStarts::found,
                      .accepts_lone_word = true,
                      .accepts_zero_ra = true,
                      .accepts_zero_fp = true,
                      .exact_lookup = false,
                      .rows = {}};

constexpr Abi glibc_abis[] = {Abi::amd64, Abi::aarch64_little};

constexpr Reader glibc{.option = "glibc",
                       .name = "glibc",
                       .version = VersionNumber::v2,
                       .versions = 1 << 2,
                       .flags = flag_sorted,
                       .known_flags = all_known,
                       .refuses_auxiliary = false,
                       .refuses_empty = false,
                       .requires_order = true,
                       .refuses_gaps = true,
                       .by_program_header = true,
                       .requires_mapping = false,
                       .equal_starts = EqualStarts::missed,
                       .accepts_lone_word = true,
                       .accepts_zero_ra = false,
                       .accepts_zero_fp = true,
                       .exact_lookup = true,
                       .rows = {.outermost = false},
                       .abis = glibc_abis};

constexpr Reader linux_user{.option = "linux",
                            .name = "Linux",
                            .version = VersionNumber::v3,
                            .versions = 1 << 3,
                            .flags = sorted_and_pcrel,
                            .known_flags = 0xff,
                            .refuses_auxiliary = true,
                            .refuses_empty = true,
                            .requires_order = true,
                            .refuses_gaps = false,
                            .by_program_header = true,
                            .requires_mapping = true,
                            .equal_starts = EqualStarts::refused,
                            .accepts_lone_word = false,
                            .accepts_zero_ra = true,
                            .accepts_zero_fp = false,
                            .exact_lookup = true,
                            .rows = {.loaded_cfa = false, .fp_at_cfa = false}};

/// Modules are relocatable objects, and are sorted when they are loaded.
constexpr Reader linux_module = [] {
  Reader reader = linux_user;
  reader.option = "linux-module";
  reader.flags = flag_func_start_pcrel;
  reader.by_program_header = reader.requires_mapping = false;
  return reader;
}();

constexpr Reader table[] = {spec, linux_user, linux_module, glibc};

} // namespace

std::span<const Reader> all_readers() {
  return table;
}

std::vector<std::string> reader_names() {
  std::vector<std::string> names;
  for (const Reader& reader : table) names.emplace_back(reader.option);
  return names;
}

const Reader* find_reader(std::string_view option) {
  const auto found = std::ranges::find(table, option, &Reader::option);
  return found == std::end(table) ? nullptr : found;
}

} // namespace sframe::readers
