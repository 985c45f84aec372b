// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine of Analyzer, one file for each part:
//
// - discover.cc finds instructions: decodes from an address along direct control flow, each instruction once;
// - transfer.cc applies an instruction to a state;
// - join.cc joins states where paths meet;
// - callee.cc analyses callees that do not follow the ABI;
// - jump_table.cc finds the targets of indirect jumps;
// - analysis.cc drives them to a fixed point and implements the queries on the results.
//
// A block is a run of instructions that starts at a leader: the entry, the target of a jump or a landing pad.
// Only blocks have a stored state; the states in between are recomputed on demand.

#pragma once

#include "sframe/base/address_ranges.h"
#include "sframe/code/analysis.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace sframe::code {

inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

/// Work is paid for in amounts of at least this many steps.
inline constexpr std::uint64_t steps_on_credit = 256;
/// What it costs to decode an instruction.
inline constexpr std::uint64_t steps_per_decoding = 4;

/// So many words on the stack that a state knows cost a visitor a step, and a join as much as its registers.
inline constexpr std::uint64_t words_per_step = 16;

/// An instruction of the function, decoded.
struct Decoded {
  Instruction instruction;
  std::uint32_t first_effect = 0;
  std::uint16_t num_effects = 0;
  std::uint16_t symbol = 0;       ///< the symbol that SP gets here; 0 = none yet
  std::uint32_t block = no_index; ///< the block that starts here
  std::uint32_t owner = no_index; ///< the last block that ran through this instruction
  std::uint32_t table = no_index; ///< of a load: the jump table that it reads
  std::uint32_t guess = no_index; ///< of an edge that may not exist
  bool leader = false;
  bool bad = false;              ///< not an instruction
  bool does_not_return = false;  ///< a call that was found not to return
  bool calls_trap = false;       ///< a call of an instruction that control does not leave
  bool pushes_and_jumps = false; ///< Reached::pushes_and_jumps
  bool sp_lost = false;
  bool unresolved = false; ///< an indirect jump
  bool runs_off = false;
  std::uint8_t steps_of_words = 0; ///< of the state before it, when its block was run last
};

struct Block {
  std::uint32_t first = 0; ///< index of its first instruction
  std::uint32_t end = 0;   ///< where it ends, from the function's start; once it was executed
  std::uint16_t visits = 0;
  Certainty certainty = Certainty::unreached;
  bool queued = false;
  std::uint32_t only_from_call = no_index; ///< the call, while this is reached only by falling through it
  State in;
};

/// A block and where it starts.
struct BlockAt {
  std::uint64_t address = 0;
  std::uint32_t block = 0;
};

/// A jump table as read by an instruction: target = base + entry * factor.
struct JumpTable {
  std::uint64_t address = 0;
  std::uint64_t base = 0;
  std::int64_t factor = 1;
  std::uint32_t max_index = no_index; ///< no_index = no bound
  std::uint32_t step = 0;             ///< bytes from one entry to the next
  std::uint8_t size = 0;              ///< bytes of an entry
  bool is_signed = false;
  bool is_bound_firm = false; ///< from a compare
};

/// Possible targets of control, all with one state.
struct Guess {
  std::uint32_t from = 0;
  std::uint32_t first_target = 0, num_targets = 0; ///< in guessed_targets_
  bool pending = false;                            ///< not yet followed with this state
  State state;
};

/// An edge from a call to a landing pad whose row does not fit the state after the call.
struct DoubtfulPad {
  std::uint64_t pad = 0;
  std::uint32_t from = 0;
  State state;
};

inline bool calls_system(const Instruction& instruction) {
  return instruction.system_call >= 0 || instruction.system_call_register != Effect::none;
}

/// The states of a visit, block after block: computed when they are asked for, since for most instructions it
/// is enough to know that nothing changed that the row depends on.
class VisitedState {
public:
  explicit VisitedState(Analysis& analysis) : analysis_(analysis) {}

  void start(const Block& block);
  /// The next instruction of the block.
  void move_to(std::uint32_t index) { wanted_ = index; }
  /// The state before it.
  const State& get() { return reached_ == wanted_ ? *known_ : compute(); }
  /// Executes the instruction. False if control does not reach the next one.
  bool step();

private:
  const State& compute();
  bool execute();

  Analysis& analysis_;
  const State* known_ = nullptr; ///< the block's state, or `state_`
  State state_;
  std::uint32_t reached_ = no_index; ///< the instruction after `known_`
  std::uint32_t wanted_ = no_index;
};

class Analysis {
public:
  explicit Analysis(const AbiTraits& abi);
  ~Analysis();

  void run(const Function& function);
  void visit(bool (*call)(void*, const Reached&), void* context);
  const State* state_at(std::uint64_t address);
  std::optional<FrameRow> row_at(std::uint64_t address);
  bool never_returns(std::uint64_t address) const;
  std::span<const Conflict> conflicts() const { return conflicts_; }
  std::span<const Obstacle> obstacles() const { return obstacles_; }
  std::span<const Gap> gaps();
  std::span<const std::uint64_t> executed() const { return executed_; }
  std::uint32_t num_instructions() const { return static_cast<std::uint32_t>(code_.size()); }

private:
  friend class VisitedState;

