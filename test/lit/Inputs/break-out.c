// To be preloaded: before the first output is written, and so after the inputs are known, tries what a program that was
// taken over would, and writes down what the kernel answers to the descriptor that $BREAK_OUT names. $BREAK_MORE: also
// what only a sandbox makes harmless. What is tried has arguments that have no effect where it is permitted, as far as
// there are such.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int to;

static void note(const char* what, long result) {
  dprintf(to, "%s: %s\n", what, result < 0 ? strerror(errno) : "done");
}

// A process that is made ends at once.
static void note_process(const char* what, long process) {
  if (process == 0) _exit(0);
  note(what, process);
}

static void try_files(void) {
  struct timespec times[2] = {{1, 0}, {1, 0}};
  note("open to write", open("victim", O_WRONLY));
  note("open to read and write", open("victim", O_RDWR));
  note("open to truncate", open("victim", O_RDONLY | O_TRUNC));
  note("open without a name", open(".", O_TMPFILE | O_RDWR, 0600));
  note("creat", creat("made", 0600));
  note("truncate", truncate("victim", 0));
  note("mkdir", mkdir("made", 0700));
  note("rmdir", rmdir("folder"));
  note("mkfifo", mkfifo("made", 0600));
  note("mknod", mknod("made", S_IFREG | 0600, 0));
  note("symlink", symlink("victim", "made"));
  note("link", link("victim", "made"));
  note("rename", rename("victim", "made"));
  note("rename a folder", rename("folder", "made"));
  note("exchange", renameat2(AT_FDCWD, "victim", AT_FDCWD, "folder", RENAME_EXCHANGE));
  note("chmod", chmod("victim", 0777));
  note("fchmod", fchmod(to, 0777));
  note("chown", chown("victim", 1, 1));
  note("lchown", lchown("victim", 1, 1));
  note("fchown", fchown(to, 1, 1));
  note("setxattr", syscall(SYS_setxattr, "victim", "user.a", "b", 1, 0));
  note("removexattr", syscall(SYS_removexattr, "victim", "user.a"));
  note("utimensat", utimensat(AT_FDCWD, "victim", times, 0));
  note("futimens", futimens(to, times));
}

