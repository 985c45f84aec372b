// To be preloaded: before the first output is written, asks the process that fetches files from debuginfod servers
// (tools/common/src/debuginfod.cc) for the program with the build ID $ASK_ID, and waits for the answer. Writes down
// to descriptor 9 whether it is a file.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_pipe(int fd, int mode) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == mode;
}

static void ask(void) {
  const char* const id = getenv("ASK_ID");
  struct {
    uint8_t what;
    uint16_t id_size, name_size;
    uint32_t seconds;
  } request = {.id_size = (uint16_t)strlen(id), .seconds = 60};
  struct {
    uint8_t kind; // 0: progress, 1: a path follows, 2: failure
    int32_t error;
    uint32_t size;
    int64_t done, all;
  } reply;
  for (int to = 3; to < 64; ++to) {
    if (!is_pipe(to, O_WRONLY)) continue;
    syscall(SYS_write, to, &request, sizeof request);
    syscall(SYS_write, to, id, strlen(id));
  }
  for (int from = 3; from < 64; ++from)
    if (is_pipe(from, O_RDONLY))
      while (read(from, &reply, sizeof reply) == sizeof reply) {
        if (reply.kind == 0) continue;
        dprintf(9, "%s: %s\n", id, reply.kind == 1 ? "fetched" : strerror(reply.error));
        break;
      }
  _exit(0);
}

static pid_t program;
__attribute__((constructor)) static void start(void) {
  program = getpid();
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static int tried;
  if (getpid() == program && !tried++) ask(); // not in the fetching process
  return syscall(SYS_write, fd, bytes, size);
}
