// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PlaceFinder walks from the crash outwards until it has most_places frames of the program's own code with a
// source line. Libraries of the system are passed over by their path; parts of the standard library that the
// program contains, by the source file or, where that is unknown, by the function's name. Debug information
// is opened only up to a size, since this is done without being asked for.

#include "place.h"

#include "sframe/crash/signature.h"
#include "sframe/elf/image.h"
#include "sframe/names/function_names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace sframe::unwind_tool {

namespace {

constexpr std::uint32_t most_frames = 64;
constexpr std::size_t most_modules = 8; ///< whose debug information is looked at
constexpr std::size_t most_places = 2;

/// A source file of the standard library of C++, Rust or Go, which programs contain parts of.
bool is_file_of_library(std::string_view file) {
  constexpr std::array<std::string_view, 7> folders = {
      "/usr/lib/gcc", "/usr/local/go/src/", "/usr/lib/go-", "/usr/share/go-",
      "/usr/lib/go/", "/usr/lib/golang/",   "/rust/deps/",
  };
  constexpr std::array<std::string_view, 6> parts = {
      "/include/c++/", // also of other compilers' libraries
      "/libstdc++-v3/",
      "/lib/rustlib/src/",
      "/golang.org/toolchain@", // one that Go has fetched
      "/hashbrown-",            // HashMap of Rust
      "/../lib/gcc/",
  };
  const auto in_source_of_rust = [&](std::string_view start) {
    return file.starts_with(start) && file.find("/library/", start.size()) != file.npos;
  };
  return std::ranges::any_of(folders, [&](std::string_view folder) { return file.starts_with(folder); }) ||
         std::ranges::any_of(parts, [&](std::string_view part) { return file.find(part) != file.npos; }) ||
         in_source_of_rust("/rustc/") || in_source_of_rust("/usr/src/rustc");
}

/// The same by the function's name, where its file is not known.
bool is_name_of_library(std::string_view function) {
  constexpr std::array<std::string_view, 6> names = {
      "std::", "core::", "alloc::", "__gnu_cxx::", "hashbrown::", "runtime."};
  while (function.starts_with('<')) function.remove_prefix(1); // Rust: "<core::slice::Iter<T> as ...>::next"
  return std::ranges::any_of(names, [&](std::string_view name) { return function.starts_with(name); });
}

/// The source file tells a program's own namespace "core", and its traits for types of the library, from the
/// library's. Go's runtime is one by its names even where files have relative paths (-trimpath).
bool is_standard_library(std::string_view function, std::string_view file) {
  return file.empty() ? is_name_of_library(function)
                      : is_file_of_library(file) || function.starts_with("runtime.");
}

/// Debug information of up to this size is opened for one line: that takes time in proportion to its size,
/// most of all if it is compressed.
constexpr std::uint64_t most_debug_info = 16 << 20;

std::uint64_t cost_of_debug_info(const elf::Image& image) {
  constexpr std::uint64_t most = most_debug_info, per_compressed_byte = 8;
  std::uint64_t size = 0;
  for (const elf::SectionHeader& section : image.sections())
    if (section.name.starts_with(".debug_"))
      size += std::min(section.size, most) * (section.flags & elf::shf_compressed ? per_compressed_byte : 1);
  return size;
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
    if (!symbols.module || !symbols.function || frame.signal_frame ||
        crash::is_system_library(*symbols.module))
      return true;
    const std::string name = names::signature_name(symbols.function->symbol, budget_);
    const bool starts = crash::is_starting(name);
    if ((!starts && crash::is_silent(name)) || !is_searched(*symbols.module)) return true;
    auto source = source_.find(*symbols.module, frame.lookup_pc());
    if (source && source->at.file.empty() && !source->inlined.empty())
      source->at = source->inlined.front().at; // by Go's table, which does not say where the call is
    if (!source || source->at.file.empty()) return true;
    const bool is_own = !starts && !is_standard_library(name, source->at.file);
    add(frame, registers, *source, is_own ? symbols.function->symbol : std::string());
    return places.size() < most_places;
  }

  std::vector<CrashPlace> places;       ///< innermost first
  modules::Module* too_large = nullptr; ///< the first module left out because of its size

private:
  bool is_searched(modules::Module& module) {
    const auto known = std::ranges::find(modules_, &module, &std::pair<modules::Module*, bool>::first);
    if (known != modules_.end()) return known->second;
    if (modules_.size() == most_modules) return false;
    const elf::Image* const image = module.debug().image();
    const bool is_large =
        image && !symbolizer_.wants_source() && cost_of_debug_info(*image) > most_debug_info;
    if (is_large && !too_large) too_large = &module;
    modules_.emplace_back(&module, !is_large); // without an image, too: Go has a table of its own
    return !is_large;
  }

  /// The inlined calls that are the program's own, then the function itself, unless `symbol` is empty.
  void add(const unwind::Frame& frame, const unwind::Registers& registers,
           const modules::SourceLocation& source, std::string_view symbol) {
    const std::size_t inlined = source.inlined.size();
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < inlined && places.size() + own.size() < most_places; ++i) {
      const modules::InlinedCall& call = source.inlined[i];
      if (!call.function.empty() && !is_standard_library(names::shortened_name(call.function), call.at.file))
        own.push_back(i);
    }
    if (!symbol.empty() && places.size() + own.size() < most_places) own.push_back(inlined);
    if (own.empty()) return;
    std::vector<variables::Scope> scopes = variables_.find(frame, registers);
    const bool has_scopes = scopes.size() == inlined + 1;
    for (const std::size_t i : own) {
      CrashPlace& place = places.emplace_back();
      place.frame = frame.number;
      place.function = i < inlined ? names::shortened_name(source.inlined[i].function)
                                   : names::function_name(symbol, names::NameStyle::shortened, budget_);
      place.at = i < inlined ? source.inlined[i].at : source.at;
      if (has_scopes) place.arguments = std::move(scopes[i].arguments);
    }
  }

  Symbolizer& symbolizer_;
  Budget* budget_;
  modules::DwarfSource source_;
  variables::Finder variables_;
  std::vector<std::pair<modules::Module*, bool>> modules_; ///< and whether they are searched
};

} // namespace

std::vector<CrashPlace> find_places(const unwind::FrameState& start, std::uint32_t number,
                                    process::ProcessState& process, unwind::Walker& walker,
                                    Symbolizer& symbolizer, unwind::StepperList steppers) {
  PlaceFinder finder(process, symbolizer, std::move(steppers));
  walker.set_max_frames(most_frames);
  static_cast<void>(walker.walk(start, finder));
  if (finder.places.empty() && finder.too_large) symbolizer.note_not_searched(*finder.too_large);
  for (CrashPlace& place : finder.places) place.frame += number;
  return std::move(finder.places);
}

} // namespace sframe::unwind_tool
