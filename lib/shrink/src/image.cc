// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// find_place() and check_use() refuse, layout and write() place: the tables where they were, in the same
// order, the note after them, and the rest is room.

#include "sframe/shrink/image.h"

#include "references.h"
#include "sframe/base/budget.h"
#include "sframe/bytes.h"
#include "sframe/cfi/image.h"
#include "sframe/edit/sections.h"
#include "sframe/elf/notes.h"
#include "sframe/generate/optimize.h"
#include "sframe/section.h"
#include "sframe/shrink/shrink.h"
#include "sites.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

namespace sframe::shrink {

using namespace elf;

namespace {

constexpr std::uint64_t note_align = 4, room_align = 8, table_align = 8, header_align = 4;
/// Between the tables: only what aligns the second one.
constexpr std::uint64_t max_gap = 64;

/// The tables of a file, which are neighbours.
struct Place {
  const SectionHeader* eh_frame = nullptr;
  const SectionHeader* header = nullptr;
  std::uint64_t start = 0, end = 0; ///< in the file
  std::uint64_t address = 0;        ///< of `start`
  bool header_first = true;

  AddressRange memory() const { return {address, end - start}; }
};

const SectionHeader* find_header(const Image& image) {
  const Segment* segment = image.find_segment(pt_gnu_eh_frame);
  if (!segment) return nullptr;
  const auto found = std::ranges::find_if(image.sections(), [&](const SectionHeader& section) {
    return section.allocated() && section.address == segment->address && section.offset == segment->offset &&
           section.size == segment->file_size && section.type != sht_null && section.size != 0;
  });
  return found == image.sections().end() ? nullptr : &*found;
}

/// Fails unless both are in one read-only PT_LOAD, with nothing but padding between them.
Result<void> check_neighbours(const Image& image, const Place& place) {
  const auto range = AddressRange::between(place.start, place.end);
  const auto load = std::ranges::find_if(image.segments(), [&](const Segment& segment) {
    return segment.type == pt_load && AddressRange{segment.offset, segment.file_size}.contains(range) &&
           place.address - segment.address == place.start - segment.offset;
  });
  if (load == image.segments().end() || load->flags & pf_w)
    return fail(".eh_frame and .eh_frame_hdr are not in one read-only segment");
  for (const SectionHeader& section : image.sections()) {
    if (&section == place.eh_frame || &section == place.header || section.type == sht_null) continue;
    if (section.type != sht_nobits && range.overlaps({section.offset, section.size}))
      return fail("a section is between .eh_frame and .eh_frame_hdr", section.name);
  }
  const auto first = place.header_first ? place.header : place.eh_frame;
  const std::uint64_t gap = first->offset + first->size;
  const std::uint64_t second = (place.header_first ? place.eh_frame : place.header)->offset;
  const auto is_zero = [](std::byte byte) { return byte == std::byte(0); };
  if (second < gap || second - gap > max_gap ||
      !std::ranges::all_of(image.bytes().subspan(gap, second - gap), is_zero))
    return fail("something is between .eh_frame and .eh_frame_hdr");
  return {};
}

Result<Place> find_place(const Image& image) {
  if (image.type() != et_exec && image.type() != et_dyn)
    return fail("not a linked file: linkers merge and move the entries of objects");
  if (image.sections().empty()) return fail("no section headers");
  Place place;
  for (const SectionHeader& section : image.sections()) {
    if (section.name != ".eh_frame") continue;
    if (place.eh_frame) return fail("more than one .eh_frame");
    place.eh_frame = &section;
  }
  if (!place.eh_frame || place.eh_frame->type == sht_nobits || place.eh_frame->size == 0)
    return fail("no .eh_frame");
  place.header = find_header(image);
  if (!place.header) return fail("no .eh_frame_hdr with a segment of its own");
  const SectionHeader &one = *place.eh_frame, &other = *place.header;
  if (!AddressRange{0, image.bytes().size()}.contains({one.offset, one.size}) ||
      !AddressRange{0, image.bytes().size()}.contains({other.offset, other.size}))
    return fail("section runs past the end of the file", one.name);
  place.header_first = other.offset < one.offset;
  place.start = std::min(one.offset, other.offset);
  place.end = std::max(one.offset + one.size, other.offset + other.size);
  place.address = place.header_first ? other.address : one.address;
  if (auto done = check_neighbours(image, place); !done) return unexpected(done.error());
  return place;
}

Result<void> check_use(const Image& image, const Place& place) {
  if (find_mark(image)) return fail("the file was shrunk before (it has a section .note.sframe)");
  if (is_static_program(image) &&
      (!image.find_section(".symtab") || has_name(image, ".strtab", "__EH_FRAME_BEGIN__")))
    return fail("a static program, whose start-up code may register .eh_frame by its address");
  // What start-up code of old compilers calls; nobody else has a reason to.
  if (imports(image, "__register_frame_info"))
    return fail("__register_frame_info is used, to which .eh_frame is passed by its address");
  const auto table = cfi::EhFrameHdr::parse(image.bytes().subspan(place.header->offset, place.header->size),
                                            place.header->address, *image.abi());
  if (!table || table->eh_frame() != place.eh_frame->address)
    return fail("no search table for .eh_frame", place.header->name);
  // The terminator has a name, too (`__FRAME_END__`), and moves.
  constexpr std::uint64_t terminator = 4;
  const std::array<std::uint64_t, 3> named{place.eh_frame->address, place.header->address,
                                           place.eh_frame->address + place.eh_frame->size - terminator};
  return check_unreferenced(image, place.memory(), named);
}

std::vector<std::byte> make_note(Level level, std::uint32_t max_cfi_bytes, ByteOrder order) {
  const std::array<std::uint32_t, 3> header{static_cast<std::uint32_t>(note_owner.size() + 1), 8, note_type};
  std::vector<std::byte> note(12 + 8 + 8);
  for (std::size_t i = 0; i < header.size(); ++i) store(note.data() + 4 * i, header[i], order);
  std::memcpy(note.data() + 12, note_owner.data(), note_owner.size());
  store(note.data() + 20, static_cast<std::uint32_t>(level), order);
  store(note.data() + 24, max_cfi_bytes, order);
  return note;
}

/// Where the parts go, by their sizes.
struct Layout {
  std::uint64_t header = 0, eh_frame = 0, note = 0, room = 0; ///< offsets in the file