static void try_processes(void) {
  const pid_t parent = getppid();
  struct rlimit limit = {1, 1};
  char byte = 'x';
  struct iovec piece = {&byte, 1};
  note_process("fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  note_process("user name space", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  note_process("name spaces", syscall(SYS_clone, CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0));
  note_process("clone3", syscall(SYS_clone3, NULL, 0));
  note("unshare", unshare(CLONE_NEWUSER));
  note("setns", setns(-1, 0));
  note("kill", kill(parent, 0));
  note("kill all", kill(-1, 0));
  note("tgkill", syscall(SYS_tgkill, parent, parent, 0));
  note("tkill", syscall(SYS_tkill, parent, 0));
  note("queue a signal", syscall(SYS_rt_sigqueueinfo, parent, 0, NULL));
  note("pidfd_open", syscall(434, parent, 0));
  note("pidfd_getfd", syscall(438, -1, 0, 0));
  note("limits of others", prlimit(parent, RLIMIT_CORE, &limit, NULL));
  note("priority of others", setpriority(PRIO_PROCESS, parent, 0));
  note("ioprio of others", syscall(SYS_ioprio_set, 1, parent, 0));
  note("cores of others", syscall(SYS_sched_setaffinity, parent, 0, NULL));
  note("scheduler of others", syscall(SYS_sched_setscheduler, parent, -1, NULL));
  note("owner of a file's signals", fcntl(to, F_SETOWN, parent));
  note("a file's signal", fcntl(to, F_SETSIG, SIGKILL));
  note("lease", fcntl(to, F_SETLEASE, F_WRLCK));
  note("read memory", process_vm_readv(parent, &piece, 0, &piece, 0, 0));
  note("write memory", process_vm_writev(parent, &piece, 0, &piece, 0, 0));
  note("process_madvise", syscall(440, -1, NULL, 0, 0, 0));
}

static void try_system(void) {
  note("type", ioctl(0, TIOCSTI, "x"));
  note("type, with more bits", syscall(SYS_ioctl, 0, 0x100000000 | TIOCSTI, "x"));
  note("take the terminal", ioctl(0, TIOCSCTTY, 1));
  note("paste", ioctl(0, TIOCLINUX, ""));
  note("vhangup", syscall(SYS_setdomainname, NULL, -1) < 0 && errno == EPERM ? syscall(SYS_vhangup) : 0);
  note("setdomainname", syscall(SYS_setdomainname, NULL, -1));
  note("sethostname", syscall(SYS_sethostname, NULL, -1));
  note("fanotify_init", syscall(SYS_fanotify_init, 0, 0));
  note("inotify_init1", syscall(SYS_inotify_init1, 0));
  note("mount", syscall(SYS_mount, NULL, NULL, NULL, -1L, NULL));
  note("umount2", syscall(SYS_umount2, NULL, -1));
  note("chroot", syscall(SYS_chroot, NULL));
  note("pivot_root", syscall(SYS_pivot_root, NULL, NULL));
  note("open_tree", syscall(428, -1, NULL, -1));
  note("fsopen", syscall(430, NULL, -1));
  note("bpf", syscall(SYS_bpf, -1, NULL, 0));
  note("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
  note("userfaultfd", syscall(SYS_userfaultfd, -1));
  note("io_uring_setup", syscall(425, 0, NULL));
  note("keyctl", syscall(SYS_keyctl, -1));
  note("add_key", syscall(SYS_add_key, NULL, NULL, NULL, 0, 0));
  note("shmget", syscall(SYS_shmget, 1, 0, 0));
  note("msgget", syscall(SYS_msgget, 1, 0));
  note("semget", syscall(SYS_semget, 1, 0, 0));
  note("mq_open", syscall(SYS_mq_open, NULL, 0));
  note("init_module", syscall(SYS_init_module, NULL, 0, NULL));
  note("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, -1L));
  note("clock_settime", syscall(SYS_clock_settime, -1, NULL));
  note("personality", syscall(SYS_personality, 0xffffffff));
  note("setuid", setuid(getuid()));
  note("setgroups", syscall(SYS_setgroups, -1, NULL));
  note("capset", syscall(SYS_capset, NULL, NULL));
  note("open_by_handle_at", syscall(SYS_open_by_handle_at, -1, NULL, 0));
  note("quotactl", syscall(SYS_quotactl, -1, NULL, 0, NULL));
  const unsigned long long how[3] = {O_WRONLY}, empty[3] = {O_RDONLY | O_TRUNC};
  note("openat2 to write", syscall(437, AT_FDCWD, "victim", how, sizeof how));
  note("openat2 to truncate", syscall(437, AT_FDCWD, "victim", empty, sizeof empty));
  note("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, NULL));
  note("memory that nobody sees", syscall(447, -1));
  note("a call of the future", syscall(500, 0, 0, 0));
#ifdef __x86_64__
  note("another ABI's call", syscall(0x40000000 | SYS_getppid));
#endif
}

static void ask(int fd, unsigned char operation, const char* path, unsigned path_size) {
  struct {
    unsigned char operation, links, has_mode, gets_attributes;
    unsigned mode, path_size;
    unsigned long long value;
    char path[64];
  } request = {.operation = operation, .has_mode = 1, .mode = 0777, .path_size = path_size};
  struct {
    _Alignas(8) char head[16];
    char text[256];
  } reply = {{0}, {0}};
  memcpy(request.path, path, path_size);
  struct iovec out = {&request, offsetof(__typeof__(request), path) + path_size}, in = {&reply, sizeof reply - 1};
  struct msghdr sent = {.msg_iov = &out, .msg_iovlen = 1}, got = {.msg_iov = &in, .msg_iovlen = 1};
  if (sendmsg(fd, &sent, 0) < 0) return;
  if (recvmsg(fd, &got, 0) >= 16) dprintf(to, "asked %d: %s\n", operation, reply.text);
}

// The process that writes files (tools/common/src/writing_process.cc) must refuse names that are no outputs, also if
// they look like $BREAK_OUTPUT.
static void ask_for_files(void) {
  char cut[64] = "made", linked[64] = "link/../";
  const char* const output = getenv("BREAK_OUTPUT");
  if (output) {
    strcpy(cut + sizeof "made", "/../");
    strcpy(cut + sizeof "made/../", output);
    strcat(linked, output);
  }
  for (int fd = 3; fd < 64; ++fd) {
    for (unsigned char operation = 0; operation < 10; ++operation) {
      if (operation == 1 || operation == 2 || operation == 4) continue; // without a name
      ask(fd, operation, "victim", 6);
      if (!output) continue;
      ask(fd, operation, cut, sizeof "made/../" + strlen(output));
      ask(fd, operation, linked, strlen(linked));
    }
  }
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static int tried;
  if (!tried) {
    tried = 1;
    to = atoi(getenv("BREAK_OUT"));
    note("read", open("/etc/passwd", O_RDONLY));
    note("make", open("made", O_WRONLY | O_CREAT, 0600));
    note("remove", unlink("victim"));
    const int to_host = socket(AF_INET, SOCK_STREAM, 0);
    note("socket", to_host);
    struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons(9)};
    host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (to_host >= 0) note("connect", connect(to_host, (struct sockaddr*)&host, sizeof host));
    note("trace", syscall(SYS_ptrace, 0x4206, 0x7ffffff0, 0, 0)); // PTRACE_SEIZE; no such process
    char* const no_arguments[] = {(char*)"true", NULL};
    note("execute", execve("/bin/true", no_arguments, no_arguments + 1));
    if (getenv("BREAK_MORE")) {
      note("read a neighbour", open("neighbour", O_RDONLY));
      note("list a folder", open(".", O_RDONLY | O_DIRECTORY));
      try_files();
      try_processes();
      try_system();
      ask_for_files();
      dprintf(to, "end\n");
    }
  }
  return syscall(SYS_write, fd, bytes, size);
}
