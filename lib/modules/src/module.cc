// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A question goes to the part that answers it; here are those that need several: an address is made a link
// address by the mapping's bias, which may need the file, and looked up in tables that are made of the image,
// its sidecar and, if nothing else has an FDE, .debug_frame of its debug file. If a server has the whole file
// later than its section, all that refers to the image is made again (OfImage).

#include "sframe/modules/module.h"

#include "image_data.h"

#include "sframe/elf/sidecar.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace sframe::modules {

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

elf::Symbol function_of(const ModuleInfo& info, const GeneratedCode* code) {
  if (!code || code->function.empty()) return {};
  constexpr std::uint8_t type_function = 2;
  return {
      .address = info.start, .size = info.end - info.start, .name = code->function, .type = type_function};
}

AddressSet executable_segments(const elf::Image& image) {
  std::vector<AddressRange> ranges;
  for (const elf::Segment& s : image.segments())
    if (s.type == elf::pt_load && s.flags & elf::pf_x) ranges.push_back(s.memory());
  return AddressSet(std::move(ranges));
}

/// The path of what has the table: the sidecar, the separate debug file or the module's own image.
std::string path_of(const TableProblem& problem, const files::SharedImage& image, const std::string& own) {
  const files::FoundSidecar* const sidecar = image.sidecar.made();
  if (sidecar && sidecar->file && problem.image && sidecar->file->known_image() == problem.image)
    return sidecar->file->path();
  const files::SharedImage* const separate = image.known_debug();
  return separate && problem.image && separate->image() == problem.image ? separate->file()->path() : own;
}

/// Whether the section has rows for an address or for one that is near after it.
bool has_rows_near(unwind::RuleSource& rules, std::uint64_t address) {
  for (std::uint64_t after = 0; after < 10; ++after)
    if (rules.find_sframe(address - 1 + after)) return true;
  return false;
}

unwind::GoMatch::Kind kind_of(const elf::GoFunction& function) {
  using Kind = unwind::GoMatch::Kind;
  if (function.is_top) return Kind::top;
  if (function.name == "runtime.systemstack" && function.sets_sp) return Kind::system_stack;
  if (function.name == "runtime.mcall" && function.sets_sp) return Kind::no_return;
  return function.is_injected ? Kind::interrupted : Kind::function;
}

unwind::GoStackEnd stack_end_of(const elf::GoFunction& function) {
  using End = unwind::GoStackEnd;
  if (function.is_top && function.name == "runtime.goexit") return End::always;
  return function.is_assembly && function.name == "runtime.clone" ? End::at_calls : End::none;
}

/// unwind::GoMatch::injected_size; 0 elsewhere.
std::uint8_t injected_size(Module& module, const AbiTraits& abi, std::uint64_t address) {
  if (abi.fixed_ra_offset) return 0; // only what a call pushes, too
  const auto match = module.find_go(address);
  return match ? match->injected_size : std::uint8_t{0};
}

} // namespace

Module::Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory,
               std::shared_ptr<const GeneratedCode> code)
    : number_(next_number()), abi_(abi), memory_(memory), code_(std::move(code)),
      procedure_(function_of(info, code_.get())), file_(std::move(info), abi, files, memory, code_) {
  of_image_.emplace(file_, procedure_);
}

