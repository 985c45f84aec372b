// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/builder.h.

#include "sframe/c/builder.h"

#include "guard.h"
#include "section.h"

#include "sframe/base/problem.h"
#include "sframe/convert.h"
#include "sframe/optimize.h"

using namespace sframe;

struct sframe_builder {
  explicit sframe_builder(BuildOptions options)
      : merge_functions(options.merge_functions), builder(std::move(options)) {}

  bool merge_functions; ///< for convert(), Builder itself ignores it
  Builder builder;
};

namespace {

/// The options in C++; nothing, with a report, if they are invalid. `abi` is used if they name none.
std::optional<BuildOptions> take_options(const sframe_build_options* given, const AbiTraits* abi,
                                         sframe_error* error) {
  const auto options = c::take(given);
  if (!options) {
    c::report_size(error);
    return std::nullopt;
  }
  const auto refuse = [&](const char* why) -> std::optional<BuildOptions> {
    c::report(error, SFRAME_INVALID, why);
    return std::nullopt;
  };
  if (options->abi && abi && abi->name != options->abi) return refuse("the sections are of another ABI");
  if (options->abi) abi = find_abi(std::string_view(options->abi));
  if (!abi) return refuse("unknown ABI");
  const std::uint32_t number = options->version ? options->version : all_versions().back()->number;
  const VersionTraits* const version =
      number < 256 ? find_version(static_cast<std::uint8_t>(number)) : nullptr;
  if (!version) return refuse("unknown version of the format");
  if (!options->aux_header && options->aux_header_size) {
    c::report_null(error);
    return std::nullopt;
  }

  BuildOptions taken;
  taken.version = static_cast<VersionNumber>(version->number);
  taken.abi = abi->id;
  switch (options->byte_order) {
  case SFRAME_BYTE_ORDER_OF_ABI: break;
  case SFRAME_BYTE_ORDER_LITTLE: taken.byte_order = ByteOrder::little; break;
  case SFRAME_BYTE_ORDER_BIG: taken.byte_order = ByteOrder::big; break;
  default: return refuse("unknown byte order");
  }
  taken.merge_rows = !options->keep_equal_rows;
  taken.merge_functions = options->merge_functions;
  taken.share_rows = options->share_rows;
  taken.pcrel = !options->section_relative;
  taken.frame_pointer = options->frame_pointer;
  const auto* const aux = static_cast<const std::byte*>(options->aux_header);
  taken.aux_header.assign(aux, aux + options->aux_header_size);
  return taken;
}

std::optional<Fde> from_c(const sframe_function& function) {
  if (function.block_size > UINT8_MAX) return std::nullopt;
  Fde fde;
  fde.start = function.start;
  fde.size = function.length;
  if (function.block_size) {
    fde.pc_type = PcType::mask;
    fde.rep_size = static_cast<std::uint8_t>(function.block_size);
  }
  fde.signal_frame = function.signal_frame;
  fde.pauth_key = function.pauth_key_b ? PauthKey::b : PauthKey::a;
  return fde;
}

} // namespace

sframe_status c::report_refusal(sframe_error* error, const Refusal& refusal) {
  static_assert(Refusal::none == SFRAME_UNKNOWN);
  std::string text = std::string(message(refusal.reason)) + " (function " + hex(refusal.function);
  if (refusal.row != Refusal::none) text += ", row " + std::to_string(refusal.row);
  return report(error, text + ")",
                {.status = SFRAME_REFUSED, .function = SFRAME_UNKNOWN, .row = refusal.row});
}

sframe_status c::take_function(const sframe_function* function, const sframe_row* rows, std::size_t num_rows,
                               Fde& fde, std::vector<FrameRow>& taken, sframe_error* error) {
  const auto given = take(function);
  if (!given || !is_array(rows, num_rows)) return report_size(error);
  const auto converted_fde = ::from_c(*given);
  if (!converted_fde) return report(error, SFRAME_INVALID, "the block size is above 255");
  fde = *converted_fde;
  for (std::size_t i = 0; i < num_rows; ++i) {
    const auto row = take(element(rows, i), rows->size);
    if (!row) return report_size(error);
    const auto converted = from_c(*row);
    if (!converted) return report(error, SFRAME_INVALID, "unknown kind of rule");
    taken.push_back(*converted);
  }
  return SFRAME_OK;
}