  /// How control passes from one instruction to another.
  enum class Edge : std::uint8_t { jump, fall, after_call, to_landing_pad };

  // discover.cc
  void discover(std::uint64_t address);
  bool decode_elsewhere(std::uint64_t address, Instruction& instruction);
  bool is_trap(std::uint64_t address);
  void return_through(Instruction& instruction);
  void jump_through_thunk(Instruction& instruction);
  bool decode_thunk(std::uint64_t address, Instruction& last);
  std::uint32_t decode_at(std::uint64_t offset);
  void note_callee(Decoded& decoded);
  void execute_elsewhere(Decoded& decoded, const State& before);
  void note_targets(std::uint32_t index);
  void make_leader(std::uint64_t address);
  /// The instruction that starts at the address, or no_index.
  std::uint32_t index_at(std::uint64_t address) const {
    return contains(address) ? index_of_[address - function_.start] : no_index;
  }
  bool contains(std::uint64_t address) const { return address - function_.start < size_; }
  bool is_internal_call(const Instruction& instruction) const;
  bool replaces_return_address(std::uint64_t address);

  // transfer.cc
  void apply(Decoded& decoded, State& state) {
    if (decoded.instruction.writes_flags) state.compare.reg = Effect::none;
    for (std::uint32_t i = 0; i < decoded.num_effects; ++i)
      apply(effects_[decoded.first_effect + i], decoded, state);
  }
  void apply(const Effect& effect, Decoded& decoded, State& state);
  /// How SP moves when it cannot be followed: down by alignment or alloca, up when that is undone.
  enum class Move : std::uint8_t { anywhere, up, down };
  void write(std::uint8_t reg, Value value, Decoded& decoded, State& state, Move move = Move::anywhere);
  void write_memory(const Effect& effect, const Value& location, State& state) const;
  bool replaces_own_return_address(const Effect& effect, const Value& location) const;
  Value copied(const Effect& effect, const Decoded& decoded, State& state);
  Value sum(const Value& value, const Effect& effect, const State& state);
  Value masked(const Value& value, std::int64_t mask) const;
  Value new_name(const Value& value, std::uint64_t number, State& state) const;
  Value table_entry(const Effect& effect, Decoded& decoded, const State& state);
  void call(const Decoded& decoded, State& state);
  void enter_internal_call(const Decoded& decoded, State& state) const;
  bool refine(const Instruction& branch, bool taken, State& state) const;
  bool refine_sp(const Instruction& branch, bool taken, State& state) const;
  void refine_bound(const Instruction& branch, bool taken, State& state) const;
  bool steps_meet(const Value& sp, const Value& limit) const;

  // join.cc
  void propagate(std::uint64_t target, const State& state, std::uint32_t from, Edge edge);
  void propagate_to_pad(std::uint64_t pad, const State& state, std::uint32_t from);
  void follow_doubtful_pads();
  bool join(std::uint32_t block, const State& state, std::uint32_t from);
  bool join_words(Block& block, const State& state, std::uint32_t from);
  Value merge(const Value& old, const Value& incoming, Conflict where);
  bool may_be_past_end(std::uint32_t from, std::uint32_t first, const State& state);
  bool is_possible(const Block& block, const State& state) const;
  bool shows_no_return(Block& block, const State& state, std::uint32_t from, Edge edge);
  void enqueue(std::uint32_t block);

  // callee.cc
  void apply_known_callee(const Instruction& instruction, const State& before, State& after);
  const FrameRow* row_of_callee(std::uint64_t next) const;
  const FrameRow* next_row_with_base(std::uint64_t next) const;
  const Decoded* leaves_with(std::uint64_t address, std::uint8_t reg);
  std::uint8_t returns_after(const Instruction& instruction, const State& before);
  bool restarts_the_function(const Instruction& instruction, const State& before);
  /// What is known of a callee: it is not in the file; it could not be analysed; its effect.
  enum class CalleeIs : std::uint8_t { elsewhere, unclear, known };
  CalleeIs apply_callee(const Instruction& instruction, const State& before, State& after);
  const std::optional<State>& analyse_callee(std::uint64_t target);
  std::optional<State> state_at_returns();
  bool goes_back(const Reached& at, State& returns, bool& has_returned) const;

  // jump_table.cc
  void jump_indirectly(std::uint32_t index, const State& state);
  bool read_targets(const JumpTable& table, bool& is_guess);
  std::optional<std::uint64_t> read_target(const JumpTable& table, std::uint64_t address);
  bool starts_instruction(std::uint64_t address);
  std::uint64_t next_table(const JumpTable& table) const;

