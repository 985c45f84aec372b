// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/interruption.h"

#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace sframe::tool {

namespace {

volatile int event = -1;
volatile std::sig_atomic_t first_number = 0, first_is_from_process = 0;

bool is_handled_by(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
         now.sa_sigaction == handler;
}

} // namespace

Interruption::Interruption(bool wanted) {
  if (!wanted) return;
  first_number = 0;
  first_is_from_process = 0;
  event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) return;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    struct sigaction action {};
    if (::sigaction(numbers[i], nullptr, &before_[i]) != 0 || before_[i].sa_handler == SIG_IGN) continue;
    action.sa_sigaction = on_signal;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND | SA_SIGINFO);
    (void)::sigaction(numbers[i], &action, nullptr);
  }
}

int Interruption::fd() const {
  return event;
}

int Interruption::number() const {
  return first_number;
}

bool Interruption::is_from_process() const {
  return first_is_from_process != 0;
}

void Interruption::end() {
  if (event < 0) return;
  for (std::size_t i = 0; i < numbers.size(); ++i) (void)::sigaction(numbers[i], &before_[i], nullptr);
  ::close(std::exchange(event, -1));
}

void Interruption::on_signal(int number, siginfo_t* information, void*) {
  const int error = errno;
  first_number = number;
  first_is_from_process = information->si_code != SI_KERNEL;
  (void)::eventfd_write(event, 1);
  // From now on, any of these signals ends the program.
  for (const int other : numbers)
    if (is_handled_by(other, on_signal)) (void)std::signal(other, SIG_DFL);
  errno = error;
}

} // namespace sframe::tool
