// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder.h"

namespace sframe::profile_tool {

Result<profile::Recording> record(const RecordOptions&, tool::MessageSink&) {
  return fail("cannot record: this program was built without SFRAME_BPF (it can read recordings of perf)");
}

} // namespace sframe::profile_tool
