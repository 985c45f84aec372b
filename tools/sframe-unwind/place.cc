// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "place.h"

#include "function_names.h"
#include "signature.h"

#include "sframe/elf/image.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace sframe::unwind_tool {

namespace {

constexpr std::uint32_t most_frames = 64;
constexpr unsigned most_lookups = 8; ///< of frames without source
constexpr std::size_t most_places = 2;

/// A name of the standard library of C++, Rust or Go, which programs contain parts of.
bool is_standard_library(std::string_view function) {
  constexpr std::array<std::string_view, 6> names = {
      "std::", "core::", "alloc::", "__gnu_cxx::", "hashbrown::", "runtime."};
  while (function.starts_with('<')) function.remove_prefix(1); // Rust: "<core::slice::Iter<T> as ...>::next"
  return std::ranges::any_of(names, [&](std::string_view name) { return function.starts_with(name); });
}

/// Whether the debug information, if there is any, is small enough to be opened for one line: opening it
/// takes time in proportion to its size, most of all if it is compressed.
bool is_small(modules::Module& module) {
  constexpr std::uint64_t most = 16 << 20, per_compressed_byte = 8;
  const elf::Image* const image = module.debug_image();
  if (!image) return true; // Go has a table of its own
  std::uint64_t size = 0;
  for (const elf::SectionHeader& section : image->sections())
    if (section.name.starts_with(".debug_"))
      size += std::min(section.size, most) * (section.flags & elf::shf_compressed ? per_compressed_byte : 1);
  return size <= most;
}

class PlaceFinder final : public unwind::FrameReceiver {
public:
  PlaceFinder(process::ProcessState& process, Symbolizer& symbolizer, unwind::StepperList steppers)
      : symbolizer_(symbolizer), budget_(process.space().budget()), source_(symbolizer.debug_info()),
        variables_(process.space(), std::move(steppers), symbolizer.debug_info(),
                   {.arguments = true,
                    .inlined = true,
                    .other_modules = false,
                    .text = 80,
                    .elements = 8,
                    .string = 60,
                    .depth = 2}) {}

  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    const SymbolizedFrame& symbols = symbolizer_.symbolize(frame);
    if (!symbols.module || !symbols.function || frame.signal_frame || is_system_library(*symbols.module))
      return true;
    const std::string name = signature_name(symbols.function->symbol, budget_);
    if (is_silent(name) || is_standard_library(name)) return true;
    const auto source =
        is_small(*symbols.module) ? source_.find(*symbols.module, frame.lookup_pc()) : std::nullopt;
    if (!source || source->at.file.empty()) return ++lookups_ < most_lookups;
    add(frame.number, *source, function_name(symbols.function->symbol, NameStyle::shortened, budget_),
        variables_.find(frame, registers));
    return places.size() < most_places;
  }

  std::vector<CrashPlace> places; ///< innermost first

private:
  /// The inlined calls that are the program's own, then the function itself.
  void add(std::uint32_t frame, const modules::SourceLocation& source, const std::string& function,
           std::vector<variables::Scope> scopes) {
    const bool has_scopes = scopes.size() == source.inlined.size() + 1;
    for (std::size_t i = 0; i <= source.inlined.size() && places.size() < most_places; ++i) {
      const modules::InlinedCall* const call = i < source.inlined.size() ? &source.inlined[i] : nullptr;
      if (call && (call->function.empty() || is_standard_library(shortened_name(call->function)))) continue;
      CrashPlace& place = places.emplace_back();
      place.frame = frame;
      place.function = call ? shortened_name(call->function) : function;
      place.at = call ? call->at : source.at;
      if (has_scopes) place.arguments = std::move(scopes[i].arguments);
    }
  }

  Symbolizer& symbolizer_;
  Budget* budget_;
  modules::DwarfSource source_;
  variables::Finder variables_;
  unsigned lookups_ = 0;
};

} // namespace

std::vector<CrashPlace> find_places(const unwind::FrameState& start, std::uint32_t number,
                                    process::ProcessState& process, unwind::Walker& walker,
                                    Symbolizer& symbolizer, unwind::StepperList steppers) {
  PlaceFinder finder(process, symbolizer, std::move(steppers));
  walker.set_max_frames(most_frames);
  static_cast<void>(walker.walk(start, finder));
  for (CrashPlace& place : finder.places) place.frame += number;
  return std::move(finder.places);
}

} // namespace sframe::unwind_tool