  static Layout make(const Place& place, const Plan& plan, std::uint64_t note_size) {
    // The distance of addresses and offsets is the same everywhere in the segment.
    const std::uint64_t shift = place.address - place.start;
    const auto aligned = [&](std::uint64_t offset, std::uint64_t align) {
      return align_up(offset + shift, align) - shift;
    };
    Layout layout;
    std::uint64_t& first = place.header_first ? layout.header : layout.eh_frame;
    std::uint64_t& second = place.header_first ? layout.eh_frame : layout.header;
    const std::uint64_t first_size = place.header_first ? plan.eh_frame_hdr_size() : plan.eh_frame_size();
    const std::uint64_t second_size = place.header_first ? plan.eh_frame_size() : plan.eh_frame_hdr_size();
    first = place.start;
    second = aligned(first + first_size, place.header_first ? table_align : header_align);
    layout.note = aligned(second + second_size, note_align);
    layout.room = aligned(layout.note + note_size, room_align);
    return layout;
  }
};

/// The file with the new tables and the note, and zeros after them.
Result<std::vector<std::byte>> write(const Image& image, const Place& place, const Plan& plan,
                                     const Layout& layout, std::span<const std::byte> note) {
  const std::uint64_t shift = place.address - place.start;
  auto tables = plan.write(layout.eh_frame + shift, layout.header + shift);
  if (!tables) return unexpected(std::move(tables.error()));
  std::vector<std::byte> bytes(place.end - place.start);
  const auto put = [&](std::uint64_t offset, std::span<const std::byte> part) {
    std::ranges::copy(part, bytes.begin() + static_cast<std::ptrdiff_t>(offset - place.start));
  };
  put(layout.header, tables->eh_frame_hdr);
  put(layout.eh_frame, tables->eh_frame);
  put(layout.note, note);
  const std::array<edit::PlacedSection, 2> sections{{
      {place.header->index, layout.header, layout.header + shift, tables->eh_frame_hdr.size()},
      {place.eh_frame->index, layout.eh_frame, layout.eh_frame + shift, tables->eh_frame.size()},
  }};
  auto edit = edit::replace_sections(image, place.start, std::move(bytes), sections);
  if (!edit) return unexpected(std::move(edit.error()));
  return edit->apply(image.bytes());
}

/// The addresses for which the file's sections have rows.
Result<AddressSet> addresses_with_rows(const Image& image) {
  std::vector<AddressRange> ranges;
  for (const SframeLocation& table : image.sframe_tables()) {
    const auto contents = image.contents(table);
    if (!contents) return unexpected(contents.error());
    Concatenated sections(contents->bytes(), table.address);
    for (;;) {
      const auto section = sections.next();
      if (!section) return unexpected(to_problem(section.error()));
      if (!*section) break;
      for (std::uint32_t i = 0; i < (*section)->num_fdes(); ++i) {
        const auto fde = (*section)->fde(i);
        if (!fde) return unexpected(to_problem(fde.error()));
        RowCursor rows = (*section)->rows(*fde);
        FrameRow first;
        const AddressRange range = (*section)->fde_range(i);
        if (rows.next(first) && first.offset < range.size)
          ranges.push_back({range.start + first.offset, range.size - first.offset});
      }
    }
  }
  return AddressSet(std::move(ranges));
}

/// What an unwinder does not find in `after` any more is in its .sframe.
Result<void> check_covered(const Image& after, const Comparison& done) {
  if (done.different.empty()) return {};
  const auto covered = addresses_with_rows(after);
  if (!covered) return unexpected(covered.error());
  for (const AddressRange& range : done.different.ranges())
    if (!covered->contains(range))
      return fail("no row for all of " + hex(range.start) + " to " + hex(range.end()) +
                      ", whose rules are not in .eh_frame any more",
                  ".sframe");
  return {};
}

} // namespace

std::optional<Mark> find_mark(const Image& image) {
  const SectionHeader* section = image.find_section(note_section);
  if (!section || section->type != sht_note) return std::nullopt;
  const AddressRange file{0, image.bytes().size()};
  if (!file.contains({section->offset, section->size})) return std::nullopt;
  NoteCursor notes(image.bytes().subspan(section->offset, section->size), image.byte_order(), note_align);
  while (const auto note = notes.next())
    if (note->owner == note_owner && note->type == note_type && note->body.size() >= 8)
      return Mark{load<std::uint32_t>(note->body.data(), image.byte_order()),
                  load<std::uint32_t>(note->body.data() + 4, image.byte_order())};
  return std::nullopt;
}

Result<void> check_complete(const Image& image) {
  const auto mark = find_mark(image);
  if (!mark || mark->level == static_cast<std::uint32_t>(Level::lossless)) return {};
  return fail("the call frame information is reduced (level " + std::to_string(mark->level) +
                  "): use the file that this one was made of",
              note_section);
}

Result<ShrunkImage> shrink(const Image& image, const ImageOptions& options) {
  const auto place = find_place(image);
  if (!place) return unexpected(place.error());
  if (auto done = check_use(image, *place); !done) return unexpected(std::move(done.error()));
  const cfi::ImageCfi cfi = cfi::open_cfi(image, {.debug_frame = false});
  if (cfi.sections.empty()) return fail("cannot read the section", ".eh_frame");
  if (options.level != Level::lossless && !Sites::are_known(image))
    return fail("only lossless: this machine's calls and faults are not known");
  generate::JoinCheck check(image, {});
  Sites sites(image, Sites::Witness::both, options.level);
  const bool by_default = options.max_cfi_bytes == 0;
  Options how{.max_cfi_bytes = by_default ? default_max_cfi_bytes(options.level) : options.max_cfi_bytes,
              .max_plain_cfi_bytes = by_default ? plain_max_cfi_bytes : 0,
              .alignment = options.alignment,
              .join = !imports(image, "_Unwind_FindEnclosingFunction"),
              .is_padding = std::ref(check),
              .loose = {},
              .budget = image.budget()};
  if (options.level != Level::lossless) how.loose = std::ref(sites);
  const auto plan = Plan::make(cfi.sections.front().section, how);
  if (!plan) return unexpected(plan.error());
  const auto note = make_note(options.level, plan->max_cfi_bytes(), image.byte_order());
  const Layout layout = Layout::make(*place, *plan, note.size());
  ShrunkImage out;
  if (layout.note + note.size() > place->end) return out;
  auto bytes = write(image, *place, *plan, layout, note);
  if (!bytes) return unexpected(std::move(bytes.error()));
  out.bytes = std::move(*bytes);
  const std::uint64_t shift = place->address - place->start;
  out.additions.section = edit::UnnamedSection{.name = note_section,
                                               .type = sht_note,
                                               .offset = layout.note,
                                               .address = layout.note + shift,
                                               .size = note.size(),
                                               .align = note_align};
  const std::uint64_t room = std::min(layout.room, place->end);
  out.additions.room = edit::Room{.offset = room, .address = room + shift, .size = place->end - room};
  out.before = {place->eh_frame->size, place->header->size};
  out.after = {plan->eh_frame_size(), plan->eh_frame_hdr_size()};
  out.functions = plan->functions();
  out.fdes = plan->fdes();
  out.copied = plan->copied();
  return out;
}

Result<Comparison> compare(const Image& before, const Image& after) {
  if (before.machine() != after.machine() || before.byte_order() != after.byte_order() || !before.abi())
    return fail("files for different machines");
  if (auto done = check_complete(before); !done) return unexpected(std::move(done.error()));
  const auto mark = find_mark(after);
  const Level level = mark ? static_cast<Level>(mark->level) : Level::lossless;
  if (level != Level::sync && level != Level::faults)
    if (auto done = check_complete(after); !done) return unexpected(std::move(done.error()));
  const cfi::ImageCfi old = cfi::open_cfi(before, {.debug_frame = false});
  const cfi::ImageCfi now = cfi::open_cfi(after, {.debug_frame = false});
  for (const auto* cfi : {&old, &now})
    if (!cfi->problems.empty()) return unexpected(cfi->problems.front());
  if (old.sections.empty() || now.sections.empty()) return fail("no .eh_frame");
  const Segment* header = after.find_segment(pt_gnu_eh_frame);
  const auto header_bytes = header ? after.read(header->address, header->file_size) : std::nullopt;
  if (!header_bytes) return fail("no PT_GNU_EH_FRAME");
  const auto code = before.executable_ranges();
  for (const CodeRange& range : code) {
    const auto one = before.read(range.start, range.size), other = after.read(range.start, range.size);
    if (one && !(other && std::ranges::equal(*one, *other)))
      return fail("other code at " + hex(range.start) + ": FILE was not made from this file");
  }
  generate::JoinCheck check(before, {});
  Sites sites(before, Sites::Witness::bytes, level);
  CompareOptions options{
      .is_padding = std::ref(check), .loose = {}, .level = level, .budget = before.budget()};
  if (level != Level::lossless) options.loose = std::ref(sites);
  auto done = compare(old.sections.front().section,
                      {now.sections.front().section, *header_bytes, header->address}, options);
  if (done)
    if (auto covered = check_covered(after, *done); !covered) return unexpected(std::move(covered.error()));
  return done;
}

} // namespace sframe::shrink
