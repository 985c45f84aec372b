// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sandbox.h"

#include "new_file.h"
#include "sframe/tool/descriptor.h"

#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <linux/landlock.h>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#ifdef SFRAME_HAVE_SECCOMP
#  include <seccomp.h>
#endif

namespace sframe::tool {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true; // sanitizer runtimes start programs and trace
#else
constexpr bool is_sanitized = false;
#endif

/// The kernel's structure as of version 6 of the interface; older headers and kernels have a shorter one.
struct RulesetAttributes {
  std::uint64_t handled_fs = 0, handled_net = 0, scoped = 0;
};

constexpr std::uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t refer = 1 << 13, truncate = 1 << 14; // versions 2 and 3
constexpr std::uint64_t write_rights = read_rights | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                       LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                                       LANDLOCK_ACCESS_FS_MAKE_DIR | refer | truncate;
constexpr std::uint64_t file_rights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | truncate;

class Landlock {
public:
  Landlock() {
    const long version =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, std::uint32_t{LANDLOCK_CREATE_RULESET_VERSION});
    if (version < 1) return;
    RulesetAttributes attributes;
    handled_ = (std::uint64_t{1} << 13) - 1;
    if (version >= 2) handled_ |= refer;
    if (version >= 3) handled_ |= truncate;
    attributes.handled_fs = handled_;
    if (version >= 4) attributes.handled_net = 3; // bind and connect of TCP
    if (version >= 6) attributes.scoped = 3; // abstract sockets and signals of processes outside the sandbox
    const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    ruleset_ = Descriptor(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0u)));
  }

  void allow(const std::string& path, std::uint64_t rights) {
    const Descriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat info {};
    if (!ruleset_.is_open() || !file.is_open() || ::fstat(file.get(), &info) != 0) return;
    if (!S_ISDIR(info.st_mode)) rights &= file_rights;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & handled_;
    rule.parent_fd = file.get();
    (void)::syscall(SYS_landlock_add_rule, ruleset_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0u);
  }

  void enforce() {
    if (ruleset_.is_open()) (void)::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0u);
  }

private:
  Descriptor ruleset_;
  std::uint64_t handled_ = 0;
};

/// The existing path that must be writable to create or replace `path`.
std::string place_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path target = final_target(path);
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) return target.string();
  // If the folder does not exist either, it is created in its first existing ancestor.
  fs::path folder = target.parent_path();
  while (!folder.empty() && !fs::exists(folder, error)) folder = folder.parent_path();
  return folder.empty() ? "." : folder.string();
}

void limit_paths(const SandboxNeeds& needs) {
  Landlock landlock;
  for (const std::string& path : needs.read) landlock.allow(path, read_rights);
  for (const char* own : {"/proc/self", "/sys/devices/system/cpu"}) landlock.allow(own, read_rights);
  const std::uint64_t links = needs.symbolic_links ? LANDLOCK_ACCESS_FS_MAKE_SYM : 0;
  std::set<std::string> places; // each needs an open file
  for (const std::string& path : needs.write)
    if (!path.empty() && path != "-") places.insert(place_of(path));
  for (const std::string& place : places) landlock.allow(place, write_rights | links);
  landlock.enforce();
}

#ifdef SFRAME_HAVE_SECCOMP
/// System calls that no program needs. A list of all allowed calls would differ too much between C libraries.
// clang-format off
constexpr const char* never_needed[] = {
    "execve", "execveat", "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto",
    "sendmsg", "sendmmsg", "mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "open_tree", "move_mount",
    "fsopen", "fsmount", "bpf", "perf_event_open", "keyctl", "add_key", "request_key", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "userfaultfd",
    "io_uring_setup", "personality", "settimeofday", "clock_settime", "sethostname", "acct", "quotactl",
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset", "process_vm_writev",
    "open_by_handle_at"};
// clang-format on
constexpr const char* needed_to_trace[] = {"ptrace", "process_vm_readv", "kill", "tkill",
                                           "pidfd_send_signal"};

void limit_calls(const SandboxNeeds& needs) {
  const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
  if (!filter) return;
  const auto refuse = [&](const char* name) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number != __NR_SCMP_ERROR) (void)::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
  };
  for (const char* name : never_needed) refuse(name);
  if (!needs.traces)
    for (const char* name : needed_to_trace) refuse(name);
  (void)::seccomp_load(filter);
  ::seccomp_release(filter);
}
#else
void limit_calls(const SandboxNeeds&) {}
#endif

} // namespace

void enter_sandbox(const SandboxNeeds& needs) {
  if (is_sanitized || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  // Landlock prevents tracing of processes outside the sandbox.
  if (!needs.traces) limit_paths(needs);
  limit_calls(needs);
}

} // namespace sframe::tool
