// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules are made of what a program states that it needs (SandboxNeeds), by Landlock for files and seccomp
// for system calls, each as far as the kernel supports it.

#include "sandbox.h"

#include "new_file.h"
#include "sframe/elf/kept_places.h"
#include "sframe/tool/descriptor.h"
#include "writing_process.h"

#include <asm/termbits.h>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <linux/landlock.h>
#include <sched.h>
#include <set>
#include <span>
#include <string>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <vector>

#ifdef SFRAME_HAVE_SECCOMP
#  include <linux/filter.h>
#  include <linux/seccomp.h>
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

  enum class What : bool { anything, file_only };
  void allow(const std::string& path, std::uint64_t rights, What what = What::anything) {
    const Descriptor file(::open(elf::reachable(path).c_str(), O_PATH | O_CLOEXEC));
    is_complete_ &= file.is_open() || (errno != EMFILE && errno != ENFILE && errno != ENOMEM);
    struct stat info {};
    if (!ruleset_.is_open() || !file.is_open() || ::fstat(file.get(), &info) != 0) return;
    if (what == What::file_only && !S_ISREG(info.st_mode)) return;
    if (!S_ISDIR(info.st_mode)) rights &= file_rights;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & handled_;
    rule.parent_fd = file.get();
    (void)::syscall(SYS_landlock_add_rule, ruleset_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0u);
  }

  /// Whether it limits every way of opening a file to change it. Nothing is enforced if this process could
  /// not open what is to be allowed: the program would be refused its inputs, for a reason that is not the
  /// true one.
  bool enforce() {
    return ruleset_.is_open() && is_complete_ &&
           ::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0u) == 0 && (handled_ & truncate) != 0;
  }

private:
  Descriptor ruleset_;
  std::uint64_t handled_ = 0;
  bool is_complete_ = true;
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

/// The existing paths below which files are made or replaced.
std::set<std::string> places_of(const SandboxNeeds& needs) {
  std::set<std::string> places; // each needs an open file
  std::error_code error;
  for (const std::string& path : needs.write)
    if (is_place(path)) places.insert(place_of(path));
  for (const std::string& path : needs.write_below)
    if (is_place(path)) places.insert(place_of(path + "/."));
  for (const std::string& path : needs.replace_below)
    if (is_place(path)) places.insert(std::filesystem::is_directory(path, error) ? path : place_of(path));
  return places;
}

/// What a process does after it has entered the sandbox.
struct Role {
  bool reads = false;  ///< what the needs name
  bool writes = false; ///< the same
};

/// Whether no other file can be changed, however it is opened.
bool limit_paths(const SandboxNeeds& needs, Role role) {
  Landlock landlock;
  if (role.reads) {
    for (const std::string& path : needs.read) landlock.allow(path, read_rights);
    for (const std::string& path : needs.members)
      landlock.allow(path, read_rights, Landlock::What::file_only);
  }
  for (const char* own : {"/proc/self", "/sys/devices/system/cpu"}) landlock.allow(own, read_rights);
  const std::uint64_t links = needs.symbolic_links ? LANDLOCK_ACCESS_FS_MAKE_SYM : 0;
  if (role.writes)
    for (const std::string& place : places_of(needs)) landlock.allow(place, write_rights | links);
  return landlock.enforce();
}

