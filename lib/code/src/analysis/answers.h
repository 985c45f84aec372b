// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run has found out, for those who ask (Results). States within blocks are computed again; that costs
// a block and saves storing one per instruction.

#pragma once

#include "blocks.h"
#include "executor.h"
#include "function_ends.h"
#include "instructions.h"
#include "joins.h"
#include "jump_tables.h"
#include "visited_state.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::code {

/// The functions are those of Results.
class Answers {
public:
  Answers(const Subject& subject, Instructions& instructions, const Blocks& blocks, const JumpTables& tables,
          const Joins& joins, const FunctionEnds& ends, Executor& executor, Effort& effort)
      : subject_(subject), code_(instructions), blocks_(blocks), tables_(tables), joins_(joins), ends_(ends),
        executor_(executor), effort_(effort) {}

  /// Before a run.
  void reset();
  /// After one.
  void prepare();

  /// `call` is as Results::Call.
  void visit(bool (*call)(void*, const Reached&), void* context);
  template <class Visitor> void visit(Visitor visitor) {
    visit([](void* context, const Reached& at) -> bool { return (*static_cast<Visitor*>(context))(at); },
          &visitor);
  }
  const State* state_at(std::uint64_t address);
  std::optional<FrameRow> row_at(std::uint64_t address);
  bool never_returns(std::uint64_t address) const;
  std::span<const Conflict> conflicts() const { return joins_.conflicts(); }
  std::span<const Obstacle> obstacles() const { return obstacles_; }
  std::span<const Gap> gaps();
  std::span<const std::uint64_t> executed() const { return code_.executed(); }
  std::uint64_t tables_lead_to() const { return tables_.leads_to(); }
  std::uint32_t num_instructions() const { return code_.size(); }

private:
  struct BlockAt {
    std::uint64_t address = 0;
    std::uint32_t block = 0;
  };

  void order_blocks();
  void collect_obstacles();
  Exit exit_of(const Decoded& decoded, VisitedState& state) const;
  bool passes(std::uint32_t index, bool is_in_block, VisitedState& state) const;
  bool state_before(std::uint32_t index, State& state);
  const Decoded* decoded_around(std::uint64_t address) const;
  bool is_reached_throughout() const;
  std::uint64_t end_of_reached() const;
  std::uint64_t skip_padding(std::uint64_t begin, std::uint64_t end);

  const Subject& subject_;
  Instructions& code_;
  const Blocks& blocks_;
  const JumpTables& tables_;
  const Joins& joins_;
  const FunctionEnds& ends_;
  Executor& executor_;
  Effort& effort_;
  std::vector<BlockAt> order_; ///< reached blocks by address
  std::vector<Obstacle> obstacles_;
  std::vector<Gap> gaps_;
  State answer_;
};

} // namespace sframe::code
