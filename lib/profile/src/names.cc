// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each file of the recording is a module whose addresses are those of its file. Which path leads to it: that
// of its mapping in the process (/proc/PID/map_files), if the process still has it; else its path, in the
// process's root folder; else the same path here, with the right build ID.

#include "sframe/profile/names.h"

#include "sframe/profile/kernel_symbols.h"
#include "sframe/profile/own_vdso.h"

#include "sframe/base/printable.h"
#include "sframe/elf/file.h"
#include "sframe/languages/perf_map.h"
#include "sframe/modules/source.h"
#include "sframe/modules/symbols.h"
#include "sframe/number_hash.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace sframe::profile {

namespace {

/// Nothing but the vdso of this process, at an address of its own: 0 would mean that it is nowhere.
class VdsoMemory final : public modules::ByteSource {
public:
  static constexpr std::uint64_t start = 1 << 20;
  explicit VdsoMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> memory_at(std::uint64_t address) override {
    const bool is_inside = address >= start && address - start < bytes_.size();
    return is_inside ? bytes_.subspan(address - start) : std::span<const std::byte>{};
  }

private:
  std::span<const std::byte> bytes_;
};

std::string hex_digits(std::uint64_t value) {
  char text[16];
  return {text, std::to_chars(text, text + sizeof text, value, 16).ptr};
}

const AbiTraits* own_abi() {
  return find_abi(SFRAME_HOST_ABI);
}

/// The size of a map that may be read. One that another user has written could name functions as it likes:
/// perf does not read it either. `process` is the folder in /proc of the one that it is of, if that runs.
std::optional<std::uint64_t> readable_size(const std::string& path, const std::string& process) {
  struct stat info {
  }, owner{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const bool is_running = !process.empty() && ::stat(process.c_str(), &owner) == 0;
  if (info.st_uid != (is_running ? owner.st_uid : ::geteuid()) && info.st_uid != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.st_size);
}

class Search {
public:
  Search(const Recording& recording, const NameSettings& settings)
      : recording_(recording), settings_(settings), abi_(recording.abi ? recording.abi : own_abi()) {
    if (!settings_.files.shared)
      settings_.files.shared = std::make_shared<files::OpenFiles>(recording.files.size());
    if (settings_.trusts_paths) settings_.files.trust = files::FileTrust::all;
    modules_.resize(recording.files.size());
    names_.files.resize(recording.files.size());
    for (std::size_t i = 0; i < recording.files.size(); ++i)
      names_.files[i].build_id = recording.files[i].build_id;
  }

  Names run() {
    names_.locations.resize(recording_.locations.size());
    // By file, so that what is kept of one is used before the next is opened.
    std::vector<std::uint32_t> order(recording_.locations.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return recording_.locations[i].file; });
    for (const std::uint32_t location : order) look_up(location);
    return std::move(names_);
  }

private:
  struct Found {
    Function function;
    std::uint64_t offset = 0;
    std::optional<modules::SourceLocation> source;
  };

  void look_up(std::uint32_t index) {
    const Location& location = recording_.locations[index];
    Found found = find(location);
    NamedLocation& named = names_.locations[index];
    named.first = static_cast<std::uint32_t>(names_.lines.size());
    named.offset = found.offset;
    const bool is_kernel = found.function.is_kernel;
    std::uint32_t line = 0;
    if (found.source) {
      for (modules::InlinedCall& call : found.source->inlined) {
        if (call.function.empty()) continue;
        if (settings_.style == names::NameStyle::shortened)
          call.function = names::shortened_name(call.function);
        call.function = shown_name(call.function);
        add({std::move(call.function), {}, std::move(call.at.file), true, is_kernel}, call.at.line);
      }
      found.function.file = std::move(found.source->at.file);
      line = found.source->at.line;
    }
    note(location, found.function.is_named, line != 0 || names_.lines.size() != named.first);
    add(std::move(found.function), line);
    named.count = static_cast<std::uint32_t>(names_.lines.size()) - named.first;
  }

  void note(const Location& location, bool is_named, bool has_line) {
    if (location.file == none) return;
    NamedFile& file = names_.files[location.file];
    file.has_names |= is_named;
    file.has_lines |= has_line;
    file.unnamed += !is_named;
  }

  void add(Function function, std::uint32_t line) {
    const auto [at, is_new] = functions_.try_emplace(
        std::tuple(function.name, function.symbol, function.file, function.is_named, function.is_kernel),
        static_cast<std::uint32_t>(names_.functions.size()));
    if (is_new) names_.functions.push_back(std::move(function));
    names_.lines.push_back({at->second, line});
  }

  Found find(const Location& location) {
    Found found;
    const FileKind kind = location.file == none ? FileKind::elf : recording_.files[location.file].kind;
    found.function.is_kernel = kind == FileKind::kernel;
    if (location.name != none) {
      name(found, recording_.names[location.name]);
    } else if (settings_.names && location.file != none) {
      if (kind == FileKind::kernel) find_in_kernel(location, found);
      if (kind == FileKind::generated) find_in_map(location, found);
      if (kind == FileKind::elf || kind == FileKind::vdso) find_in_module(location, found);
    }
    if (!found.function.is_named)
      found.function.name = location.file == none ? "[unknown]" : "[" + plain_name(location.file) + "]";
    return found;
  }

  /// "[kernel]" has brackets of its own.
  std::string plain_name(std::uint32_t file) const {
    std::string name = file_name(recording_, file);
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    return name;
  }

  void name(Found& found, std::string_view symbol) const {
    found.function.symbol = shown_name(symbol); // in many stacks
    found.function.name =
        shown_name(names::function_name(symbol, settings_.style, settings_.files.budget.get()));
    found.function.is_named = !found.function.name.empty();
  }

  void find_in_kernel(const Location& location, Found& found) {
    if (!kernel_) kernel_ = read_kernel(location.file);
    if (const auto match = kernel_->find(location.address)) {
      name(found, match->name);
      found.offset = match->offset;
    }
  }

  KernelSymbols read_kernel(std::uint32_t file) {
    const auto& wanted = recording_.files[file].build_id;
    std::string& problem = names_.files[file].problem;
    const bool is_same = wanted.empty() ? settings_.trusts_paths : wanted == kernel_build_id();
    if (!settings_.is_own && !is_same) {
      problem = "not of the kernel that runs here";
      return {};
    }
    auto symbols = KernelSymbols::read();
    if (!symbols) {
      problem = symbols.error().text();
      return {};
    }
    const auto& [symbol, address] = recording_.kernel_symbol;
    if (settings_.is_own || (!symbol.empty() && symbols->address_of(symbol) == address))
      return std::move(*symbols);
    problem = "the kernel was at other addresses";
    return {};
  }

  void find_in_map(const Location& location, Found& found) {
    const std::uint32_t process = recording_.files[location.file].process;
    if (process == none) return;
    const std::uint32_t pid = recording_.processes[process].pid;
    const auto [at, is_new] = maps_.try_emplace(pid);
    if (is_new) at->second = read_map(pid);
    const auto match = at->second.find(location.address, location.address);
    if (!match) return;
    name(found, match->name);
    found.offset = match->offset;
  }

  /// Addresses of generated code without names, by PID.
  void collect_generated() {
    for (const Location& location : recording_.locations) {
      if (location.name != none || location.file == none) continue;
      const File& file = recording_.files[location.file];
      if (file.kind == FileKind::generated && file.process != none)
        generated_[recording_.processes[file.process].pid].push_back(location.address);
    }
    for (auto& [pid, addresses] : generated_) std::ranges::sort(addresses);
  }

  /// In a container, the process has another PID, and its own folder.
  languages::PerfMap read_map(std::uint32_t pid) {
    if (generated_.empty()) collect_generated();
    const std::string number = std::to_string(pid);
    const std::string process = settings_.is_own ? "/proc/" + number : std::string();
    std::vector<std::string> paths = {"/tmp/perf-" + number + ".map"};
    if (settings_.is_own) paths.insert(paths.begin(), process + "/root" + paths.front());
    for (const std::string& path : paths) {
      const auto size = readable_size(path, process);
      if (!size || *size > map_bytes_left_) continue;
      map_bytes_left_ -= *size;
      if (auto map = languages::PerfMap::read(path, generated_[pid])) return std::move(*map);
    }
    return {};
  }

  void find_in_module(const Location& location, Found& found) {
    modules::Module& module = module_of(location.file);
    const std::uint64_t address = location.address + module.info().bias.value_or(0);
    if (auto function = symbols_.find(module, address, address)) {
      found.offset = function->offset;
      name(found, function->symbol.empty() ? function->name : function->symbol);
    }
    if (settings_.lines) found.source = source_.find(module, address);
  }

  modules::Module& module_of(std::uint32_t index) {
    if (modules_[index]) return *modules_[index];
    const File& file = recording_.files[index];
    NamedFile& named = names_.files[index];
    modules::ModuleInfo info;
    info.set_path(file.path);
    info.start = 0;
    info.end = std::numeric_limits<std::uint64_t>::max();
    info.bias = 0;
    info.build_id = file.build_id;
    modules::ByteSource* memory = &no_memory_;
    if (file.kind == FileKind::vdso) {
      memory = &memories_.emplace_back(own_vdso(file.build_id));
      info.vdso = true;
      info.bias = info.header_address = VdsoMemory::start;
    } else if (settings_.is_own && file.process != none) {
      info.file = own_file(file, info.path);
      if (info.file.empty() && file.build_id.empty()) { // what is at its path is another file
        info.set_path({});
        named.problem = "the file that was mapped is not found any more, and it has no build ID";
      }
    }
    auto& module = modules_[index];
    module = &all_modules_.emplace_back(std::move(info), *abi_, settings_.files, *memory);
    if (named.build_id.empty()) named.build_id.assign(module->build_id().begin(), module->build_id().end());
    if (!module->image() && named.problem.empty()) named.problem = module->file().problem();
    return *module;
  }

  /// A path that leads to the file of a mapping now; empty if none does.
  std::string own_file(const File& file, const std::string& path) const {
    const std::string process = "/proc/" + std::to_string(recording_.processes[file.process].pid);
    if (file.end != 0) {
      const std::string mapped =
          process + "/map_files/" + hex_digits(file.start) + '-' + hex_digits(file.end);
      if (is_right(mapped, file)) return mapped;
    }
    std::string rooted = process + "/root" + path;
    if (path.starts_with('/') && is_right(rooted, file)) return rooted;
    return file.build_id.empty() && is_right(path, file) ? path : std::string();
  }

  /// PIDs are used again, and files replaced: what is there now may be another one.
  static bool is_right(const std::string& path, const File& file) {
    const auto opened = elf::File::open_found(path);
    if (!opened) return false;
    if (file.build_id.empty()) {
      struct stat now {};
      return file.identity && ::stat(path.c_str(), &now) == 0 &&
             is_same_file(identity_of(now), *file.identity);
    }
    const auto image = elf::Image::parse(opened->bytes());
    return image && (std::ranges::equal(image->build_id(), file.build_id) ||
                     std::ranges::equal(image->go_build_id(), file.build_id));
  }

  const Recording& recording_;
  NameSettings settings_;
  const AbiTraits* abi_;
  Names names_;
  VdsoMemory no_memory_{{}};
  std::deque<VdsoMemory> memories_;
  std::deque<modules::Module> all_modules_;
  std::vector<modules::Module*> modules_; ///< by file
  modules::ElfSymbols symbols_;
  modules::DwarfSource source_;
  std::optional<KernelSymbols> kernel_;
  std::map<std::uint32_t, languages::PerfMap> maps_; ///< by PID
  std::map<std::uint32_t, std::vector<std::uint64_t>> generated_;
  std::uint64_t map_bytes_left_ = 4 * languages::PerfMap::max_size; ///< any user can write large ones
  std::map<std::tuple<std::string, std::string, std::string, bool, bool>, std::uint32_t> functions_;
};

} // namespace

Names look_up_names(const Recording& recording, const NameSettings& settings) {
  return Search(recording, settings).run();
}

std::string file_name(const Recording& recording, std::uint32_t file) {
  if (file == none || recording.files[file].path.empty()) return "unknown";
  const std::string& path = recording.files[file].path;
  return path.substr(path.ends_with('/') ? 0 : path.rfind('/') + 1);
}

} // namespace sframe::profile
