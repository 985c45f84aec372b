// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reader.h"

#include "sframe/base/text.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"
#include "sframe/perf/read_recording.h"

namespace sframe::profile_tool {

Result<ReadFile> read_recording(tool::App& app, Options& options) {
  const auto file = elf::File::open(options.file);
  if (!file) return unexpected(file.error());
  auto budget = std::make_shared<Budget>(app.limits(), file->bytes().size());
  options.record.files.budget = budget;
  const auto data = perf::Data::parse(file->bytes(), budget.get());
  if (!data && elf::Image::is_elf(file->bytes()))
    return fail(data.error().what + "; a program to record follows --");
  if (!data) return unexpected(data.error());
  const bool is_chosen = app.cli().count("--event") != 0;
  auto result = perf::read_recording(
      *data, {.files = options.record.files, .event = is_chosen ? options.record.event : std::string()});
  if (!result) return unexpected(result.error());
  for (const Problem& problem : result->problems) app.messages().warning(options.file, problem);
  for (const auto& [event, count] : result->other_events) {
    std::string text = counted(count, "sample");
    text.append(" of event ").append(event).append(" left out (-e ").append(event).append(")");
    app.messages().note(options.file, text);
  }
  const auto limit = budget->problem();
  if (limit) app.messages().warning(options.file, *limit);
  return ReadFile{std::move(result->recording), result->problems.empty() && !limit};
}

} // namespace sframe::profile_tool
