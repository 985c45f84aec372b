/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   A library for LD_PRELOAD: there are no timers of processor time, so the limits of the process do not apply. What
   the other limits leave out does not depend on the machine. */

#include <errno.h>
#include <signal.h>
#include <time.h>

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
  (void)clock, (void)event, (void)timer;
  errno = ENOTSUP;
  return -1;
}