std::string_view Module::name() const {
  const std::string_view path = info().path;
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

std::uint64_t Module::bias() {
  if (!info().bias) (void)file_.use();
  return file_.mapping().bias();
}

std::span<const std::byte> Module::file_bytes_at(Address address) {
  files::SharedImage* image = &file_.use();
  // A walk by the section needs no code, except where it has no row. Bytes near one are read only to exclude
  // that a trampoline follows the function.
  if (file_.has_section_only() && !(of_image_->tables && has_rows_near(*this, address.value)) &&
      file_.fetch_whole()) {
    of_image_.emplace(file_, procedure_);
    image = &file_.use();
  }
  if (!image->file() || file_.is_missing()) return {};
  const ModuleMapping* const m = file_.mapping().find(address);
  if (!m) return {};
  const std::uint64_t left = m->end - address.value;
  // The file's own segments come first: a tool may have moved them in the file without changing the build ID.
  if (info().bias)
    if (const auto held = image->image()->bytes_at(to_link(address, *info().bias).value); !held.empty())
      return held.first(std::min<std::uint64_t>(held.size(), left));
  const auto bytes = image->file()->bytes();
  const std::uint64_t into = address.value - m->start;
  if (m->moved || m->file_offset > bytes.size() || into >= bytes.size() - m->file_offset) return {};
  const auto rest = bytes.subspan(m->file_offset + into);
  return rest.first(std::min<std::uint64_t>(rest.size(), left));
}

bool Module::is_code(Address address) {
  files::SharedImage& image = file_.use();
  if (!image.image()) return false;
  const AddressSet& code = data_of(image).code.get([&] { return executable_segments(*image.image()); });
  return code.contains(link(address).value);
}

bool Module::is_writable(Address address) {
  const elf::Image* const image = file_.image();
  if (!image) return false;
  const LinkAddress at = link(address);
  return std::ranges::any_of(image->segments(), [&](const elf::Segment& s) {
    return s.type == elf::pt_load && s.flags & elf::pf_w && s.memory().contains(at.value);
  });
}

UnwindTables& Module::tables() {
  if (!of_image_->tables) of_image_->tables = &use_tables();
  return *of_image_->tables;
}

UnwindTables& Module::use_tables() {
  files::SharedImage& image = file_.use();
  // Only missing .eh_frame is a reason to look for a separate file before an address is asked for.
  const elf::Image* const own = file_.with_sections(image);
  files::SharedImage* const separate = own && !own->find_section(".eh_frame") ? debug().separate() : nullptr;
  std::unique_ptr<UnwindTables>& tables = data_of(image).tables;
  if (!tables) {
    tables = make_tables(image, separate ? separate->image() : nullptr);
    if (separate) data_of(image).has_debug_frame.get([] { return true; });
  }
  tables->set_budget(file_options().budget.get()); // they may have been made for another process
  const files::FoundSidecar* const sidecar = image.sidecar.made();
  if (sidecar && !sidecar->problem.empty()) file_.set_problem(sidecar->problem);
  if (const auto problems = tables->problems(); !problems.empty())
    file_.add_problem(path_of(problems.front(), image, info().path) + ": " + problems.front().text);
  return *tables;
}

std::unique_ptr<UnwindTables> Module::make_tables(files::SharedImage& image, const elf::Image* separate) {
  const files::FoundSidecar& sidecar = image.sidecar.get([&] {
    files::FoundSidecar named = files::find_sidecar(file_.access(), build_id(), abi_);
    const elf::Image* const own = file_.with_sections(image);
    if (named.file || (own && !own->sframe_tables().empty())) return named;
    return files::find_installed_sidecar(file_.access(), build_id(), abi_, file_.origin());
  });
  const TableSources sources = {
      .image = image.image(),
      .image_is_memory = !image.file() && !info().vdso && !code_,
      .memory = &memory_,
      .bias = bias(),
      .section = file_.served_section(),
      .sidecar = sidecar.file && sidecar.problem.empty() ? sidecar.file->known_image() : nullptr,
      .debug = separate,
      .code = code_.get(),
      .generate = file_options().generate_sframe && !code_,
      .budget = file_options().budget.get(),
  };
  return std::make_unique<UnwindTables>(sources, abi_);
}

std::vector<std::byte> Module::converted_sidecar() {
  const UnwindTables* const tables = data_of(file_.look()).tables.get();
  if (!tables || !tables->converted()) return {};
  const elf::Image& image = *file_.look().image();
  return elf::make_sidecar({.machine = image.machine(),
                            .byte_order = image.byte_order(),
                            .type = image.type(),
                            .flags = image.flags(),
                            .build_id = build_id(),
                            .section = tables->converted()->bytes,
                            .section_address = tables->converted()->address});
}

std::optional<unwind::SframeMatch> Module::find_sframe(std::uint64_t address) {
  auto found = tables().find_sframe(link(address));
  if (found && found->signal_frame) found->injected_size = injected_size(*this, abi_, address);
  return found;
}

/// Not of functions for which Go's CFI does not hold: those that the runtime injects (what is pushed for
/// their calls is not counted), and the handler of signals, where it ends stacks.
bool Module::find_cfi(std::uint64_t address, unwind::CfiMatch& answer) {
  if (injected_size(*this, abi_, address)) return false;
  const LinkAddress at = link(address);
  answer.is_go = false;
  if (!tables().find_cfi(at, answer) && !(add_debug_frame() && tables().find_cfi(at, answer))) return false;
  const auto go = answer.is_go ? find_go(address) : std::nullopt;
  const bool is_end = answer.row.ra().kind == cfi::RegisterRule::Kind::undefined;
  if (go && go->is_handler && is_end) return false;
  answer.interrupts_caller = go && go->kind == unwind::GoMatch::Kind::interrupted;
  const unwind::GoStackEnd end = go ? go->stack_end : unwind::GoStackEnd::none;
  answer.ends_stack_at_calls = end == unwind::GoStackEnd::at_calls;
  if (end == unwind::GoStackEnd::always) answer.row.forget_return_address();
  return true;
}

std::optional<UnwindTables::FoundFde> Module::find_fde(Address address) {
  const LinkAddress at = link(address);
  if (auto found = tables().find_fde(at)) return found;
  return add_debug_frame() ? tables().find_fde(at) : std::nullopt;
}

/// Adds .debug_frame of the separate debug file to the tables, where they do not suffice. True if there is
/// one that was not there before.
bool Module::add_debug_frame() {
  Lazy<bool>& is_there = data_of(file_.use()).has_debug_frame;
  if (is_there.made()) return false;
  return is_there.get([&] {
    files::SharedImage* const separate = debug().separate();
    return separate && tables().add_debug(*separate->image());
  });
}

std::optional<unwind::GoMatch> Module::find_go(std::uint64_t address) {
  const LinkAddress at = link(address);
  const elf::GoFunctions* const go = symbols().go_functions();
  const bool has_frames = go && go->has_frames() && go->frames().are_known;
  const auto function = has_frames ? go->find(at.value) : std::nullopt;
  if (!function) return std::nullopt;
  const auto size = go->frame_size(*function, at.value, file_options().budget.get());
  if (!size && !function->is_top) return std::nullopt;
  unwind::GoMatch match{.start = to_process(LinkAddress(function->extent.start), bias()),
                        .frame_size = size.value_or(0),
                        .kind = kind_of(*function),
                        .saves_fp = go->frames().save_fp,
                        .sets_sp = function->sets_sp,
                        .is_handler = function->is_handler,
                        .is_assembly = function->is_assembly,
                        .stack_end = stack_end_of(*function)};
  if (function->is_injected) match.injected_size = go->frames().injected_size;
  return match;
}

std::optional<AddressRange> Module::find_function(std::uint64_t address) {
  auto found = tables().function_at(link(address));
  if (found) found->start = to_process(LinkAddress(found->start), bias());
  return found;
}

std::optional<AddressRange> Module::find_symbol_extent(std::uint64_t address) {
  const auto match = symbols().find(link(address));
  if (!match) return std::nullopt;
  return AddressRange{address - match->offset, match->symbol->size};
}

/// The C code of such a file has tables.
bool Module::calls_keep_no_registers() {
  return image() && elf::has_go_code(*image());
}

} // namespace sframe::modules
