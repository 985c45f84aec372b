// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables are found by symbol, fields by name in DWARF, once; a program that lacks one of them has
// `problem` set. Values in interfaces are read as the runtime's printpanicval() does: an interface is two
// words, type and data, and a type has its kind and the offset of its name in the module's types.

#include "go_runtime.h"

#include "sframe/languages/thrown.h"

#include <bit>
#include <charconv>

namespace sframe::languages {

GoRuntime::GoRuntime(modules::ModuleSpace& the_space, modules::Module& the_main,
                     modules::DebugInfoCache& cache)
    : space(the_space), main(the_main), memory(the_space) {
  constexpr std::size_t longest_version = 100;
  if (const auto at = main.symbols().find_definition("runtime.buildVersion"))
    version = string(*at, longest_version).value_or("");
  if (!find_variables())
    problem = "the program has no symbols";
  else if (!find_fields(cache))
    problem = "the program has no debug information";
}

std::optional<std::string> GoRuntime::string(std::uint64_t address, std::size_t most) {
  const auto text = memory.word(address), size = memory.word(address + 8);
  return text && size ? memory.text(*text, *size, most) : std::nullopt;
}

bool GoRuntime::find_variables() {
  const std::pair<std::uint64_t&, const char*> variables[] = {
      {layout.allgs, "runtime.allgs"},
      {layout.allm, "runtime.allm"},
      {layout.wait_reasons, "runtime.waitReasonStrings"},
      {layout.modules, "runtime.firstmoduledata"}};
  for (const auto& [address, name] : variables) {
    const auto found = main.symbols().find_definition(name);
    if (!found) return false;
    address = *found;
  }
  return true;
}

bool GoRuntime::find_fields(modules::DebugInfoCache& cache) {
  // A function of the unit that has the variables.
  const auto code = main.symbols().find_definition("runtime.gopark");
  if (!code) return false;
  DebugTypes types(main, cache, *code);
  const auto g = types.variable("runtime.g0"), m = types.variable("runtime.m0");
  const auto module = types.variable("runtime.firstmoduledata");
  const auto reasons = types.variable("runtime.waitReasonStrings");
  if (!g || !m || !module || !reasons) return false;
  layout.wait_reason_count = reasons->size / 16;

  using Path = std::initializer_list<std::string_view>;
  bool complete = true;
  // The first path that exists: names have changed between versions.
  const auto set = [&](Number& number, const std::optional<Field>& structure, Path path, Path other = {}) {
    auto found = structure ? types.field(*structure, path) : std::nullopt;
    if ((!found || found->size > 8) && structure && other.size()) found = types.field(*structure, other);
    if (!found || found->size == 0 || found->size > 8 || found->offset > UINT32_MAX)
      complete = false;
    else
      number = {static_cast<std::uint32_t>(found->offset), static_cast<std::uint32_t>(found->size)};
  };
  set(layout.g.stack_low, g, Path{"stack", "lo"});
  set(layout.g.stack_high, g, Path{"stack", "hi"});
  set(layout.g.panic, g, Path{"_panic"});
  set(layout.g.m, g, Path{"m"});
  set(layout.g.pc, g, Path{"sched", "pc"});
  set(layout.g.sp, g, Path{"sched", "sp"});
  set(layout.g.bp, g, Path{"sched", "bp"});
  set(layout.g.status, g, Path{"atomicstatus", "value"}, Path{"atomicstatus"});
  set(layout.g.id, g, Path{"goid"});
  set(layout.g.wait_since, g, Path{"waitsince"});
  set(layout.g.wait_reason, g, Path{"waitreason"});
  set(layout.g.locked_m, g, Path{"lockedm"});
  set(layout.g.signal, g, Path{"sig"});
  set(layout.g.signal_code1, g, Path{"sigcode1"});
  set(layout.g.signal_pc, g, Path{"sigpc"});
  set(layout.g.creator_pc, g, Path{"gopc"});
  set(layout.g.start_pc, g, Path{"startpc"});
  set(layout.m.g0, m, Path{"g0"});
  set(layout.m.current, m, Path{"curg"});
  set(layout.m.thread, m, Path{"procid"});
  set(layout.m.next, m, Path{"alllink"});
  set(layout.module.types, module, Path{"types"});
  set(layout.module.types_end, module, Path{"etypes"});
  set(layout.module.next, module, Path{"next"});

  const auto target = [&](const std::optional<Field>& from, Path path) {
    const auto pointer = from ? types.field(*from, path) : std::nullopt;
    return pointer ? types.target(*pointer) : std::nullopt;
  };
  if (!complete) return false;
  const auto panic = target(g, {"_panic"});
  set(layout.panic.link, panic, Path{"link"});
  set(layout.panic.recovered, panic, Path{"recovered"});
  set(layout.panic.goexit, panic, Path{"goexit"});
  const auto argument = panic ? types.field(*panic, {"arg"}) : std::nullopt;
  const auto type = target(argument, {"_type"});
  set(layout.type.kind, type, Path{"Kind_"}, Path{"kind"});
  set(layout.type.flags, type, Path{"TFlag"}, Path{"tflag"});
  set(layout.type.name, type, Path{"Str"}, Path{"str"});
  if (complete && argument) layout.panic.argument = argument->offset;
  return true;
}

std::uint64_t GoRuntime::m_of(std::uint32_t tid) {
  std::uint64_t found = 0;
  each_m([&](std::uint64_t m) {
    const auto thread = load(m, layout.m.thread);
    if (thread != tid) return true;
    found = m;
    return false;
  });
  return found;
}

/// src/internal/abi/type.go: Type.String(), Name.Name().
std::optional<std::string> GoRuntime::type_name(std::uint64_t type) {
  constexpr std::size_t longest = 200;
  constexpr unsigned most_modules = 1000, extra_star = 2;
  const auto flags = load(type, layout.type.flags), name = load(type, layout.type.name);
  if (!flags || !name) return std::nullopt;
  std::optional<std::uint64_t> module = layout.modules;
  for (unsigned i = 0; module && *module && i < most_modules;
       ++i, module = load(*module, layout.module.next)) {
    const auto low = load(*module, layout.module.types), high = load(*module, layout.module.types_end);
    if (!low || !high || type - *low >= *high - *low) continue;
    std::uint64_t at = *low + *name + 1; // after a byte of flags
    std::uint64_t size = 0;
    for (unsigned shift = 0; shift < 21; shift += 7) {
      const auto byte = memory.number(at++, 1);
      if (!byte) return std::nullopt;
      size |= (*byte & 0x7f) << shift;
      if ((*byte & 0x80) == 0) break;
    }
    auto text = memory.text(at, size, longest);
    if (text && *flags & extra_star && text->starts_with('*')) text->erase(0, 1);
    return text;
  }
  return std::nullopt;
}

namespace {

/// reflect.Kind (src/internal/abi/type.go).
enum Kind : std::uint8_t {
  kind_bool = 1,
  kind_int = 2,
  kind_int8,
  kind_int16,
  kind_int32,
  kind_int64,
  kind_uint,
  kind_uint8,
  kind_uint16,
  kind_uint32,
  kind_uint64,
  kind_uintptr,
  kind_float32,
  kind_float64,
  kind_string = 24,
};
constexpr std::uint64_t kind_mask = 0x1f;

struct NumberKind {
  Kind kind;
  std::uint32_t size; ///< bytes
  std::string_view name;
};
constexpr NumberKind numbers[] = {
    {kind_bool, 1, "bool"},       {kind_int, 8, "int"},         {kind_int8, 1, "int8"},
    {kind_int16, 2, "int16"},     {kind_int32, 4, "int32"},     {kind_int64, 8, "int64"},
    {kind_uint, 8, "uint"},       {kind_uint8, 1, "uint8"},     {kind_uint16, 2, "uint16"},
    {kind_uint32, 4, "uint32"},   {kind_uint64, 8, "uint64"},   {kind_uintptr, 8, "uintptr"},
    {kind_float32, 4, "float32"}, {kind_float64, 8, "float64"},
};

std::string number_text(Kind kind, std::uint32_t size, std::uint64_t value) {
  if (kind == kind_bool) return value ? "true" : "false";
  if (kind == kind_float32 || kind == kind_float64) {
    const double number = kind == kind_float32
                              ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value)))
                              : std::bit_cast<double>(value);
    char text[40];
    return {std::begin(text), std::to_chars(std::begin(text), std::end(text), number).ptr};
  }
  if (kind > kind_int64) return std::to_string(value);
  const unsigned unused = 64 - 8 * size;
  return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
}

} // namespace

/// src/runtime/error.go: printpanicval().
std::optional<std::string> GoRuntime::text_of(std::uint64_t interface) {
  const auto type = memory.word(interface), data = memory.word(interface + 8);
  if (!type || !data) return std::nullopt;
  if (*type == 0) return "nil";
  const auto kind_value = load(*type, layout.type.kind);
  if (!kind_value) return std::nullopt;
  const auto name = type_name(*type);
  if (!name) return std::nullopt;
  const std::uint64_t kind = *kind_value & kind_mask;
  if (kind == kind_string) {
    auto value = string(*data, longest_message);
    if (!value || *name == "string") return value;
    return *name + "(\"" + *value + "\")";
  }
  for (const auto& one : numbers) {
    if (one.kind != kind) continue;
    const auto value = memory.number(*data, one.size);
    if (!value) return std::nullopt;
    const std::string text = number_text(one.kind, one.size, *value);
    return *name == one.name ? text : *name + '(' + text + ')';
  }
  return '(' + *name + ") " + hex(*data);
}

} // namespace sframe::languages
