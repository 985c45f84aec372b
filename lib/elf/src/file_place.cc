// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file must not be read where that has side effects, and a look-up must not wait for another machine. The
// first is known of a file that is open (check_place(), by the number of its file system). The second has to
// be known before the kernel is asked: find_obstacle() follows the path itself (PathFollower), and looks up
// nothing in a file system that may wait (network, FUSE) unless it is allowed and answers a probe.

#include "file_place.h"
#include "path_follower.h"
#include "sframe/elf/file_systems.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <utility>

namespace sframe::elf {

namespace fs = std::filesystem;

namespace {

/// Synthetic file systems: reading their files does not return stored bytes, or has side effects. Their
/// numbers are those of linux/magic.h, of which older kernels' headers lack some.
constexpr std::uint32_t made_up[] = {
    0x9fa0,     // proc
    0x62656572, // sysfs
    0x64626720, // debugfs
    0x74726163, // tracefs
    0x73636673, // securityfs
    0x27e0eb,   // cgroup
    0x63677270, // cgroup2
    0xcafe4a11, // bpf
    0x1cd1,     // devpts
    0x19800202, // mqueue
    0x6165676c, // pstore
    0x62656570, // configfs
    0xde5e81e4, // efivarfs
    0x42494e4d, // binfmt_misc
    0xf97cff8c, // selinux
    0x43415d53, // smack
    0x5a3c69f0, // apparmor
    0x7655821,  // resctrl
    0x6e736673, // nsfs
    0x50495045, // pipefs
    0x534f434b, // sockfs
    0x09041934, // anonymous inodes
    0x65735543, // fusectl
    0x67596969, // rpc_pipefs
    0x6e667364, // nfsd
    0x0187,     // autofs
    0xabba1974, // xenfs
    0x9fa2,     // usbdevfs
    0x9fa1,     // openprom
    0x444d4142, // dma-buf
    0x454d444d, // devmem
    0x5345434d, // secretmem
    0x50494446, // pidfs
};

/// File systems that wait for another machine or a program: their numbers, and their types in lists of mounts
/// if these are of them.
struct NetworkFileSystem {
  std::uint32_t number;
  std::string_view type;
};
constexpr NetworkFileSystem of_network[] = {
    {0x6969, "nfs"},         {0x6969, "nfs4"},         {0x517b, "smbfs"},      {0xfe534d42, "smb3"},
    {0xff534d42, "cifs"},    {0x5346414f, "afs"},      {0x6b414653, "kafs"},   {0x73757245, "coda"},
    {0x00c36400, "ceph"},    {0x01021997, "9p"},       {0x564c, "ncpfs"},      {0x65735546, "fuse"},
    {0x65735546, "fuseblk"}, {0x6a656a63, "virtiofs"}, {0x0bd00bd0, "lustre"}, {0x01161970, "gfs2"},
    {0x7461636f, "ocfs2"},   {0x19830326, "beegfs"},   {0x47504653, "gpfs"},   {0x20030528, "orangefs"},
    {0x0187, "autofs"}, // mounts others at the first look-up
};
constexpr std::string_view on_demand = "autofs";

constexpr const char* on_network_text = "not opened: on a network file system";

/// Types of FUSE may have a suffix: "fuse.sshfs".
bool is_network_type(std::string_view type) {
  return std::ranges::find(of_network, type.substr(0, type.find('.')), &NetworkFileSystem::type) !=
         std::end(of_network);
}

/// Why the file system of `fd` is not allowed, or nullptr.
const char* check_file_system(int fd, bool network) {
  struct statfs found {};
  if (::fstatfs(fd, &found) != 0) return "not opened: cannot determine its file system";
  const auto type = static_cast<std::uint32_t>(found.f_type);
  if (std::ranges::find(made_up, type) != std::end(made_up)) return "not opened: on a virtual file system";
  if (network || std::ranges::find(of_network, type, &NetworkFileSystem::number) == std::end(of_network))
    return nullptr;
  struct stat file {
  }, root{};
  if (::fstat(fd, &file) == 0 && ::stat("/", &root) == 0 && file.st_dev == root.st_dev) return nullptr;
  return on_network_text;
}

} // namespace

const char* check_place(int place, bool network) {
  struct stat info {};
  if (place < 0 || ::fstat(place, &info) != 0 || !S_ISREG(info.st_mode)) return nullptr;
  return check_file_system(place, network);
}

namespace {

/// True if look-ups may have to wait. The file system of "/" is where the program itself is.
bool may_wait(const Mount& mount) {
  static const auto own = own_mounts();
  return is_network_type(mount.type) && !(own->root() && mount.device == own->root()->device);
}

bool any_may_wait(const MountTable& table) {
  return std::ranges::any_of(table.mounts(), may_wait);
}

/// What is known of file systems that may wait.
class Answers {
public:
  void set_probe(std::shared_ptr<FileSystemProbe> probe) {
    const std::lock_guard lock(mutex_);
    probe_ = std::move(probe);
  }

