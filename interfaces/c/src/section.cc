// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/section.h.

#include "section.h"

#include "guard.h"

#include "sframe/cfi/image.h"
#include "sframe/elf/archive.h"
#include "sframe/files/opened_file.h"
#include "sframe/index.h"

#include <array>
#include <mutex>

using namespace sframe;

namespace {

/// The call frame information of a file.
class FileCfi {
public:
  explicit FileCfi(const files::OpenedFile& file) {
    const elf::Image* const image = file.known_image();
    if (!image || image->relocatable()) return; // the functions of an object have no addresses yet
    opened_ = cfi::open_cfi(*image);
    for (const cfi::ImageSection& section : opened_.sections) finders_.push_back(section.finder());
  }

  std::optional<cfi::Fde> find(std::uint64_t pc) {
    for (cfi::FdeFinder& finder : finders_)
      if (auto found = finder.find(pc); found && *found) return *found;
    return std::nullopt;
  }

private:
  cfi::ImageCfi opened_;
  std::vector<cfi::FdeFinder> finders_;
};

} // namespace

struct sframe_file {
  explicit sframe_file(elf::File opened) : file(std::move(opened), Limits::standard) {}

  files::OpenedFile file;
  std::vector<elf::Contents> contents; ///< of the ELF sections
  std::deque<sframe_section> sections; ///< in contents
  // Opened by the first lookup. Lookups change it, and any number of threads may use a file.
  mutable std::unique_ptr<FileCfi> cfi;
  mutable std::mutex cfi_mutex;
};

struct sframe_index {
  Index index;
};

namespace {

sframe_function to_c(const Section& section, const EncodedFde& fde) {
  return {.start = fde.start,
          .length = fde.size,
          .block_size = fde.pc_type == PcType::mask ? fde.rep_size : 0u,
          .pauth_key_b = fde.pauth_key == PauthKey::b,
          .signal_frame = fde.signal_frame,
          .flexible = fde.fde_type == FdeType::flex,
          .outermost = section.outermost_throughout(fde),
          .number = fde.number,
          .num_rows = fde.num_fres,
          .offset_size = 1u << static_cast<unsigned>(fde.fre_type),
          .index_offset = fde.index_offset,
          .rows_offset = fde.rows_offset};
}

/// Calls `receive` for the rows of a function until it returns something other than SFRAME_OK.
template <class Receive>
sframe_status each_row(const Section& section, std::uint32_t number, Receive&& receive, sframe_error* error) {
  const auto fde = section.fde(number);
  if (!fde) return c::report_missing_function(error, fde.error());
  RowCursor rows = section.rows(*fde);
  std::array<FrameRow, 32> next;
  while (const std::size_t count = rows.next(next))
    for (const FrameRow& row : std::span(next).first(count))
      if (const sframe_status status = receive(c::to_c(row)); status != SFRAME_OK) return status;
  return rows.error() ? c::report(error, *rows.error()) : SFRAME_OK;
}

/// Adds the SFrame sections in the bytes of one ELF section. `fault` is set if one is malformed.
Result<void> add_sections(sframe_file& file, elf::Contents contents, std::uint64_t address, Budget& budget,
                          std::optional<Error>& fault) {
  file.contents.push_back(std::move(contents));
  Concatenated parts(file.contents.back().bytes(), address);
  for (;;) {
    const auto part = parts.next();
    if (!part) fault = part.error();
    if (!part || !*part) return {};
    if (!budget.take_section()) return unexpected(*budget.problem());
    file.sections.push_back({**part});
  }
}

Result<void> load(sframe_file& file, std::optional<Error>& fault) {
  const auto bytes = file.file.bytes();
  Budget& budget = file.file.budget();
  if (has_magic(bytes)) return add_sections(file, elf::Contents(bytes), 0, budget, fault);
  if (elf::is_archive(bytes)) return fail("archives are not supported; extract and open the members");
  if (!elf::Image::is_elf(bytes)) return fail("not an ELF file or SFrame section");
  const auto& image = file.file.image();
  if (!image) return unexpected(image.error());
  if (image->type() == elf::et_core) return fail("core files are not supported; use sframe_open_core()");
  for (const elf::SframeLocation& table : image->sframe_tables()) {
    auto contents = image->contents(table);
    if (!contents) return unexpected(contents.error());
    if (contents->bytes().empty()) continue;
    if (auto added = add_sections(file, std::move(*contents), table.address, budget, fault); !added || fault)
      return added;
  }
  return {};
}

} // namespace

