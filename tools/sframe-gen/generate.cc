// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// generate() has the order of the steps, which follows from a circle: a section's bytes depend on its
// address, its address on its size, and whether its start fields reach the code on both.
//
//   plan (edit::Insertion) -> convert, for all addresses that are possible -> choose the address by the size
//   -> encode for it (finish()) -> write
//
// The conversion is the expensive step and is done once. Only if the start fields of versions 1 and 2 do not
// reach all functions, it is done again, with fields placed by the number of functions.

#include "generate.h"

#include <sframe/base/parallel.h>
#include <sframe/code/call_end.h>
#include <sframe/edit/rewrite.h>
#include <sframe/elf/file_kind.h>
#include <sframe/generate/from_cfi.h>
#include <sframe/generate/optimize.h>
#include <sframe/names/demangle.h>
#include <sframe/section.h>
#include <sframe/shrink/full.h>
#include <sframe/tool/debug_files.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

namespace sframe::gen {

namespace {

/// `budget`: of the input. If it ended, more was not looked for.
unexpected<Failure> nothing_there(const Budget& budget, std::string what) {
  if (budget.ended_with_all()) return failed(*budget.problem());
  return unexpected(Failure{{std::move(what), {}, {}}, true});
}

/// A predicate for functions whose name, raw or demangled, matches. The arguments must outlive the result.
/// None matches once the budget for names is used up.
std::function<bool(const cfi::Fde&)> name_filter(const tool::Glob& glob, const Input& input,
                                                 const elf::SymbolTable& symbols) {
  return [&](const cfi::Fde& fde) {
    const auto match = find_symbol(input, symbols, fde.start);
    if (!match || !input.budget->take(Resource::name_bytes, match->symbol->name.size())) return false;
    return glob.matches(match->symbol->name) ||
           glob.matches(names::demangle(match->symbol->name, input.image->budget()));
  };
}

Problem to_problem(const Refusal& refusal, Emit emit) {
  std::string what = message(refusal.reason);
  if (refusal.reason == RefusalReason::out_of_reach && emit != Emit::elf)
    what += "; set the section's address with --section-address";
  return {what, ".sframe", std::nullopt};
}

bool is_bitcode(std::span<const std::byte> bytes) {
  constexpr std::array magic = {std::byte('B'), std::byte('C'), std::byte(0xc0), std::byte(0xde)};
  return bytes.size() >= magic.size() && std::ranges::equal(bytes.first(magic.size()), magic);
}

/// Objects for link-time optimisation have no code before it.
bool awaits_link_time_optimisation(const elf::Image& image) {
  return std::ranges::any_of(image.sections(),
                             [](const elf::SectionHeader& s) { return s.name.starts_with(".gnu.lto_"); });
}

/// The reason why a conversion has no function.
unexpected<Failure> no_function(const CommandLine& line, const Input& input, const generate::Report& report) {
  if (!report.faults.empty()) {
    const generate::Fault& first = report.faults.front();
    return failed({"cannot read any call frame information: " + std::string(cfi::message(first.error.kind)),
                   std::string(first.section), first.error.offset});
  }
  if (line.function)
    return nothing_there(*input.budget,
                         "no function with call frame information matches " + line.function->pattern());
  if (line.from == From::orc) return nothing_there(*input.budget, "the ORC table describes no code");
  if (line.from == From::go) return nothing_there(*input.budget, "Go's function table describes no code");
  if (reads_code(line.from)) return nothing_there(*input.budget, "no function was found in the code");
  return nothing_there(*input.budget,
                       "no call frame information: .eh_frame and .debug_frame describe no function");
}

/// A larger gap is none that pads functions; and in all no more bytes are looked at, as a file may have any
/// number.
constexpr std::uint64_t max_padding = 4096, max_padding_in_all = 64 << 20;

/// Executable bytes of the image, and those in functions of a section at `address`.
ExecutableBytes count_executable(const elf::Image& image, const AbiTraits& abi,
                                 std::span<const std::byte> bytes, std::uint64_t address) {
  std::vector<AddressRange> functions;
  if (const auto section = Section::parse(bytes, address)) {
    functions.reserve(section->num_fdes());
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i) functions.push_back(section->fde_range(i));
  }
  const AddressSet code = image.executable_addresses();
  const AddressSet gaps = code.without(AddressSet(std::move(functions)));
  ExecutableBytes executable{{code.size(), code.size() - gaps.size()}};
  code::CallEnds padding(abi);
  std::uint64_t looked_at = 0;
  for (const AddressRange& gap : gaps.ranges()) {
    if (gap.size > max_padding || gap.size > max_padding_in_all - looked_at) continue;
    looked_at += gap.size;
    const auto between = image.read(gap.start, gap.size);
    if (between && padding.is_padding(*between, gap.start, nullptr)) executable.padding += gap.size;
  }
  return executable;
}

/// True if the start fields of a section anywhere in the bounds reach all functions.
bool reaches(const Builder& builder, edit::AddressBounds bounds) {
  const auto addresses = builder.section_addresses();
  return addresses && addresses->lowest <= bounds.lowest && addresses->highest >= bounds.highest;
}

/// What a search by row (--optimize=smallest) takes from Resource::code_steps.
constexpr std::uint64_t search_steps_per_row = 40;

/// Options that ask for what a relocatable object must not have. In a tree, they are for its linked files.
std::optional<Problem> only_for_linked_files(const CommandLine& line) {
  if (line.tree) return std::nullopt;
  if (line.optimize)
    return Problem{"--optimize needs a linked file: a linker may move the functions of an object", {}, {}};
  if (line.shrink)
    return Problem{"--shrink-cfi needs a linked file: linkers merge and move the entries of objects", {}, {}};
  if (line.share_rows.value_or(false))
    return Problem{
        "--share needs a linked file: GNU ld writes past its output's end if functions of an object "
        "share rows",
        {},
        {}};
  return std::nullopt;
}

expected<ConvertedSection, Failure> convert_at(const CommandLine& line, const Input& input,
                                               edit::AddressBounds bounds) {
  if (input.object)
    if (auto wrong = only_for_linked_files(line)) return failed(std::move(*wrong));
  if (input.image && line.from != From::sframe)
    if (auto complete = shrink::check_complete(*input.image); !complete)
      return failed(std::move(complete.error()));
  auto made =
      line.from == From::sframe ? convert_sframe(line, input, bounds) : convert_cfi(line, input, bounds);
  if (made && line.reader->refuses_empty && made->builder.num_fdes() == 0)
    return nothing_there(*input.budget, "no function that the reader can use");
  if (made && !line.reader->runs_on(made->abi->id))
    made->warnings.push_back(std::string(line.reader->name) + " is not known to read SFrame on " +
                             std::string(made->abi->name));
  if (!made || !line.optimize || input.object) return made;
  OptimizeOptions options = *line.optimize;
  options.repeat = line.from == From::sframe; // its output is a fixed point
  options.for_each = [&](std::size_t pieces, const std::function<void(std::size_t)>& work) {
    for_each_parallel(pieces, line.threads, work);
  };
  bool searched = false;
  options.may_search = [&](std::uint64_t rows) {
    const std::uint64_t steps = rows * search_steps_per_row;
    // Only the first search is worth a warning: the others gain some tenths of a percent.
    const bool first = !std::exchange(searched, true);
    if (input.budget->left(Resource::code_steps) >= steps)
      return input.budget->take(Resource::code_steps, steps);
    if (first)
      made->warnings.emplace_back("too many rows for --optimize=smallest in an input of this size; optimized "
                                  "as with --optimize=size (--limits=off removes the limit)");
    return false;
  };
  // Another number of FDEs moves the start fields, and in versions 1 and 2 they may get out of reach.
  std::optional<Builder> before;
  if (traits(line.version).start_size == 4) before = made->builder;
  generate::optimize(made->builder, options, input.image ? &*input.image : nullptr, made->report.left_out);
  if (before && !reaches(made->builder, bounds)) made->builder = std::move(*before);
  return made;
}

/// The reason why files of this kind never have anything to convert. A tree counts equal ones.
std::optional<std::string> unsupported_file(std::span<const std::byte> bytes, bool tree) {
  constexpr const char* no_elf = "not an ELF file";
  if (bytes.empty()) return "empty file";
  if (is_bitcode(bytes)) return "LLVM bitcode has no call frame information";
  if (!elf::Image::is_elf(bytes)) return tree ? no_elf : elf::with_file_kind(no_elf, bytes);
  if (elf::Image::is_32_bit(bytes)) return elf::Image::is_32_bit_text;
  return std::nullopt;
}

/// Builds the section at its address.
expected<Generated, Failure> finish(const CommandLine& line, const Input& input, ConvertedSection& unplaced,
                                    std::uint64_t address) {
  auto bytes = unplaced.builder.finish(address);
  if (!bytes) return failed(to_problem(bytes.error(), line.emit));
  Generated out{.bytes = std::move(*bytes),
                .image = {},
                .report = std::move(unplaced.report),
                .abi = unplaced.abi,
                .num_fdes = unplaced.builder.num_fdes(),
                .num_fres = unplaced.builder.num_fres(),
                .executable = {},
                .warnings = std::move(unplaced.warnings)};
  if (line.from == From::sframe) count_written(out);
  if (const char* wrong = out.report.contradiction()) return failed({wrong, {}, {}});
  if (input.image && (line.report != ReportFormat::none || line.coverage.executable))
    out.executable = count_executable(*input.image, *out.abi, out.bytes, address);
  return out;
}

bool has_cfi_to_shrink(const elf::Image& image) {
  const elf::SectionHeader* section = image.find_section(".eh_frame");
  constexpr std::uint64_t terminator = 4; // alone, it describes nothing
  return section && section->size > terminator;
}

/// --shrink-cfi; nothing without it, and where there is nothing to save.
expected<std::optional<ShrunkFile>, Failure> shrink_cfi(const CommandLine& line, const Input& input) {
  if (!line.shrink || !has_cfi_to_shrink(*input.image)) return std::optional<ShrunkFile>();
  if (shrink::find_mark(*input.image))
    return nothing_there(*input.budget, "the call frame information was shrunk before");
  auto smaller = ShrunkFile::make(*input.image, *line.shrink);
  if (!smaller) return failed(std::move(smaller.error()));
  return std::move(*smaller);
}

} // namespace