  bool does_answer(const Mount& mount, const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!probe_) return true;
    // What is to be mounted may answer or not by its name.
    const auto key = std::pair(mount.device, mount.type == on_demand ? path : std::string());
    Answer& known = known_[key];
    const auto now = Clock::now();
    if (known.negative || now < known.good_until) return !known.negative;
    known.negative = !probe_->answers(path);
    known.good_until = Clock::now() + std::chrono::seconds(1);
    return !known.negative;
  }

private:
  using Clock = std::chrono::steady_clock;
  struct Answer {
    bool negative = false;
    Clock::time_point good_until{}; ///< it may cease to answer later
  };
  std::mutex mutex_;
  std::shared_ptr<FileSystemProbe> probe_;
  std::map<std::pair<std::uint64_t, std::string>, Answer> known_;
};

Answers& answers() {
  static Answers all;
  return all;
}

} // namespace

bool does_answer(const Mount& mount, const std::string& path) {
  return !may_wait(mount) || answers().does_answer(mount, path);
}

namespace {

std::optional<std::string> refusal(const Mount& mount, const std::string& path, bool network) {
  if (!network && may_wait(mount)) return on_network_text;
  if (does_answer(mount, path)) return std::nullopt;
  return "not opened: the file system at " + mount.point + " (" + std::string(mount.type) +
         ") does not answer";
}

} // namespace

void set_file_system_probe(std::shared_ptr<FileSystemProbe> probe) {
  answers().set_probe(std::move(probe));
}

bool has_network_file_systems(std::uint32_t pid) {
  static const bool own = any_may_wait(*own_mounts());
  return pid == 0 ? own : any_may_wait(*mounts_of(std::to_string(pid)));
}

std::optional<std::string> find_obstacle(const std::string& path, const File::AllowedFiles& allowed) {
  const auto is_of_process = [](std::string_view name) { return name.starts_with("/proc/"); };
  if (!has_network_file_systems() && !is_of_process(path) && !is_of_process(allowed.root))
    return std::nullopt;
  std::optional<std::string> why;
  PathFollower follower([&](const Mount& mount, const std::string& at) {
    why = refusal(mount, at, allowed.network);
    return !why;
  });
  std::error_code error; // without a current folder
  const bool has_root = !allowed.root.empty();
  const bool found = !has_root || follower.follow(fs::absolute(allowed.root, error));
  if (found && has_root) follower.stay();
  if (found && follower.follow(has_root ? fs::path(path) : fs::absolute(path, error))) return std::nullopt;
  return why ? why : std::string("not opened: ") + std::strerror(ELOOP);
}

std::string path_in_root(const std::string& root, std::string_view path) {
  if (root.empty()) return std::string(path);
  PathFollower follower([&](const Mount& mount, const std::string& at) { return does_answer(mount, at); });
  std::error_code error;
  const bool may_look = follower.follow(fs::absolute(root, error));
  follower.stay();
  const fs::path inside = may_look ? (follower.follow(path), fs::path(follower.inside()))
                                   : ("/" / fs::path(path)).lexically_normal();
  return (fs::path(root) / inside.relative_path()).string();
}

} // namespace sframe::elf