sframe_builder* sframe_builder_make(const sframe_build_options* options, sframe_error* error) {
  if (!options) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_builder* {
    auto taken = take_options(options, nullptr, error);
    return taken ? new sframe_builder(std::move(*taken)) : nullptr;
  });
}

void sframe_builder_free(sframe_builder* builder) {
  delete builder;
}

sframe_status sframe_builder_add(sframe_builder* builder, const sframe_function* function,
                                 const sframe_row* rows, size_t num_rows, sframe_error* error) {
  if (!builder || !function || (!rows && num_rows)) return c::report_null(error);
  return c::guarded(error, [&] {
    Fde fde;
    std::vector<FrameRow> taken;
    if (const auto status = c::take_function(function, rows, num_rows, fde, taken, error);
        status != SFRAME_OK)
      return status;
    const auto added = builder->builder.add(fde, taken);
    return added ? SFRAME_OK : c::report_refusal(error, added.error());
  });
}

sframe_status sframe_builder_finish(sframe_builder* builder, uint64_t address, void** bytes, size_t* length,
                                    sframe_error* error) {
  if (!builder || !bytes || !length) return c::report_null(error);
  return c::guarded(error, [&] {
    if (builder->merge_functions) builder->builder.merge_functions();
    const auto made = builder->builder.finish(address);
    return made ? c::give_bytes(*made, bytes, length) : c::report_refusal(error, made.error());
  });
}

sframe_status sframe_convert(const sframe_section* const* sections, size_t count,
                             const sframe_build_options* options, uint64_t address,
                             sframe_refusal_callback callback, void* data, void** bytes, size_t* length,
                             sframe_error* error) {
  if (!sections || !options || !bytes || !length) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto taken = c::take_sections(sections, count);
    if (!taken) return c::report_null(error);
    if (taken->empty()) return c::report(error, SFRAME_INVALID, "no section");
    const AbiTraits& abi = taken->front().abi();
    for (const Section& section : *taken)
      if (&section.abi() != &abi) return c::report(error, SFRAME_INVALID, "the sections are of several ABIs");
    const auto build = take_options(options, &abi, error);
    if (!build) return SFRAME_INVALID;
    const auto converted = convert(*taken, *build, address);
    if (!converted) return c::report(error, converted.error());
    for (const RefusedFunction& refused : converted->refused) {
      if (!callback) return c::report_refusal(error, refused.refusal);
      const sframe_refusal given{.size = sizeof given,
                                 .section = refused.section,
                                 .function = refused.fde.number,
                                 .start = refused.fde.start,
                                 .row = refused.refusal.row,
                                 .reserved = 0,
                                 .reason = reason_name(refused.refusal.reason),
                                 .text = message(refused.refusal.reason),
                                 .left_out_start = refused.range.start,
                                 .left_out_size = refused.range.size};
      if (callback(&given, data) != 0) return SFRAME_STOP;
    }
    return c::give_bytes(converted->bytes, bytes, length);
  });
}

sframe_status sframe_optimize(const sframe_section* section, const sframe_optimize_options* options,
                              void** bytes, size_t* length, sframe_error* error) {
  if (!section || !bytes || !length) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto given = options ? c::take(options) : std::optional<sframe_optimize_options>{std::in_place};
    if (!given) return c::report_size(error);
    OptimizeOptions chosen;
    switch (given->goal) {
    case SFRAME_OPTIMIZE_SIZE: break;
    case SFRAME_OPTIMIZE_LOOKUP: chosen.goal = OptimizeOptions::Goal::lookup; break;
    case SFRAME_OPTIMIZE_SMALLEST: chosen.goal = OptimizeOptions::Goal::smallest; break;
    default: return c::report(error, SFRAME_INVALID, "unknown goal");
    }
    if (given->max_rows != 0) chosen.max_rows = given->max_rows;
    if (given->may_join)
      chosen.may_join = [&](const AddressRange& between) {
        return given->may_join(between.start, between.start + between.size, given->data) != 0;
      };
    const auto optimized = optimize(section->section, std::move(chosen));
    return optimized ? c::give_bytes(*optimized, bytes, length) : c::report(error, optimized.error());
  });
}

sframe_status sframe_flip(const sframe_section* section, void** bytes, size_t* length, sframe_error* error) {
  if (!section || !bytes || !length) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto flipped = flip_byte_order(section->section.bytes());
    return flipped ? c::give_bytes(*flipped, bytes, length) : c::report(error, flipped.error());
  });
}