  // analysis.cc
  void reset(const Function& function);
  void forget_flow();
  void start();
  void drain();
  void process_next();
  void run_divided_blocks();
  void follow_guesses();
  std::uint64_t end_of_block(std::uint64_t offset) const;
  std::uint64_t end_of_literals(std::uint64_t offset) const;
  void start_at_known_rows();
  void guess(std::uint32_t from, const State& state, std::span<const std::uint64_t> targets);
  void process(std::uint32_t block);
  /// Executes one instruction: changes `state` to that at the next one. False if control does not reach it.
  bool step(std::uint32_t index, State& state, bool follow_edges) {
    Decoded& decoded = code_[index];
    if (decoded.instruction.flow != Flow::next || calls_system(decoded.instruction) ||
        decoded.instruction.executes != Executes::nothing)
      return step_control(index, state, follow_edges);
    apply(decoded, state);
    return true;
  }
  bool step_control(std::uint32_t index, State& state, bool follow_edges);
  bool is_system_call(const Instruction& instruction, const State& state,
                      std::span<const std::int32_t> calls) const;
  bool is_thread_start(const Instruction& instruction, const State& state) const;
  void leave(std::uint32_t index, State& state);
  bool continues(std::uint32_t index, State& state, bool follow_edges);
  bool is_known_not_to_return(const Decoded& decoded) const;
  bool may_not_return(const Instruction& instruction, const State& after);
  bool starts_function(std::uint64_t next, const State& after);
  bool starts_frame(const Value& fp, const State& state) const;
  bool saves_lost_link(const Decoded& decoded, const State& state) const;
  bool signs_again(const Decoded& decoded, const State& state) const;
  bool continues_after_call(std::uint32_t index, State& state, bool follow_edges);
  bool continues_after_trap(std::uint32_t index, const State& state);
  bool jumps_like_return(const Instruction& instruction, const State& state) const;
  bool returns_by_jump(const Instruction& instruction, const State& state) const;
  std::uint64_t after_padding(std::uint64_t address) const;
  bool rows_show_no_return(std::uint64_t next, std::uint64_t after_padding, const State& before,
                           const State& after) const;
  void follow_call_edges(std::uint32_t index, const State& after);
  void collect_obstacles();
  void order_blocks();
  std::uint64_t cost() const;
  bool pay(std::uint64_t credit);
  Exit exit_of(const Decoded& decoded, VisitedState& state) const;
  Value return_address(const Instruction& instruction, const State& state) const;
  Exit exit_of_return(const Instruction& instruction, const State& state) const;
  bool is_reached_throughout() const;
  bool passes(std::uint32_t index, const Block& block, VisitedState& state) const;
  bool state_before(std::uint32_t index, State& state);
  const Decoded* decoded_around(std::uint64_t address) const;

  const AbiTraits* abi_;
  const Machine* machine_;
  std::unique_ptr<Decoder> decoder_;
  Function function_;
  std::uint64_t size_ = 0; ///< bytes analysed

  std::vector<Decoded> code_;
  std::vector<std::uint64_t> changed_; ///< by instruction, when its block was run last: Reached::changed
  std::vector<Effect> effects_;
  std::vector<std::uint32_t> index_of_; ///< by byte: the instruction that starts there
  std::vector<bool> in_line_;           ///< by byte: the result of starts_instruction(), if it was called
  std::vector<std::uint64_t> to_discover_;
  std::deque<Block> blocks_;     ///< large: no copies when it grows
  std::uint32_t num_blocks_ = 0; ///< used part of blocks_, which keeps its memory
  std::vector<BlockAt> queue_;   ///< a heap: lowest address first
  std::vector<JumpTable> tables_;
  std::vector<std::uint64_t> targets_; ///< of the current jump
  std::vector<Guess> guesses_;
  std::vector<std::uint64_t> guessed_targets_;
  std::vector<std::uint32_t> pending_guesses_;
  std::vector<DoubtfulPad> doubtful_pads_;
  std::map<std::uint64_t, std::uint64_t>
      literals_; ///< data that is jumped over: offsets of its start and end
  std::vector<Conflict> conflicts_;
  std::vector<Obstacle> obstacles_;
  std::vector<Gap> gaps_;
  std::vector<std::uint64_t> executed_; ///< instructions that others execute
  std::vector<BlockAt> order_;          ///< reached blocks by address
  std::vector<Effect> scratch_effects_;
  State answer_;
  std::uint64_t work_ = 0;  ///< instructions executed and edges followed
  std::uint64_t joins_ = 0; ///< of states that differ, and words_per_step
  std::uint64_t guesses_made_ = 0;
  std::uint64_t paid_ = 0; ///< part of the cost
  std::uint16_t num_symbols_ = 0;
  std::uint8_t restarts_ = 0;
  std::unique_ptr<Analysis> callee_; ///< of callees
  /// The callee that was analysed last: many calls of a function have the same. The state where it returns.
  std::optional<std::uint64_t> known_callee_;
  std::optional<State> callee_returns_;
  bool is_callee_ = false;
  Certainty mode_ = Certainty::certain; ///< of the edges being followed
  bool restart_ = false;
  bool limit_met_ = false;
  bool out_of_steps_ = false;    ///< of the budget: nothing is decoded any more
  bool guesses_returns_ = false; ///< of calls
};

} // namespace sframe::code
