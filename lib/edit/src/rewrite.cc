// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the file that rewrite_layout.h describes. Headers that stay are copied, with only the necessary
// fields changed.

#include "sframe/edit/rewrite.h"

#include "numbering.h"
#include "pieces.h"
#include "rewrite_layout.h"
#include "rewrite_room.h"
#include "sframe/base/text.h"
#include "sframe/elf/llvm_types.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sframe::edit {

using namespace elf;

namespace {

constexpr std::string_view section_name = ".sframe";

/// A table of section names, which ends with a NUL. It only grows.
class StringTable {
public:
  explicit StringTable(std::span<const std::byte> table) : bytes_(as_text(table)) {}

  /// The offset of a name, which is added if missing.
  std::uint32_t add(std::string_view name) {
    const std::string whole = std::string(1, '\0') + std::string(name) + '\0';
    std::size_t at = bytes_.find(whole);
    if (at == std::string::npos) {
      at = bytes_.size() - 1;
      bytes_ += whole.substr(1);
    }
    return static_cast<std::uint32_t>(at + 1);
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

private:
  std::string bytes_;
};

template <class Phdr>
void set_segment(Phdr& segment, std::uint32_t type, std::uint64_t offset, std::uint64_t address,
                 std::uint64_t size, std::uint64_t align) {
  segment.p_type = type;
  segment.p_flags = pf_r;
  segment.p_offset = offset;
  segment.p_vaddr = address;
  segment.p_paddr = address;
  segment.p_filesz = size;
  segment.p_memsz = size;
  segment.p_align = align;
}

template <class Shdr>
void set_section(Shdr& section, std::uint32_t type, std::uint64_t offset, std::uint64_t address,
                 std::uint64_t size) {
  section.sh_type = type;
  section.sh_flags = shf_alloc;
  section.sh_addr = address;
  section.sh_offset = offset;
  section.sh_size = size;
  section.sh_link = 0;
  section.sh_info = 0;
  section.sh_addralign = section_align;
  section.sh_entsize = 0;
}

/// Writes the bytes at an offset of a piece that starts at `start`, and grows it.
void put(std::vector<std::byte>& piece, std::uint64_t start, std::uint64_t offset,
         std::span<const std::byte> bytes) {
  const std::size_t at = offset - start;
  if (piece.size() < at + bytes.size()) piece.resize(at + bytes.size());
  std::ranges::copy(bytes, piece.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Writes the file according to the layout.
template <class Types> class Writer {
  using Ehdr = typename Types::Ehdr;
  using Phdr = typename Types::Phdr;
  using Shdr = typename Types::Shdr;
  using Sym = typename Types::Sym;
  using Dyn = typename Types::Dyn;

public:
  Writer(const Image& image, const HeaderTables& tables, const RewriteLayout& layout, const OldSection& old,
         std::span<const std::byte> section)
      : image_(image), tables_(tables), layout_(layout), old_(old), section_(section),
        numbering_(image, tables.names_index, layout, old), tail_offset_(layout.tail_offset(section.size())) {
  }

  Result<Edit> write() {
    auto header = table_at<Ehdr>(image_.bytes(), 0, 1)->front();
    const std::vector<Phdr> segments = make_segments();
    header.e_phoff = layout_.table_offset;
    header.e_phnum = static_cast<std::uint16_t>(segments.size());

    if (const auto done = change_symbols(); !done) return unexpected(done.error());
    add_load(to_bytes(std::span<const Phdr>(segments)));
    change_dynamic();
    clear_old_bytes();
    if (tables_.section_count != 0) {
      const SectionHeader& old_names = image_.sections()[tables_.names_index];
      StringTable names(bytes_of(old_names));
      std::vector<Shdr> sections = make_sections(names);
      const std::uint64_t end = layout_.has_tail() ? tail_offset_ + (layout_.tail_end - layout_.tail_start)
                                : layout_.inside   ? layout_.loaded_end + layout_.shift
                                                   : layout_.section_offset + section_.size();
      const std::uint32_t number = numbering_.now(tables_.names_index);
      sections[number].sh_offset = end;
      sections[number].sh_size = names.bytes().size();
      const std::uint64_t offset = (add(end, to_bytes(names.bytes())) + 7) & ~std::uint64_t(7);
      add(offset, to_bytes(std::span<const Shdr>(sections)));
      header.e_shoff = offset;
      header.e_shnum = static_cast<std::uint16_t>(sections.size());
      header.e_shstrndx = static_cast<std::uint16_t>(number);
    }
    add(0, to_bytes(std::span<const Ehdr>(&header, 1)));
    if (layout_.shift != 0 && old_.has_table) {
      // The copy of the linker's ELF header must refer to the linker's table, which is still after it;
      // e_phoff refers to the table moved by an earlier version.
      header.e_phoff = elf_header_size;
      header.e_phnum =
          static_cast<std::uint16_t>((layout_.cover->size - elf_header_size) / program_entry_size);
      add(layout_.shift, to_bytes(std::span<const Ehdr>(&header, 1)));
    }

    Edit edit;
    edit.keep({layout_.shift, 0, layout_.loaded_end});
    if (layout_.has_tail())
      edit.keep({tail_offset_, layout_.tail_start, layout_.tail_end - layout_.tail_start});
    return make_edit(std::move(edit), std::move(pieces_));
  }

private:
  std::uint64_t add(std::uint64_t offset, std::vector<std::byte> bytes) {
    const std::uint64_t end = offset + bytes.size();
    pieces_.push_back({offset, std::move(bytes)});
    return end;
  }

  std::span<const std::byte> bytes_of(const SectionHeader& section) const {
    return image_.bytes().subspan(section.offset, section.size);
  }

  /// The new offset of a kept byte.
  std::uint64_t now(std::uint64_t offset) const {
    if (layout_.has_tail() && offset >= layout_.tail_start && offset <= layout_.tail_end)
      return offset - layout_.tail_start + tail_offset_;
    return offset + layout_.shift;
  }

  const MovedBlock* block_of(std::uint32_t section) const {
    for (const MovedBlock& block : layout_.blocks)
      if (std::ranges::find(block.sections, section) != block.sections.end()) return &block;
    return nullptr;
  }

  std::vector<Phdr> make_segments() const {
    const auto old = *table_at<Phdr>(image_.bytes(), tables_.program_offset, tables_.program_count);
    std::vector<Phdr> segments;
    for (const std::uint32_t i : layout_.segments)
      change_segment(image_.segments()[i], segments.emplace_back(old[i]));
    if (!layout_.extended && !layout_.inside) {
      Phdr load;
      set_segment(load, pt_load, layout_.load_offset, layout_.load_address, load_size(), layout_.align);
      segments.insert(segments.begin() + static_cast<std::ptrdiff_t>(layout_.load_position), load);
    }
    set_segment(segments.emplace_back(), pt_gnu_sframe, layout_.section_offset, layout_.section_address,
                section_.size(), section_align);
    return segments;
  }

  std::uint64_t load_size() const { return layout_.section_offset - layout_.load_offset + section_.size(); }

  void change_segment(const Segment& segment, Phdr& entry) const {
    if (segment.type == llvm::ELF::PT_PHDR) {
      const std::uint64_t size = layout_.table_count() * sizeof(Phdr);
      if (layout_.table_address) {
        entry.p_offset = layout_.table_offset;
        entry.p_vaddr = *layout_.table_address;
        entry.p_paddr = *layout_.table_address;
      }
      entry.p_filesz = size;
      entry.p_memsz = size;
      return;
    }
    if (&segment == layout_.extended) {
      entry.p_filesz = load_size();
      entry.p_memsz = load_size();
    }
    for (const MovedBlock& block : layout_.blocks)
      if (segment.type != pt_load && segment.file_size != 0 &&
          block.holds(segment.offset, segment.file_size)) {
        entry.p_offset = block.new_offset + (segment.offset - block.offset);
        entry.p_vaddr = block.new_address + (segment.offset - block.offset);
        entry.p_paddr = entry.p_vaddr;
        return;
      }
    if (layout_.shift == 0) return;
    if (segment.type == pt_load && segment.align > layout_.max_load_align)
      entry.p_align = layout_.max_load_align;
    if (segment.type == pt_load && segment.offset == 0) {
      entry.p_vaddr = segment.address - layout_.shift;
      if (entry.p_paddr >= layout_.shift) entry.p_paddr = entry.p_paddr - layout_.shift;
      entry.p_filesz = segment.file_size + layout_.shift;
      entry.p_memsz = segment.memory_size + layout_.shift;
    } else if (segment.offset != 0 || segment.file_size != 0) {
      entry.p_offset = segment.offset + layout_.shift;
    }
  }

  /// The table and the blocks moved after it; the new segment, or the additions to an existing one. Of the
  /// old places of blocks, only those after the table become zeros.
  void add_load(const std::vector<std::byte>& table) {
    std::vector<std::byte> start(layout_.table_end - layout_.table_offset), load;
    put(start, layout_.table_offset, layout_.table_offset, table);
    std::uint64_t load_start = layout_.load_offset;
    if (layout_.extended) load_start = old_.kept_end + layout_.shift;
    for (const MovedBlock& block : layout_.blocks) {
      std::vector<std::byte> bytes(block.size);
      std::ranges::copy(image_.bytes().subspan(block.offset, block.size), bytes.begin());
      for (const std::uint32_t number : block.sections) {
        const SectionHeader& section = image_.sections()[number];
        if (const auto changed = std::ranges::find(changed_, number, &Changed::first);
            changed != changed_.end())
          put(bytes, block.offset, section.offset, changed->second);
      }
      if (block.to_load)
        put(load, load_start, block.new_offset, bytes);
      else
        put(start, layout_.table_offset, block.new_offset, bytes);
    }
    if (layout_.room == HeaderRoom::moved) {
      load.resize(layout_.section_offset - layout_.load_offset);
      put(load, load_start, layout_.table_offset, table);
    } else {
      add(layout_.table_offset, std::move(start));
    }
    put(load, load_start, layout_.section_offset, section_);
    add(load_start, std::move(load));
  }

  /// Zeros the old section's place, except for the part that the program header table uses.
  void clear_old_bytes() {
    if (!has_separate_bytes(image_, tables_, old_)) return;
    std::uint64_t start = old_.offset, end = old_.offset + old_.size;
    if (layout_.room != HeaderRoom::moved && layout_.shift == 0 && start < layout_.table_end &&
        end > layout_.table_offset)
      start = std::min(end, layout_.table_end);
    add(now(start), std::vector<std::byte>(end - start));
  }

  /// Updates section numbers, and addresses of moved sections, in the symbol tables.
  Result<void> change_symbols() {
    std::uint64_t left = image_.bytes().size(); // tables that overlap would have more
    for (const SectionHeader& section : image_.sections()) {
      if (section.type == sht_symtab_shndx || section.type == llvm::ELF::SHT_GROUP)
        return fail("cannot renumber the sections listed in this section", section.name);
      if ((section.type != sht_symtab && section.type != sht_dynsym) || section.size == 0) continue;
      if (section.flags & shf_compressed) return fail("compressed symbol table", section.name);
      if (section.size > left) return fail("symbol tables overlap", section.name);
      left -= section.size;
      std::vector<Sym> symbols;
      const auto old = whole_table<Sym>(bytes_of(section));
      symbols.assign(old.begin(), old.end());
      for (Sym& symbol : symbols) change_symbol(symbol);
      auto bytes = to_bytes(std::span<const Sym>(symbols));
      if (block_of(section.index))
        changed_.emplace_back(section.index, std::move(bytes));
      else
        add(now(section.offset), std::move(bytes));
    }
    return {};
  }

  void change_symbol(Sym& symbol) const {
    const std::uint32_t number = symbol.st_shndx;
    if (number == 0 || number >= image_.sections().size()) return;
    symbol.st_shndx = static_cast<std::uint16_t>(numbering_.now(number));
    const SectionHeader& section = image_.sections()[number];
    if (symbol.st_value - section.address > section.size) return; // the value is outside its section
    if (&section == old_.section && symbol.st_value == section.address)
      symbol.st_value = layout_.section_address;
    else if (const MovedBlock* block = block_of(number))
      symbol.st_value = symbol.st_value - block->address + block->new_address;
  }

  /// Updates the addresses of moved tables, each of which has an entry.
  void change_dynamic() {
    const SectionHeader* dynamic = dynamic_section(image_);
    if (!dynamic) return;
    const auto entries = whole_table<Dyn>(bytes_of(*dynamic));
    for (const MovedBlock& block : layout_.blocks) {
      if (block.kind != MovedBlock::Kind::dynamic_table) continue;
      const SectionHeader& section = image_.sections()[block.sections.front()];
      const std::uint64_t tag = dynamic_tag(section.type, section.flags);
      const auto entry = std::ranges::find_if(
          entries, [&](const Dyn& e) { return static_cast<std::uint64_t>(e.getTag()) == tag; });
      if (entry == entries.end()) continue;
      Dyn changed = *entry;
      changed.d_un.d_ptr = block.new_address;
      const std::uint64_t at =
          dynamic->offset + static_cast<std::uint64_t>(entry - entries.begin()) * sizeof(Dyn);
      add(now(at), to_bytes(std::span<const Dyn>(&changed, 1)));
    }
  }

  std::vector<Shdr> make_sections(StringTable& names) const {
    const auto old = *table_at<Shdr>(image_.bytes(), tables_.section_offset, tables_.section_count);
    std::vector<Shdr> table;
    for (const std::uint32_t number : numbering_.order()) {
      if (number == Numbering::is_sframe) {
        Shdr& entry = table.emplace_back();
        entry.sh_name = names.add(section_name);
        set_section(entry, sht_gnu_sframe, layout_.section_offset, layout_.section_address, section_.size());
      } else if (number == Numbering::is_cover) {
        Shdr& entry = table.emplace_back();
        entry.sh_name = names.add(layout_.cover->name);
        set_section(entry, sht_progbits, layout_.cover->offset, layout_.cover->address, layout_.cover->size);
      } else if (number == Numbering::is_unnamed) {
        const UnnamedSection& section = *layout_.unnamed;
        Shdr& entry = table.emplace_back();
        entry.sh_name = names.add(section.name);
        set_section(entry, section.type, section.offset + layout_.shift, section.address, section.size);
        entry.sh_addralign = section.align;
      } else if (number == Numbering::is_anchor) {
        Shdr& entry = table.emplace_back();
        entry.sh_name = names.add(anchor_name);
        set_section(entry, sht_progbits, layout_.anchor_offset, layout_.anchor_address, anchor_size);
      } else {
        change_section(image_.sections()[number], table.emplace_back(old[number]));
      }
    }
    return table;
  }

  void change_section(const SectionHeader& section, Shdr& entry) const {
    if (section.type == sht_null) return;
    entry.sh_link = numbering_.now(section.link);
    const bool has_target =
        section.type == sht_rela || section.type == sht_rel || section.flags & llvm::ELF::SHF_INFO_LINK;
    if (has_target) entry.sh_info = numbering_.now(section.info);
    if (const MovedBlock* block = block_of(section.index)) {
      entry.sh_offset = block->new_offset + (section.offset - block->offset);
      entry.sh_addr = block->new_address + (section.offset - block->offset);
    } else if (section.allocated()) {
      entry.sh_offset = section.offset + layout_.shift;
    } else {
      entry.sh_offset = now(section.offset);
    }
  }

  using Changed = std::pair<std::uint32_t, std::vector<std::byte>>;

  const Image& image_;
  const HeaderTables& tables_;
  const RewriteLayout& layout_;
  const OldSection& old_;
  std::span<const std::byte> section_;
  Numbering numbering_;
  std::uint64_t tail_offset_;
  std::vector<Edit::Piece> pieces_;
  std::vector<Changed> changed_; ///< symbol tables in blocks, by section
};

/// The file with the new section in place of the old one; the rest of the place is zeros.
template <class Types>
Result<Edit> replace(const Image& image, const HeaderTables& tables, const OldSection& old,
                     std::span<const std::byte> section) {
  using Phdr = typename Types::Phdr;
  using Shdr = typename Types::Shdr;
  std::vector<Edit::Piece> pieces;
  auto place = to_bytes(section);
  place.resize(old.size);
  pieces.push_back({old.offset, std::move(place)});

  const std::size_t number = static_cast<std::size_t>(old.segment - image.segments().data());
  Phdr segment = (*table_at<Phdr>(image.bytes(), tables.program_offset, tables.program_count))[number];
  set_segment(segment, pt_gnu_sframe, old.offset, old.address, section.size(), section_align);
  pieces.push_back(
      {tables.program_offset + number * sizeof(Phdr), to_bytes(std::span<const Phdr>(&segment, 1))});

  if (old.section) {
    const std::uint32_t index = old.section->index;
    Shdr entry = (*table_at<Shdr>(image.bytes(), tables.section_offset, tables.section_count))[index];
    set_section(entry, sht_gnu_sframe, old.offset, old.address, section.size());
    pieces.push_back(
        {tables.section_offset + index * sizeof(Shdr), to_bytes(std::span<const Shdr>(&entry, 1))});
  }
  return make_edit(Edit::keep_start(image.bytes().size()), std::move(pieces));
}

} // namespace

struct Insertion::Plan {
  const Image& image;
  HeaderTables tables;
  OldSection old;
  bool may_replace;
  Result<RewriteLayout> layout;        ///< may have failed if `may_replace`
  std::optional<RewriteLayout> inside; ///< in Additions::room, if the section is small enough
  bool replaces = false;
  bool is_inside = false;

  const RewriteLayout& chosen() const { return is_inside ? *inside : *layout; }
};

Insertion::Insertion(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}
Insertion::~Insertion() = default;
Insertion::Insertion(Insertion&&) noexcept = default;
Insertion& Insertion::operator=(Insertion&&) noexcept = default;

Result<Insertion> Insertion::plan(const Image& image, const Additions& additions) {
  const auto tables = read_tables(image);
  if (!tables) return unexpected(tables.error());
  const auto old = find_old(image, *tables);
  if (!old) return unexpected(old.error());
  if (const auto complete = check_complete(image, *tables, *old); !complete)
    return unexpected(complete.error());
  auto plan = std::make_unique<Plan>(image, *tables, *old, is_replaceable(image, *tables, *old),
                                     lay_out(image, *tables, *old));
  if (!plan->layout && !plan->may_replace) return unexpected(plan->layout.error());
  if (plan->layout) plan->layout->unnamed = additions.section;
  if (additions.room)
    if (auto inside = lay_out_inside(image, *tables, *old, *additions.room)) {
      inside->unnamed = additions.section;
      plan->inside = std::move(*inside);
    }
  return Insertion(std::move(plan));
}

AddressBounds Insertion::bounds() const {
  const Plan& plan = *plan_;
  const auto [lowest, highest] =
      std::minmax(plan.may_replace ? plan.old.address : plan.layout->section_address,
                  plan.layout ? plan.layout->section_address : plan.old.address);
  const std::uint64_t inside = plan.inside ? plan.inside->section_address : lowest;
  return {std::min(lowest, inside), std::max(highest, inside)};
}

Result<std::uint64_t> Insertion::choose_address(std::uint64_t size) {
  plan_->replaces = plan_->may_replace && size <= plan_->old.size;
  if (plan_->replaces) return plan_->old.address;
  if (const auto& inside = plan_->inside) {
    const std::uint64_t used = inside->section_address - inside->inside->address;
    plan_->is_inside = used <= inside->inside->size && size <= inside->inside->size - used;
    if (plan_->is_inside) return inside->section_address;
  }
  if (!plan_->layout) return unexpected(plan_->layout.error());
  return plan_->layout->section_address;
}

bool Insertion::is_in_room() const {
  return plan_->is_inside;
}

Result<RewrittenFile> Insertion::write(std::span<const std::byte> section) const {
  const Plan& plan = *plan_;
  if (plan.replaces && section.size() > plan.old.size)
    return fail("internal error: the section is larger than planned; please report this", section_name);
  auto edit = with_types(plan.image.byte_order(), [&]<class Types>(Types) {
    return plan.replaces ? replace<Types>(plan.image, plan.tables, plan.old, section)
                         : Writer<Types>(plan.image, plan.tables, plan.chosen(), plan.old, section).write();
  });
  if (!edit) return unexpected(edit.error());
  return RewrittenFile{std::move(*edit), !plan.replaces && plan.chosen().room == HeaderRoom::moved};
}

} // namespace sframe::edit