#ifdef SFRAME_HAVE_SECCOMP
// Calls by their names, since not every architecture has all of them. The list is longer than what the
// programs call today: other versions of C libraries, allocators and preloaded libraries use others of these.
// clang-format off
constexpr const char* needed[] = {
    // memory
    "brk", "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "mincore", "msync", "mlock", "mlock2", "munlock",
    "munlockall", "membarrier", "get_mempolicy", "pkey_alloc", "pkey_free", "pkey_mprotect", "memfd_create", "mseal",
    "map_shadow_stack",
    // threads of this process, and its end
    "futex", "futex_time64", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "set_robust_list",
    "get_robust_list", "set_tid_address", "rseq", "sched_yield", "sched_getaffinity", "sched_getscheduler",
    "sched_getparam", "sched_getattr", "sched_get_priority_max", "sched_get_priority_min", "getcpu", "getpriority",
    "arch_prctl", "riscv_flush_icache", "riscv_hwprobe", "exit", "exit_group", "restart_syscall", "wait4", "waitid",
    "waitpid",
    // signals
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
    "rt_sigtimedwait_time64", "sigreturn", "sigaltstack", "pause", "signalfd", "signalfd4",
    // time
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64", "clock_nanosleep",
    "clock_nanosleep_time64", "nanosleep", "gettimeofday", "time", "times", "alarm", "getitimer", "setitimer",
    "timer_create", "timer_settime", "timer_settime64", "timer_gettime", "timer_gettime64", "timer_getoverrun",
    "timer_delete", "timerfd_create", "timerfd_settime", "timerfd_settime64", "timerfd_gettime", "timerfd_gettime64",
    // open files
    "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2", "lseek",
    "_llseek", "close", "close_range", "dup", "dup2", "dup3", "pipe", "pipe2", "eventfd", "eventfd2", "poll", "ppoll",
    "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64", "epoll_create", "epoll_create1", "epoll_ctl",
    "epoll_wait", "epoll_pwait", "epoll_pwait2", "fsync", "fdatasync", "sync_file_range", "fadvise64", "fadvise64_64",
    "readahead", "cachestat", "ftruncate", "ftruncate64", "fallocate", "copy_file_range", "sendfile", "sendfile64",
    "splice", "tee", "vmsplice", "recvmsg", "sendmsg", "shutdown", "fgetxattr", "flistxattr",
    // names of files
    "stat", "stat64", "fstat", "fstat64", "lstat", "lstat64", "newfstatat", "fstatat64", "statx", "statfs", "statfs64",
    "fstatfs", "fstatfs64", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64",
    "getcwd", "getxattr", "lgetxattr", "listxattr", "llistxattr", "umask",
    // about this process and system
    "getpid", "getppid", "gettid", "getpgid", "getpgrp", "getsid", "getuid", "getuid32", "geteuid", "geteuid32", "getgid",
    "getgid32", "getegid", "getegid32", "getresuid", "getresuid32", "getresgid", "getresgid32", "getgroups",
    "getgroups32", "getrusage", "getrlimit", "ugetrlimit", "setrlimit", "capget", "uname", "sysinfo", "getrandom"};
constexpr const char* needed_to_write[] = {
    "creat", "link", "linkat", "symlink", "symlinkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir",
    "mkdirat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "chown32", "fchown", "fchown32", "lchown", "lchown32",
    "fchownat", "setxattr", "lsetxattr", "fsetxattr", "flock"};
constexpr const char* needed_to_trace[] = {"ptrace", "process_vm_readv", "kill", "tkill", "tgkill", "kcmp", "pidfd_open",
                                           "pidfd_send_signal"};
/// What fakeroot(1) does in each call that has to do with owners.
constexpr const char* needed_by_fakeroot[] = {"msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semtimedop",
                                              "semctl", "ipc"};
// clang-format on

constexpr std::uint32_t known_ioctls[] = {
    TCGETS,  TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX,
#  ifdef TCGETS2
    TCGETS2,
#  endif
};
// Not those that let the kernel send signals to other processes, or wait for a file's other users.
constexpr std::uint32_t known_fcntls[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,      F_SETFD,     F_GETFL,
                                          F_SETFL, F_GETPIPE_SZ,    F_SETPIPE_SZ, F_GET_SEALS, F_ADD_SEALS};
constexpr std::uint32_t known_prctls[] = {PR_SET_NAME,       PR_GET_NAME,     PR_GET_DUMPABLE,
                                          PR_GET_SECCOMP,    PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS,
                                          PR_GET_TIMERSLACK, 0x53564d41 /* PR_SET_VMA: names of memory */};

constexpr std::uint32_t first_unknown = 470; // of 2025
constexpr std::uint32_t opens_to_change = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
constexpr std::uint32_t new_namespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// A thread, in the name spaces of this process.
#  ifdef __s390__
constexpr unsigned clone_flags = 1;
#  else
constexpr unsigned clone_flags = 0;
#  endif