expected<Input, Failure> read_input(const CommandLine& line, std::span<const std::byte> bytes,
                                    Budget& budget) {
  Input input{.bytes = bytes, .image = {}, .object = {}, .debug = nullptr, .budget = &budget, .progress = {}};
  if (line.from == From::sframe && !bytes.empty() && !elf::Image::is_elf(bytes)) {
    const auto section = Section::parse(bytes);
    if (section || section.error().kind != ErrorKind::bad_magic) return input;
    if (!is_bitcode(bytes))
      return nothing_there(budget, elf::with_file_kind("not an ELF file or SFrame section", bytes));
  }
  if (auto why = unsupported_file(bytes, line.tree)) return nothing_there(budget, std::move(*why));
  auto image = elf::Image::parse(bytes, &budget);
  if (!image) return failed(image.error());
  if (image->type() == elf::et_core)
    return nothing_there(budget, "core files have no call frame information; pass the executable");
  if (!image->abi())
    return nothing_there(budget, "SFrame does not support this machine (e_machine " +
                                     std::to_string(image->machine()) + ")");
  input.image = std::move(*image);
  if (!input.image->relocatable()) return input;
  auto object = elf::ObjectLayout::make(*input.image);
  if (!object) return failed(object.error());
  input.object = std::move(*object);
  input.image = input.object->image();
  return input;
}

