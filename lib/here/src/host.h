// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the ABI that this is compiled for. A new one gets a folder with a host.h that defines the same
// names, and a line here.

#pragma once

#if defined(__x86_64__) && defined(__LP64__)
#  include "amd64/host.h"
#elif defined(__aarch64__)
#  include "aarch64/host.h"
#elif defined(__s390x__)
#  include "s390x/host.h"
#else
#  error "sframe::here knows AMD64, AArch64 and s390x"
#endif
