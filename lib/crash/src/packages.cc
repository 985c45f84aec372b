// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dpkg's database (dpkg(1), "FILES"): info/PACKAGE.list or info/PACKAGE:ARCHITECTURE.list has a package's
// paths; status has a paragraph for each package (deb-control(5)).

#include "sframe/crash/packages.h"

#include "sframe/base/text.h"
#include "sframe/core/crash_report.h"
#include "sframe/elf/file.h"
#include "sframe/elf/package_note.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace sframe::crash {

namespace {

constexpr std::string_view database = "/var/lib/dpkg/";

/// The value of a field in a paragraph, which has the form of a crash report.
std::string field(std::string_view paragraph, std::string_view name) {
  return std::string(core::report_field(std::as_bytes(std::span(paragraph)), name));
}

std::string installed_version(const std::string& package, std::string_view architecture) {
  const auto file = elf::File::open_regular(std::string(database) + "status");
  if (!file) return {};
  std::string_view text = as_text(file->bytes());
  const std::string first = "Package: " + package + '\n';
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view paragraph = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    if (!paragraph.starts_with(first)) continue;
    if (architecture.empty() || field(paragraph, "Architecture") == architecture)
      return field(paragraph, "Version");
  }
  return {};
}

/// Into `text`, whose memory is used again: there are thousands of small files.
bool read_file(const std::string& path, std::string& text) {
  constexpr std::size_t most = 64 << 20;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat status {};
  bool good = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
              static_cast<std::uint64_t>(status.st_size) <= most;
  if (good) {
    text.resize(static_cast<std::size_t>(status.st_size));
    good = ::read(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  ::close(fd);
  return good;
}

/// `line` is the path between ends of lines. It may be from before /lib was merged into /usr/lib.
bool has_path(std::string_view text, std::string_view line) {
  constexpr std::string_view usr = "\n/usr";
  const std::string_view path = line.starts_with(usr) ? line.substr(usr.size()) : line.substr(1);
  while (true) {
    const void* const at = ::memmem(text.data(), text.size(), path.data(), path.size());
    if (!at) return false;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
    const std::string_view before = text.substr(0, offset);
    if (before.ends_with('\n') || before.ends_with(usr)) return true;
    text.remove_prefix(offset + 1);
  }
}

bool is_where_packages_are(std::string_view path) {
  constexpr std::array<std::string_view, 6> folders = {"/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/etc/"};
  return !path.starts_with("/usr/local/") &&
         std::ranges::any_of(folders, [&](std::string_view folder) { return path.starts_with(folder); });
}

} // namespace

std::vector<Package> installed_packages(std::span<const std::string> paths) {
  namespace fs = std::filesystem;
  std::vector<Package> found(paths.size());
  std::vector<std::string> lines; // empty: no package has such a path
  for (const std::string& path : paths)
    lines.push_back(is_where_packages_are(path) ? '\n' + path + '\n' : std::string());
  std::size_t missing = lines.size() - static_cast<std::size_t>(std::ranges::count(lines, std::string()));
  if (missing == 0) return found;
  std::string text;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(std::string(database) + "info", error)) {
    if (missing == 0) break;
    const std::string& list = entry.path().native();
    if (!list.ends_with(".list") || !read_file(list, text)) continue;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].empty() || !found[i].name.empty() || !has_path(text, lines[i])) continue;
      const std::string stem = entry.path().stem().string(); // "libc6:amd64"
      const std::size_t colon = std::min(stem.find(':'), stem.size());
      found[i].name = stem.substr(0, colon);
      found[i].manager = Package::Manager::apt;
      found[i].version = installed_version(found[i].name, stem.substr(std::min(colon + 1, stem.size())));
      --missing;
    }
  }
  return found;
}

std::vector<Package> InstalledPackages::find(std::span<const std::string> paths) {
  constexpr std::size_t most = 1 << 16;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= most) known_.clear();
  std::vector<std::string> unknown;
  for (const std::string& path : paths)
    if (!known_.contains(path)) unknown.push_back(path);
  std::vector<Package> found = installed_packages(unknown);
  for (std::size_t i = 0; i < unknown.size(); ++i) known_[unknown[i]] = std::move(found[i]);
  std::vector<Package> packages;
  for (const std::string& path : paths) packages.push_back(known_[path]);
  return packages;
}

std::optional<Package> noted_package(modules::Module& module) {
  using Manager = Package::Manager;
  const elf::Image* const image = module.file().look().image();
  auto note = image ? elf::package_note(*image) : std::nullopt;
  if (!note) return std::nullopt;
  Manager manager = note->type == "deb" ? Manager::apt : Manager::unknown;
  if (note->type == "rpm") manager = note->os.find("suse") != note->os.npos ? Manager::zypper : Manager::dnf;
  return Package{std::move(note->name), std::move(note->version), manager};
}

std::vector<Package> packages_of(std::span<modules::Module* const> modules, InstalledPackages& installed) {
  std::vector<Package> packages(modules.size());
  std::vector<std::string> paths;
  std::vector<std::size_t> asked;
  bool is_of_database = true;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    modules::Module& module = *modules[i];
    if (module.generated() || module.info().vdso) continue;
    if (auto noted = noted_package(module)) {
      packages[i] = std::move(*noted);
      continue;
    }
    std::string path = module.file_options().sysroot.empty() ? module.file().verified_path() : std::string();
    // A program that no package has crashes in libraries, too: the lists are not read for these alone.
    const bool has_database = is_where_packages_are(path);
    if (i == 0) is_of_database = has_database;
    if (!has_database || !is_of_database) continue;
    paths.push_back(std::move(path));
    asked.push_back(i);
  }
  if (paths.empty()) return packages;
  std::vector<Package> found = installed.find(paths);
  for (std::size_t i = 0; i < asked.size(); ++i) packages[asked[i]] = std::move(found[i]);
  return packages;
}

namespace {

/// What a manager's command calls a package's debug symbols.
std::string symbols_of(const Package& package) {
  switch (package.manager) {
  case Package::Manager::apt:
    return package.name + (package.name == "libc6" ? "-dbg" : "-dbgsym"); // the only one not by debhelper
  case Package::Manager::dnf:
    return package.version.empty() ? package.name : package.name + '-' + package.version;
  case Package::Manager::zypper: return package.name + "-debuginfo";
  case Package::Manager::unknown: break;
  }
  return {};
}

/// Names come from files, and a user may paste the command.
bool is_plain(std::string_view name) {
  return !name.empty() && !name.starts_with('-') && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("+-._~^:").find(c) != std::string_view::npos;
  });
}

} // namespace

std::vector<std::string> commands_for_symbols(std::span<const Package> packages) {
  constexpr std::array<std::pair<Package::Manager, std::string_view>, 3> managers = {
      {{Package::Manager::apt, "apt install"},
       {Package::Manager::dnf, "dnf debuginfo-install"},
       {Package::Manager::zypper, "zypper install"}}};
  std::vector<std::string> commands;
  for (const auto& [manager, start] : managers) {
    std::set<std::string> names;
    for (const Package& package : packages)
      if (const std::string name = symbols_of(package); package.manager == manager && is_plain(name))
        names.insert(name);
    if (names.empty()) continue;
    std::string& command = commands.emplace_back(start);
    for (const std::string& name : names) command += ' ' + name;
  }
  return commands;
}

} // namespace sframe::crash