std::optional<elf::SymbolTable::Match> find_symbol(const Input& input, const elf::SymbolTable& symbols,
                                                   std::uint64_t address) {
  if (!input.object) return symbols.find(address);
  const auto place = input.object->locate(address);
  return place ? symbols.find(place->section, place->offset) : std::nullopt;
}

std::uint64_t section_address(const CommandLine& line, const Input& input) {
  if (line.section_address) return *line.section_address;
  if (line.emit == Emit::section || !input.image) return 0;
  constexpr std::uint64_t align = 8;
  std::uint64_t end = 0;
  for (const elf::Segment& segment : input.image->segments()) {
    if (segment.type != elf::pt_load) continue;
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - align - segment.address;
    if (segment.address <= std::numeric_limits<std::uint64_t>::max() - align && segment.memory_size <= room)
      end = std::max(end, segment.address + segment.memory_size);
  }
  return align_up(end, align);
}

expected<Generated, Failure> generate(const CommandLine& line, const Input& input) {
  if (input.object && line.emit != Emit::elf)
    return failed(
        {"a section of a relocatable object is useless without its relocations; use --emit=elf", {}, {}});
  const bool emits_file = line.emit == Emit::elf;
  if (emits_file && !input.image)
    return failed({"INPUT is a raw section; --emit=elf needs an ELF file", {}, {}});
  // Plan, convert, choose the address, encode, write: the address depends on the size, the bytes on the
  // address.
  std::optional<ShrunkFile> shrunk;
  std::optional<edit::Insertion> insertion;
  std::uint64_t address = input.object ? input.object->end() : section_address(line, input);
  edit::AddressBounds bounds{address, address};
  if (emits_file && !input.object) {
    auto smaller = shrink_cfi(line, input);
    if (!smaller) return unexpected(std::move(smaller.error()));
    shrunk = std::move(*smaller);
    auto planned = shrunk ? edit::Insertion::plan(shrunk->image(), shrunk->additions())
                          : edit::Insertion::plan(*input.image);
    if (!planned) return failed(std::move(planned.error()));
    bounds = insertion.emplace(std::move(*planned)).bounds();
  }
  auto made = convert_at(line, input, bounds);
  if (!made) return unexpected(made.error());
  if (insertion) {
    const auto chosen = insertion->choose_address(made->builder.size());
    if (!chosen) return failed(chosen.error());
    address = *chosen;
  }
  auto out = finish(line, input, *made, address);
  if (!out || !emits_file) return out;
  if (!line.full_cfi.empty() && !input.object && has_cfi_to_shrink(*input.image)) {
    auto full = shrink::make_debug_frame(*input.image);
    if (!full) return failed(std::move(full.error()));
    out->full_cfi = std::move(*full);
  }
  if (input.object) {
    auto object = edit::add_section_to_object(*input.object, out->bytes);
    if (!object) return failed(std::move(object.error()));
    out->image = std::move(*object);
    return out;
  }
  auto linked = insertion->write(out->bytes);
  if (!linked) return failed(std::move(linked.error()));
  out->image = std::move(linked->edit);
  if (shrunk) {
    auto finished = shrunk->finish(*input.image, out->image, insertion->is_in_room());
    if (!finished) return failed(std::move(finished.error()));
    out->image = std::move(*finished);
    out->shrunk = shrunk->figures();
  }
  if (linked->headers_moved)
    out->warnings.push_back("no room for two more program headers: the table was moved to the end of the "
                            "image, where strip, objcopy and "
                            "libelf's tools may damage it; run these tools first, or use --emit=sidecar");
  return out;
}

