// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processes are any: a path that one has mapped may be another file by now, and everything read of it is
// checked (read_mapped_file).

#include "processes.h"

#include "sframe/base/proc_text.h"
#include "sframe/bpf/mapped_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <utility>

namespace sframe::profile_tool {

namespace {

/// As many as the kernel allows by default.
constexpr std::size_t max_mappings = 65'530;
constexpr std::size_t max_images = 1 << 20;

std::string proc_file(std::uint32_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

std::vector<std::byte> as_bytes(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

/// A path of /proc/PID/maps.
std::string plain_path(std::string_view path) {
  constexpr std::string_view deleted = " (deleted)";
  if (path.ends_with(deleted)) path.remove_suffix(deleted.size());
  std::string plain;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool is_line_feed = path.substr(i).starts_with("\\012");
    plain += is_line_feed ? '\n' : path[i];
    if (is_line_feed) i += 3;
  }
  return plain;
}

/// The part of the mappings that is in the range goes.
void cut_out(CodeMappings& mappings, std::uint64_t start, std::uint64_t end) {
  auto at = mappings.upper_bound(start);
  if (at != mappings.begin()) --at;
  while (at != mappings.end() && at->first < end) {
    const auto [first, old] = *at;
    if (old.end <= start) {
      ++at;
      continue;
    }
    at = mappings.erase(at);
    if (first < start) mappings[first] = {start, old.offset, old.image};
    if (old.end > end) mappings[end] = {old.end, old.offset + (end - first), old.image};
  }
}

} // namespace

void Processes::watch(std::uint32_t pid) {
  read(pid, processes_[pid]);
}

Processes::Known& Processes::at(std::uint32_t pid) {
  const auto [found, is_new] = processes_.try_emplace(pid);
  if (is_new) read(pid, found->second);
  return found->second;
}

const Processes::Known& Processes::find(std::uint32_t pid) {
  return at(pid);
}

void Processes::read(std::uint32_t pid, Known& known) {
  known.mappings = std::make_shared<CodeMappings>();
  known.name = read_proc_file(proc_file(pid, "comm"));
  if (known.name.ends_with('\n')) known.name.pop_back();
  const std::string text = read_proc_file(proc_file(pid, "maps"));
  for (const MapsLine& line : parse_maps(text)) {
    if (!line.executable) continue;
    const std::string path = plain_path(line.path);
    add(known, line.start, {line.end, line.offset, image(path, line.device, line.inode)});
  }
}

void Processes::add(Known& known, std::uint64_t start, const CodeMapping& mapping) {
  if (known.mappings.use_count() > 1) known.mappings = std::make_shared<CodeMappings>(*known.mappings);
  cut_out(*known.mappings, start, mapping.end);
  if (known.mappings->size() < max_mappings) known.mappings->insert_or_assign(start, mapping);
}

void Processes::apply(const ProcessEvent& event) {
  using Kind = ProcessEvent::Kind;
  if (event.kind == Kind::started) {
    if (event.pid == event.parent || (!all_ && !processes_.contains(event.parent))) return;
    Known copy = at(event.parent);
    processes_.insert_or_assign(event.pid, std::move(copy));
    return;
  }
  if (!all_ && !processes_.contains(event.pid)) return;
  if (event.kind == Kind::ended) {
    if (event.pid == event.tid) ended_.push_back(event.pid);
    return;
  }
  Known& known = at(event.pid);
  if (event.kind == Kind::program) {
    known = {event.text, std::make_shared<CodeMappings>()};
  } else if (event.kind == Kind::name) {
    if (event.pid == event.tid) known.name = event.text;
  } else {
    const std::uint64_t end = event.start + event.size;
    const std::uint32_t number = image(event.text, event.device, event.inode);
    add(known, event.start, {end, event.offset, number});
    // Now: it may end before its first sample is looked at.
    open(images_[number], {event.pid, event.start, end});
  }
}

void Processes::forget_ended() {
  std::erase_if(ended_, [&](std::uint32_t pid) {
    if (::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH) return false;
    processes_.erase(pid);
    return true;
  });
}

std::uint32_t Processes::image(std::string_view path, std::uint64_t device, std::uint64_t inode) {
  std::string identity(path);
  identity += '\0';
  identity += std::to_string(device) + ":" + std::to_string(inode);
  if (images_.size() == max_images) { // nobody has so many: begin again would change what is known
    const auto known = by_identity_.find(identity);
    return known == by_identity_.end() ? 0 : known->second;
  }
  const auto [at, is_new] =
      by_identity_.try_emplace(std::move(identity), static_cast<std::uint32_t>(images_.size()));
  if (!is_new) return at->second;
  Image& made = images_.emplace_back();
  made.path = path;
  made.inode = inode;
  if (path == "[vsyscall]") made.kind = Kind::kernel;
  return at->second;
}

/// False if it is not the file that was mapped.
bool Processes::open_file(Image& image, const std::string& path, bool is_mapped) {
  const bpf::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat now {};
  if (file.number() < 0 || ::fstat(file.number(), &now) != 0 || !S_ISREG(now.st_mode)) return false;
  const auto read = bpf::read_mapped_file(file.number());
  // By its name only the inode tells; that of an overlay is another one in /proc/PID/maps.
  if (!is_mapped && image.inode != now.st_ino) return false;
  image.kind = read ? Kind::elf : Kind::generated;
  if (!read) return true;
  image.build_id = as_bytes(read->build_id);
  if (image.build_id.empty()) image.identity = profile::identity_of(now);
  std::ranges::copy(read->segments, image.segments);
  return true;
}

/// Its kind stays if the process has ended and the file is not found by its name: another one may have it
/// mapped.
void Processes::open(Image& image, const Place& place) {
  if (image.kind != Kind::unopened) return;
  const bool has_name = image.path.starts_with('/') && !image.path.starts_with("//");
  if (image.path == "[vdso]") {
    image.kind = Kind::vdso;
    const bpf::FileDescriptor own(bpf::open_mapped({.key = {.file_system = SFRAME_BPF_VDSO}}));
    if (const auto read = bpf::read_mapped_file(own.number())) {
      image.build_id = as_bytes(read->build_id);
      std::ranges::copy(read->segments, image.segments);
    }
  } else if (!has_name) {
    image.kind = Kind::generated;
    return;
  } else {
    char range[40];
    std::snprintf(range, sizeof range, "map_files/%llx-%llx", static_cast<unsigned long long>(place.start),
                  static_cast<unsigned long long>(place.end));
    (void)(open_file(image, proc_file(place.pid, range), true) ||
           open_file(image, proc_file(place.pid, "root") + image.path, false) ||
           open_file(image, image.path, false));
  }
}

std::uint64_t Processes::link_address(const Image& image, std::uint64_t offset) const {
  for (const sframe_bpf_segment& segment : image.segments)
    if (offset - segment.offset < segment.size) return offset - segment.offset + segment.address;
  return offset;
}

std::uint32_t Processes::locate(const Owner& owner, const CodeMappings& mappings, std::uint64_t pc,
                                bool guessed) {
  const auto after = mappings.upper_bound(pc);
  if (after == mappings.begin() || std::prev(after)->second.end <= pc) {
    ++unknown_;
    return builder_.location({.address = pc, .guessed = guessed});
  }
  const auto& [start, mapping] = *std::prev(after);
  Image& image = images_[mapping.image];
  open(image, {owner.pid, start, mapping.end});
  if (image.kind == Kind::unopened) image.kind = Kind::elf; // its addresses are then those in the file
  if (image.kind == Kind::generated) {
    names_.open(owner.pid);
    const profile::File file{
        .kind = profile::FileKind::generated, .path = image.path, .process = owner.process};
    return builder_.location({.file = builder_.file(file), .address = pc, .guessed = guessed});
  }
  if (image.file == profile::none) {
    static constexpr std::array kinds = {profile::FileKind::elf, profile::FileKind::elf,
                                         profile::FileKind::vdso, profile::FileKind::kernel};
    image.file = builder_.file({.kind = kinds[static_cast<std::size_t>(image.kind)],
                                .path = image.path,
                                .build_id = image.build_id,
                                .process = owner.process,
                                .start = start,
                                .end = mapping.end,
                                .identity = image.identity});
  }
  const std::uint64_t address = link_address(image, pc - start + mapping.offset);
  return builder_.location({.file = image.file, .address = address, .guessed = guessed});
}

} // namespace sframe::profile_tool