namespace sframe::c {

sframe_rule to_c(const Rule& rule) {
  const bool has_base = rule.kind == Rule::Kind::value || rule.kind == Rule::Kind::stored;
  return {static_cast<std::uint8_t>(rule.kind), 0, has_base ? rule.base : std::uint16_t{0},
          has_base ? rule.offset : 0};
}

std::optional<Rule> from_c(const sframe_rule& rule) {
  static_assert(SFRAME_RULE_STORED == static_cast<int>(Rule::Kind::stored));
  static_assert(SFRAME_BASE_CFA == Rule::cfa_base);
  if (rule.kind > SFRAME_RULE_STORED || rule.reserved) return std::nullopt;
  const auto kind = static_cast<Rule::Kind>(rule.kind);
  if (kind == Rule::Kind::value || kind == Rule::Kind::stored) return Rule{kind, rule.base, rule.offset};
  return Rule{kind, 0, 0};
}

sframe_row to_c(const FrameRow& row) {
  return {.offset = row.offset,
          .ra_signed = row.ra_signed,
          .cfa = to_c(row.cfa),
          .ra = to_c(row.ra),
          .fp = to_c(row.fp)};
}

std::optional<FrameRow> from_c(const sframe_row& row) {
  const auto cfa = from_c(row.cfa), ra = from_c(row.ra), fp = from_c(row.fp);
  if (!cfa || !ra || !fp) return std::nullopt;
  return FrameRow{row.offset, *cfa, *ra, *fp, row.ra_signed != 0};
}

sframe_status report_missing_function(sframe_error* error, const Error& what) {
  if (what.kind != ErrorKind::no_such_function) return report(error, what);
  return report(error, SFRAME_INVALID, message(what.kind));
}

std::optional<std::vector<Section>> take_sections(const sframe_section* const* sections, std::size_t count) {
  std::vector<Section> taken;
  for (std::size_t i = 0; i < count; ++i) {
    if (!sections[i]) return std::nullopt;
    taken.push_back(sections[i]->section);
  }
  return taken;
}

} // namespace sframe::c

sframe_section* sframe_section_open(const void* bytes, size_t size, uint64_t address, sframe_error* error) {
  if (!bytes && size) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_section* {
    const auto section = Section::parse({static_cast<const std::byte*>(bytes), size}, address);
    if (section) return new sframe_section{*section};
    c::report(error, section.error());
    return nullptr;
  });
}

void sframe_section_close(sframe_section* section) {
  delete section;
}

sframe_status sframe_section_get_info(const sframe_section* section, sframe_section_info* info) {
  if (!section || !info) return SFRAME_INVALID;
  const Section& view = section->section;
  const Header& header = view.header();
  return c::fill(info, {.address = view.address(),
                        .length = view.bytes().size(),
                        .abi = view.abi().name.data(), // a literal
                        .bytes = view.bytes().data(),
                        .aux_header = view.aux_header().data(),
                        .aux_header_size = header.aux_header_size,
                        .byte_order = header.byte_order == ByteOrder::little ? SFRAME_BYTE_ORDER_LITTLE
                                                                             : SFRAME_BYTE_ORDER_BIG,
                        .num_functions = view.num_fdes(),
                        .num_rows = header.num_fres,
                        .version = header.version,
                        .flags = header.flags,
                        .fixed_fp_offset = header.fixed_fp_offset,
                        .fixed_ra_offset = header.fixed_ra_offset});
}

sframe_status sframe_section_check(const sframe_section* section, sframe_error* error) {
  if (!section) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto fault = section->section.check_index();
    return fault ? c::report(error, *fault) : SFRAME_OK;
  });
}

sframe_status sframe_section_function(const sframe_section* section, uint32_t number,
                                      sframe_function* function, sframe_error* error) {
  if (!section || !function) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto fde = section->section.fde(number);
    if (!fde) return c::report_missing_function(error, fde.error());
    const auto status = c::fill(function, to_c(section->section, *fde));
    return status == SFRAME_OK ? status : c::report_size(error);
  });
}

sframe_status sframe_section_rows(const sframe_section* section, uint32_t number,
                                  sframe_row_callback callback, void* data, sframe_error* error) {
  if (!section || !callback) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto give = [&](sframe_row row) {
      row.size = sizeof row;
      return callback(&row, data) == 0 ? SFRAME_OK : SFRAME_STOP;
    };
    return each_row(section->section, number, give, error);
  });
}

