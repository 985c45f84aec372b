// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SignatureFrames chooses up to five different names, from the innermost frame on, and leaves out silent
// frames: those of crash handling and of starting threads (signature_frames.def), signal frames, and nameless
// ones of the system's libraries. If nothing is left, the program's start, or all frames, are used. The text
// that is hashed is the signal's name and the names, one in a line:
//
//   SIGABRT\n work\n main\n    (without the blanks)    3: and the first 8 bytes of its SHA-256

#include "sframe/crash/signature.h"

#include "sframe/base/problem.h"
#include "sframe/core/signals.h"
#include "sframe/elf/image.h"
#include "sframe/names/function_names.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/SHA256.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sframe::crash {

namespace {

constexpr std::string_view signature_version = "3:";
constexpr std::size_t most_chosen = 5;
constexpr std::size_t most_seen = 1024; ///< frames of the stack, so that a recursion's depth has no effect

constexpr std::string_view ending_frames[] = {
#define SFRAME_SILENT_FRAME(name, source) name,
#define SFRAME_STARTING_FRAME(name, source)
#include "signature_frames.def"
#undef SFRAME_SILENT_FRAME
#undef SFRAME_STARTING_FRAME
};

constexpr std::string_view starting_frames[] = {
#define SFRAME_SILENT_FRAME(name, source)
#define SFRAME_STARTING_FRAME(name, source) name,
#include "signature_frames.def"
#undef SFRAME_SILENT_FRAME
#undef SFRAME_STARTING_FRAME
};

/// `pattern` may have several "*". What is between two of them is taken at its first place, what follows the
/// last is the end of the name: names may be long.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  for (;;) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == pattern.npos) return name.ends_with(pattern);
    const std::size_t at = name.find(pattern.substr(0, star));
    if (at == name.npos) return false;
    name.remove_prefix(at + star);
  }
}

bool is_one_of(std::span<const std::string_view> patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) { return matches(pattern, name); });
}

/// Where there is no name: what is the same for all processes with these files.
std::string place_of(const unwind::Frame& frame, modules::Module* module) {
  if (!module) return "?";
  if (module->generated()) return std::string(module->name());
  return std::string(module->name()) + ':' + elf::to_hex(module->info().build_id) + '+' +
         hex(frame.pc - module->info().start);
}

/// False if the list has it.
bool add_once(std::vector<std::string>& list, std::string name) {
  if (std::ranges::find(list, name) != list.end()) return false;
  list.push_back(std::move(name));
  return true;
}

class SignatureWalk final : public unwind::FrameReceiver {
public:
  SignatureWalk(modules::FrameNames& names, Budget* budget) : names_(names), budget_(budget) {}
  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    return frames.add(frame, names_.symbolize(frame), budget_);
  }
  SignatureFrames frames;

private:
  modules::FrameNames& names_;
  Budget* budget_;
};

} // namespace

bool is_system_library(const modules::Module& module) {
  constexpr std::array folders = {"/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/"};
  return !module.info().main && std::ranges::any_of(folders, [&](const char* folder) {
    return module.info().path.starts_with(folder);
  });
}

bool is_starting(std::string_view name) {
  return is_one_of(starting_frames, name);
}

bool is_silent(std::string_view name) {
  return is_one_of(ending_frames, name) || is_starting(name);
}

std::string signature_text(std::int32_t signal, std::span<const std::string> frames) {
  std::string text = core::signal_name(signal) + '\n';
  for (const std::string& frame : frames) text += frame + '\n';
  const auto hash =
      llvm::SHA256::hash(llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  std::string signature(signature_version);
  constexpr std::size_t bytes = 8;
  return signature + elf::to_hex(std::as_bytes(std::span(hash)).first(bytes));
}

bool SignatureFrames::add(const unwind::Frame& frame, const modules::NamedFrame& named, Budget* budget) {
  // The names of stubs came later than the signatures, which do not change with them.
  const bool has_name = named.function && !named.function->symbol.ends_with("@plt");
  std::string name =
      has_name ? names::signature_name(named.function->symbol, budget) : place_of(frame, named.module);
  const bool starts = has_name && is_starting(name);
  if (starts && start_.empty() && named.module && !is_system_library(*named.module))
    start_.push_back(place_of(frame, named.module));
  if (all_.size() < most_chosen) add_once(all_, name);
  // Where a library of the system has no symbols, its functions that are not exported have no names, and
  // their places are other ones after each update.
  const bool is_silent_frame = frame.signal_frame || (has_name ? starts || is_silent(name)
                                                               : named.module && !named.module->generated() &&
                                                                     is_system_library(*named.module));
  // Functions without a name that a silent one of the same library has called are silent, too: a handler of
  // std::terminate().
  if (is_silent_frame && named.module == unnamed_in_) chosen_.resize(chosen_.size() - unnamed_);
  if (is_silent_frame || has_name || named.module != unnamed_in_) unnamed_ = 0;
  unnamed_in_ = !is_silent_frame && !has_name ? named.module : nullptr;
  if (!is_silent_frame && add_once(chosen_, std::move(name)) && unnamed_in_) ++unnamed_;
  return ++seen_ < most_seen && chosen_.size() - unnamed_ < most_chosen;
}

Signature SignatureFrames::finish(std::int32_t signal) {
  Signature signature;
  signature.frames = std::move(!chosen_.empty() ? chosen_ : !start_.empty() ? start_ : all_);
  signature.frames.resize(std::min(signature.frames.size(), most_chosen));
  signature.text = signature_text(signal, signature.frames);
  return signature;
}

Signature signature_of(const unwind::FrameState& start, std::int32_t signal, unwind::Walker& walker,
                       modules::FrameNames& names, Budget* budget) {
  SignatureWalk walk(names, budget);
  walker.set_max_frames(most_seen);
  static_cast<void>(walker.walk(start, walk));
  return walk.frames.finish(signal);
}

} // namespace sframe::crash
