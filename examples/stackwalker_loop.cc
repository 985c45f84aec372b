// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stackwalker_loop PID [SECONDS [COUNT]]: the loop of the StackwalkerAPI manual, section "Debugger
// Interface": prints the stacks of another process every five seconds until it ends, and the events in
// between. Programs written for that API change as follows:
//
//   Walker::newWalker(pid)               ProcessMonitor::attach(pid, {}), and a Walker per stop
//   walker->walkStack(swalk)             stop(), walk() for each of threads(), resume()
//   select() on getNotificationFD()      poll() on notification_fd()
//   handleDebugEvent()                   handle_events(), which only reports: the process does not wait

//   isTerminated()                       is_terminated()

#include "print_frames.h"

#include "sframe/process/process_monitor.h"
#include "sframe/steppers/steppers.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <poll.h>

namespace {

using namespace sframe;

/// One stop of the process. False, with the reason, if it cannot be stopped.
bool walk_once(process::LiveProcess& process, modules::ElfSymbols& symbols) {
  if (const auto stopped = process.stop(); !stopped) {
    std::fprintf(stderr, "%s\n", stopped.error().text().c_str());
    return false;
  }
  process::LiveSpace& space = process.space();
  unwind::Walker walker(space, steppers::default_steppers(space.abi(), space.main_module()));
  example::print_stacks(walker, process, symbols);
  process.resume();
  return true;
}

/// Prints events until the time is over or the process ends.
void wait_for_next(process::ProcessMonitor& monitor, const process::LiveProcess& process, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto next =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (!process.is_terminated() && Clock::now() < next) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    pollfd events = {.fd = monitor.notification_fd(), .events = POLLIN, .revents = 0};
    if (::poll(&events, 1, static_cast<int>(left.count())) <= 0) continue;
    for (const process::DebugEvent& event : monitor.handle_events())
      std::printf("event: %s, thread %u\n", process::name(event.kind), event.tid);
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fputs("usage: stackwalker_loop PID [SECONDS [COUNT]]\n", stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // line by line, even to a pipe
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 5;
  const long most = argc > 3 ? std::strtol(argv[3], nullptr, 10) : -1; // -1: as long as the process lives

  const auto monitor = process::ProcessMonitor::create();
  if (!monitor) {
    std::fprintf(stderr, "%s\n", monitor.error().text().c_str());
    return 2;
  }
  const auto attached = (*monitor)->attach(static_cast<std::uint32_t>(std::strtol(argv[1], nullptr, 10)), {});
  if (!attached) {
    std::fprintf(stderr, "%s\n", attached.error().text().c_str());
    return 2;
  }
  process::LiveProcess& process = **attached;
  modules::ElfSymbols symbols;
  for (long count = 0; count != most && !process.is_terminated(); ++count) {
    std::printf("walk %ld\n", count + 1);
    if (!walk_once(process, symbols) && !process.is_terminated()) return 1;
    wait_for_next(**monitor, process, seconds);
  }
  std::puts(process.is_terminated() ? "the process has ended" : "the process goes on");
  return 0;
}