bool share_rows(const CommandLine& line, const Input& input, const AbiTraits& abi) {
  return !input.object &&
         line.share_rows.value_or(line.byte_order.value_or(abi.byte_order) == ByteOrder::little);
}

expected<ConvertedSection, Failure> convert_cfi(const CommandLine& line, const Input& input,
                                                edit::AddressBounds bounds) {
  if (!input.image) return failed({"not an ELF file", {}, {}});
  auto cfi = generate::CfiInput::from_image(*input.image, input.debug);
  if (!cfi) return failed(cfi.error());
  if (!reads_cfi(line.from)) cfi->sections.clear();
  const bool has_code = reads_code(line.from);
  std::optional<tables::OrcTable> orc;
  if (reads_orc(line.from)) {
    auto table = tables::OrcTable::load(*input.image);
    if (!table) return failed(table.error());
    orc = std::move(*table);
    if (!orc && line.from == From::orc) return nothing_there(*input.budget, tables::no_orc_table);
  }
  auto go = reads_go(line.from) ? tables::GoTable::load(*input.image) : std::nullopt;
  if (!go && line.from == From::go)
    return nothing_there(*input.budget, "no function table of Go 1.18 or newer (.gopclntab)");
  std::optional<elf::LinkedObject> linked;
  if (input.object && (has_code || line.repair != generate::Options::Repair::none)) {
    auto object = elf::LinkedObject::make(*input.object);
    if (!object) return failed(object.error());
    cfi->image = &linked.emplace(std::move(*object)).image();
    cfi->externals = linked->externals();
  }
  if (cfi->sections.empty() && !has_code && !orc && !go)
    return nothing_there(*input.budget,
                         awaits_link_time_optimisation(*input.image)
                             ? "no call frame information: compiled for link-time optimisation only"
                             : "no call frame information: no .eh_frame and no .debug_frame");

  generate::Options options{.version = line.version,
                            .merge_rows = true,
                            .share_rows = share_rows(line, input, *cfi->abi),
                            .pcrel = line.pcrel,
                            .merge_functions = line.merge_functions,
                            .return_addresses = line.return_addresses || line.reader->exact_lookup,
                            .usable = line.reader->rows,
                            .plt = line.plt,
                            .repair = line.repair,
                            .go = go ? &*go : nullptr,
                            .orc = orc ? &*orc : nullptr,
                            .code = has_code,
                            .wanted = {},
                            .threads = line.threads,
                            .progress = input.progress,
                            .start_fields = {}};
  elf::SymbolTable symbols;
  if (line.function) {
    symbols = tool::load_symbols(*input.image, input.names);
    options.wanted = name_filter(*line.function, input, symbols);
  }
  auto conversion = generate::from_cfi(*cfi, options);
  if (line.function && input.budget->is_used_up(Resource::name_bytes))
    return failed(*input.budget->problem());
  if (has_code && input.budget->is_used_up(Resource::code_steps)) return failed(*input.budget->problem());
  if (go && input.budget->is_used_up(Resource::cfi_instructions)) return failed(*input.budget->problem());
  if (input.budget->ended_with_all()) return failed(*input.budget->problem());
  if (conversion.report.functions.total == 0) return no_function(line, input, conversion.report);
  if (!reaches(conversion.builder, bounds)) {
    // The position of start fields depends on the number of functions; using the number of all functions is
    // enough.
    options.start_fields =
        StartFields::make(line.version, bounds.lowest, bounds.highest, conversion.builder.num_fdes());
    auto in_reach = generate::from_cfi(*cfi, options);
    if (in_reach.builder.num_fdes() != 0) conversion = std::move(in_reach);
  }
  return ConvertedSection{std::move(conversion.builder), std::move(conversion.report), cfi->abi, {}};
}

} // namespace sframe::gen