sframe_status sframe_section_rows_into(const sframe_section* section, uint32_t number, sframe_row* rows,
                                       size_t capacity, size_t* count, sframe_error* error) {
  if (count) *count = 0;
  if (!section || !count || (!rows && capacity)) return c::report_null(error);
  if (!c::is_array(rows, capacity)) return c::report_size(error);
  return c::guarded(error, [&] {
    const auto keep = [&](const sframe_row& row) {
      if (*count == capacity) return SFRAME_STOP;
      c::fill_sized(c::element(rows, (*count)++), row, rows->size);
      return SFRAME_OK;
    };
    const auto status = each_row(section->section, number, keep, error);
    return status == SFRAME_STOP ? SFRAME_OK : status;
  });
}

sframe_status sframe_section_find(const sframe_section* section, uint64_t pc, sframe_function* function,
                                  sframe_row* row, sframe_error* error) {
  if (!section) return c::report_null(error);
  if ((function && !c::is_sized(function)) || (row && !c::is_sized(row))) return c::report_size(error);
  return c::guarded(error, [&] {
    const auto match = section->section.find(pc);
    if (!match) return c::report(error, match.error());
    if (!*match) return c::report(error, SFRAME_NO_INFO, "no row for this address");
    if (function) c::fill(function, to_c(section->section, (*match)->fde));
    if (row) c::fill(row, c::to_c((*match)->row));
    return SFRAME_OK;
  });
}

sframe_status sframe_rule_text(const char* abi, const sframe_rule* rule, int is_cfa, char* buffer,
                               size_t size) {
  if (!abi || !rule || (!buffer && size)) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] {
    const AbiTraits* const traits = find_abi(std::string_view(abi));
    const auto taken = c::from_c(*rule);
    if (!traits || !taken) return SFRAME_INVALID;
    return c::copy_text(rule_text(*taken, *traits, is_cfa != 0), buffer, size);
  });
}

sframe_file* sframe_file_open(const char* path, sframe_error* error) {
  if (!path) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_file* {
    const auto refuse = [&](sframe_status status, const Problem& problem) {
      c::report(error, status, std::string(path) + ": " + problem.text());
      return nullptr;
    };
    auto opened = elf::File::open_regular(path);
    if (!opened) return refuse(SFRAME_UNREADABLE, opened.error());
    std::unique_ptr<sframe_file> file(new sframe_file(std::move(*opened)));
    std::optional<Error> fault;
    if (const auto loaded = load(*file, fault); !loaded) return refuse(SFRAME_INVALID, loaded.error());
    if (!fault) return file.release();
    c::report(error, *fault, std::string(path) + ": ");
    return nullptr;
  });
}

void sframe_file_close(sframe_file* file) {
  delete file;
}

size_t sframe_file_num_sections(const sframe_file* file) {
  return file ? file->sections.size() : 0;
}

const sframe_section* sframe_file_section(const sframe_file* file, size_t number) {
  return number < sframe_file_num_sections(file) ? &file->sections[number] : nullptr;
}

sframe_status sframe_file_find_cfi(const sframe_file* file, uint64_t pc, uint64_t* start, uint64_t* length,
                                   sframe_error* error) {
  if (!file) return c::report_null(error);
  return c::guarded(error, [&] {
    const std::lock_guard lock(file->cfi_mutex);
    if (!file->cfi) file->cfi = std::make_unique<FileCfi>(file->file);
    const auto found = file->cfi->find(pc);
    if (!found) return c::report(error, SFRAME_NO_INFO, "no call frame information for this address");
    if (start) *start = found->start;
    if (length) *length = found->size;
    return SFRAME_OK;
  });
}

sframe_index* sframe_index_make(const sframe_section* const* sections, size_t count, sframe_error* error) {
  if (!sections) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_index* {
    const auto taken = c::take_sections(sections, count);
    if (!taken) {
      c::report_null(error);
      return nullptr;
    }
    auto index = Index::build(*taken);
    if (index) return new sframe_index{std::move(*index)};
    c::report(error, index.error());
    return nullptr;
  });
}

void sframe_index_free(sframe_index* index) {
  delete index;
}

sframe_status sframe_index_find(const sframe_index* index, uint64_t pc, sframe_index_match* match) {
  if (!index || !match || !c::is_sized(match)) return SFRAME_INVALID;
  const IndexedRow* const found = index->index.find(pc);
  if (!found) return SFRAME_NO_INFO;
  return c::fill(match, {.signal_frame = found->signal_frame,
                         .pauth_key_b = found->pauth_key == PauthKey::b,
                         .ra_signed = found->row.ra_signed,
                         .cfa = c::to_c(found->row.cfa),
                         .ra = c::to_c(found->row.ra),
                         .fp = c::to_c(found->row.fp)});
}
