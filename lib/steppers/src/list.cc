// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "catalogue.h"

#include <algorithm>
#include <array>

namespace sframe::steppers {

namespace {

constexpr std::array catalogue = {sframe_info,        cfi_info,          signal_info,  go_table_info,
                                  bottom_info,        shadow_stack_info, context_info, analysis_info,
                                  frame_pointer_info, scan_info};
static_assert(std::ranges::is_sorted(catalogue, {}, &StepperInfo::priority));

} // namespace

std::span<const StepperInfo> ready_steppers() {
  return catalogue;
}

unwind::StepperList default_steppers(const AbiTraits& abi, modules::Module* main) {
  unwind::StepperList list;
  list.push_back(make_sframe_stepper(abi));
  list.push_back(make_cfi_stepper(abi));
  list.push_back(make_signal_stepper(abi));
  list.push_back(make_go_table_stepper(abi));
  list.push_back(make_bottom_stepper(main));
  list.push_back(make_shadow_stack_stepper(abi));
  list.push_back(make_context_stepper(abi));
  list.push_back(make_analysis_stepper(abi));
  list.push_back(make_frame_pointer_stepper(abi));
  list.push_back(make_scan_stepper(abi));
  std::ranges::stable_sort(list, {}, [](const auto& stepper) { return stepper->priority(); });
  return list;
}

void put_all_registers_first(unwind::StepperList& steppers) {
  std::ranges::stable_partition(steppers, [](const auto& s) { return s->recovers_all_registers(); });
}

Result<unwind::StepperList> select_steppers(unwind::StepperList all, std::string_view names) {
  unwind::StepperList chosen;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const auto at =
        std::ranges::find_if(all, [&](const auto& stepper) { return stepper && stepper->name() == name; });
    if (at == all.end()) return fail("unknown or repeated frame stepper '" + std::string(name) + "'");
    chosen.push_back(std::move(*at));
  }
  if (chosen.empty()) return fail("empty list of frame steppers");
  return chosen;
}

} // namespace sframe::steppers
