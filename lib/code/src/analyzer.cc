// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of the analysis (analysis/).

#include "analysis/analysis.h"

namespace sframe::code {

const State* Results::state_at(std::uint64_t address) const {
  return answers_ ? answers_->state_at(address) : nullptr;
}
bool Results::never_returns(std::uint64_t address) const {
  return answers_ && answers_->never_returns(address);
}
std::optional<FrameRow> Results::row_at(std::uint64_t address) const {
  return answers_ ? answers_->row_at(address) : std::nullopt;
}
std::span<const Conflict> Results::conflicts() const {
  return answers_ ? answers_->conflicts() : std::span<const Conflict>{};
}
std::span<const Obstacle> Results::obstacles() const {
  return answers_ ? answers_->obstacles() : std::span<const Obstacle>{};
}
std::span<const Gap> Results::gaps() const {
  return answers_ ? answers_->gaps() : std::span<const Gap>{};
}
std::span<const std::uint64_t> Results::executed() const {
  return answers_ ? answers_->executed() : std::span<const std::uint64_t>{};
}
std::uint64_t Results::tables_lead_to() const {
  return answers_ ? answers_->tables_lead_to() : 0;
}
std::uint32_t Results::num_instructions() const {
  return answers_ ? answers_->num_instructions() : 0;
}
void Results::visit_all(Call call, void* context) const {
  if (answers_) answers_->visit(call, context);
}

Analyzer::Analyzer(const AbiTraits& abi) : analysis_(std::make_unique<Analysis>(abi)) {
  results_.answers_ = &analysis_->answers();
}
Analyzer::~Analyzer() = default;
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;

const Results& Analyzer::run(const Function& function) {
  analysis_->run(function);
  return results_;
}

} // namespace sframe::code