/// A filter of system calls (seccomp(2)), as a list of rules of which the first that fits counts. Made here,
/// since libseccomp takes longer for so many rules than some programs run. It is not made at build time
/// (seccomp_export_bpf()) either: it depends on the process' ID, its role and its environment, and a
/// generator would have to run on the build machine for the ABI of another one.
class Filter {
public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, ::seccomp_arch_native(), 1, 0);
    add(BPF_RET | BPF_K, refusal(EPERM));
    load(offsetof(seccomp_data, nr));
  }

  static constexpr std::uint32_t allowed = SECCOMP_RET_ALLOW;
  static constexpr std::uint32_t refusal(int error) {
    return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  }

  void rule(std::uint32_t action, std::span<const char* const> names) {
    for (const char* name : names)
      if (const int number = ::seccomp_syscall_resolve_name(name); number >= 0) rule(action, number, 1);
  }
  void rule(std::uint32_t action, const char* name) { rule(action, std::span(&name, 1)); }
  /// For calls from `number` on.
  void rule_from(std::uint32_t action, std::uint32_t number) {
    add(BPF_JMP | BPF_JGE | BPF_K, number, 0, 1);
    add(BPF_RET | BPF_K, action);
  }
  /// If the bits `mask` of an argument are one of `values`; of its first 32 bits, which are all that the
  /// kernel takes of these. Otherwise `others`.
  void rule(const char* name, unsigned argument, std::uint32_t mask, std::span<const std::uint32_t> values,
            std::uint32_t others = refusal(EPERM)) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number < 0) return;
    constexpr unsigned low = std::endian::native == std::endian::little ? 0 : 4;
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
        static_cast<std::uint8_t>(3 + 2 * values.size()));
    load(static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * argument + low));
    add(BPF_ALU | BPF_AND | BPF_K, mask);
    for (const std::uint32_t value : values) {
      add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
      add(BPF_RET | BPF_K, allowed);
    }
    add(BPF_RET | BPF_K, others);
  }

  /// Everything without a rule is refused.
  void enforce() {
    add(BPF_RET | BPF_K, refusal(EPERM));
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    (void)::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  }

private:
  void add(unsigned code, std::uint32_t k, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, k});
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void rule(std::uint32_t action, int number, std::uint8_t skipped) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, skipped);
    add(BPF_RET | BPF_K, action);
  }

  std::vector<sock_filter> code_;
};

void limit_calls(const SandboxNeeds& needs, Role role, bool has_limited_paths) {
  const bool traces = role.reads && needs.traces;
  Filter filter;
  if (traces) filter.rule(Filter::allowed, needed_to_trace);
  filter.rule(role.writes ? Filter::allowed : Filter::refusal(EACCES), needed_to_write);
  if (std::getenv("FAKEROOTKEY")) filter.rule(Filter::allowed, needed_by_fakeroot);
  filter.rule(Filter::allowed, needed);

  constexpr std::uint32_t all = 0xffff'ffff, none[] = {0}, thread[] = {CLONE_VM | CLONE_THREAD};
  const std::uint32_t changing = role.writes ? 0 : opens_to_change;
  filter.rule("open", 1, changing, none, Filter::refusal(EACCES));
  filter.rule("openat", 2, changing, none, Filter::refusal(EACCES));
  filter.rule("clone", clone_flags, thread[0] | new_namespaces, thread);
  filter.rule("ioctl", 1, all, known_ioctls);
  for (const char* name : {"fcntl", "fcntl64"}) filter.rule(name, 1, all, known_fcntls);
  filter.rule("prctl", 0, all, known_prctls);
  const std::uint32_t own[] = {static_cast<std::uint32_t>(::getpid())};
  filter.rule("prlimit64", 0, all, none);
  for (const char* name : {"kill", "tgkill"}) filter.rule(name, 0, all, own);
  // As if the kernel did not have them: then the C library does without. Their arguments are in memory; and
  // what is newer than this list.
  filter.rule(Filter::refusal(ENOSYS), "clone3");
  filter.rule(has_limited_paths ? Filter::allowed : Filter::refusal(ENOSYS), "openat2"); // for --sysroot
  filter.rule_from(Filter::refusal(ENOSYS), first_unknown);
  filter.enforce();
}
#else
void limit_calls(const SandboxNeeds&, Role, bool) {}
#endif

void confine(const SandboxNeeds& needs, Role role) {
  // Landlock prevents tracing of processes outside the sandbox.
  const bool has_limited_paths = (!needs.traces || !role.reads) && limit_paths(needs, role);
  limit_calls(needs, role, has_limited_paths);
}

} // namespace

void enter_sandbox(const SandboxNeeds& needs) {
  if (is_sanitized || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  Role role{.reads = true, .writes = !places_of(needs).empty()};
  if (role.writes && start_writing_process(needs, [&] { confine(needs, {.writes = true}); }))
    role.writes = false;
  confine(needs, role);
}

} // namespace sframe::tool
