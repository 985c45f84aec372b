// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of one function from its instructions alone. A range has a row only if the analysis (lib/code) is
// certain of it at every instruction: reached over edges that exist, CFA and return address known, and the
// caller's FP; or if the way that it returns shows them (return_proof.h). Everything else is left out with
// its reason.
//
// Landing pads are entered by the unwinder, and belong to functions with CFI. So a path to code that needs an
// exception in flight does not exist: it follows a call or a store that never ends, as after
// __builtin_unreachable(). Such code is left out.
//
// What instructions cannot show is how control enters. CodeRows says what speaks for the assumed entry, and
// which other code the function jumps to or calls; from_code() puts these together.

#pragma once

#include "compact_list.h"
#include "return_proof.h"
#include "sframe/base/address_ranges.h"
#include "sframe/code/analysis.h"
#include "sframe/generate/report.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace sframe::generate {

inline constexpr Reason code_unreached = {"unreached", "no path from the function's entry reaches this code"};
inline constexpr Reason code_guessed = {"unsure-path", "this code is reached only over a guessed path"};
inline constexpr Reason code_cfa_unknown = {"sp-unknown", "the instructions do not show where the CFA is"};
inline constexpr Reason code_ra_unknown = {"ra-unknown",
                                           "the instructions do not show where the return address is"};
inline constexpr Reason code_fp_unknown = {"fp-unknown",
                                           "the instructions do not show where the caller's FP is"};
inline constexpr Reason code_signed_with_address = {
    "ra-signed-with-pc", "RA is signed with the address of the signing instruction"};
inline constexpr Reason code_landing_pad = {"landing-pad", "this code needs an exception in flight"};

/// True if the range is left out since no path reaches it.
inline bool is_unreached(const LeftOut& range) {
  return range.reason == code_unreached;
}

/// What the code shows of the frame before an instruction.
struct CodeRow {
  FrameRow row; ///< its `offset` is 0; the CFA by SP, if SP is known
  /// Of ranges: code::cfa_by_frame_record(), which is the better rule: it does not depend on SP.
  std::optional<Rule> by_record;
  std::optional<std::int32_t> fp; ///< of jumps: what FP is above the CFA, if it is known
  bool keeps_fp = false;          ///< of jumps: FP itself holds the caller's, whatever the row has

  friend bool operator==(const CodeRow&, const CodeRow&) = default;
};

/// Rows, each once: those of a file repeat each other. For several threads at once.
class RowPool {
public:
  /// An equal row, which stays where it is as long as the pool.
  const CodeRow* find(const CodeRow& row);

private:
  struct Hash {
    std::size_t operator()(const CodeRow& row) const;
  };
  std::mutex mutex_;
  std::unordered_set<CodeRow, Hash> rows_; ///< whose elements do not move
};

struct CodeRows {
  /// By offsets from the function's start. 16 bytes: of nothing else is more kept.
  struct Range {
    std::uint32_t begin = 0, end = 0;
    const CodeRow* code = nullptr; ///< in the pool

    const FrameRow& row() const { return code->row; }
  };
  /// A jump out of the function, and the row before it.
  struct Jump {
    std::uint64_t from = 0, target = 0;
    const CodeRow* code = nullptr; ///< in the pool; nullptr: not known

    const FrameRow* row() const { return code ? &code->row : nullptr; }
  };
  /// A jump inside the function, by offsets from its start. 16 bytes: there are more than calls.
  struct Link {
    std::uint32_t from = 0, target = 0;
    const CodeRow* code = nullptr; ///< as in Jump
  };

  struct Call {
    std::uint64_t target = 0;
    std::uint64_t next = 0; ///< the return address
  };

  CompactList<Range> ranges;       ///< by address, disjoint; adjacent ones have different rules
  CompactList<LeftOut> left_out;   ///< by address; padding is in neither list
  CompactList<Jump> jumps;         ///< to places that are known, by address
  CompactList<Call> calls;         ///< direct ones, in the order of the calls
  CompactList<Call> guessed_calls; ///< the same, of calls and jumps in code that is not certain
  /// Return addresses of the other calls of certain code. By address.
  CompactList<std::uint64_t> after_indirect_calls;
  /// Conditional branches away from the entry's frame, and all jumps of guessed code. By source. Where one
  /// leads to certain code of the function with the same frame, what lies between belongs to the function.
  CompactList<Link> links;
  CompactList<Jump> guessed_jumps; ///< direct ones of guessed code out of the function, by source
  /// Guessed code without a jump that ends with a return or jump, where all that is the caller's is as it was
  /// at the entry: it belongs to the function.
  CompactList<AddressRange> guessed_ends;
  /// Where control leaves the function for, also by running into the next one, without the caller's FP: it
  /// was overwritten, and no place is known that has it.
  CompactList<std::uint64_t> without_fp;
  /// From the last instruction into what follows the bytes, if control certainly goes on there. The row is
  /// the one before the instruction.
  std::unique_ptr<Jump> runs_on;
  /// That instruction is no padding, which may follow a call that does not return.
  bool surely_runs_on = false;
  /// Instructions that others execute, which no path need lead to (s390x: ex, exrl).
  CompactList<std::uint64_t> executed;
  /// Certain instructions that the decoder does not know. By address.
  CompactList<std::uint64_t> unknown;
  bool has_unknown = false; ///< there are such instructions, also when `unknown` is not kept any more
  /// Addresses that certain code puts into registers, and other numbers. Each once.
  CompactList<std::uint64_t> addresses;
  /// The end of the run of instructions at the start that control passes one after the other, and that
  /// nothing in the function jumps into.
  std::uint64_t first_run_end = 0;
  /// code::Results::tables_lead_to().
  std::uint64_t tables_lead_to = 0;
  /// The first instruction is what functions start with: it marks the place for indirect calls, or signs the
  /// return address.
  bool starts_as_function = false;
  bool leaves_somewhere = false; ///< by an indirect jump out of the function, or to unknown places
  bool returns = false;          ///< a return at the entry's height, to the entry's return address
  bool loses_fp = false;         ///< there is such a return without the caller's FP
  bool b_key = false;            ///< AArch64: return addresses are signed with key B
  bool has_data = false;         ///< an instruction of zeros, which no code has: data, taken for code
  /// A return at another height or elsewhere, or SP in the caller's frame: the entry row is wrong, or this is
  /// no code.
  bool refuted = false;

  /// Gives back memory that the lists have, but do not need.
  void shrink();
};

/// Makes rows of one function after another. Keeps its memory between them. Not for several threads at once.
class CodeRowMaker {
public:
  /// `pool` must outlive what is made.
  CodeRowMaker(const AbiTraits& abi, RowPool& pool) : abi_(abi), pool_(pool), analyzer_(abi), proof_(abi) {}

  /// The rows of a function. Linear in its size. If its budget is used up, everything is left out.
  CodeRows make(const code::Function& function);

private:
  /// Instructions [begin, end) that control enters at the first and leaves after the last.
  struct Block {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t target = 0;     ///< of the jump at its end, if `jumps`
    bool jumps = false;           ///< to another block
    bool falls = true;            ///< control may reach the next block
    bool leaves = false;          ///< the function, or for unknown places
    bool needs_exception = false; ///< itself, or all that follows
  };

  void start();
  void add(const code::Reached& at, const code::Results& results);
  void note_guessed(const code::Reached& at, std::uint64_t begin, std::uint64_t end);
  /// `ends`: a call that does not return.
  void add_to_block(const code::Reached& at, std::uint64_t begin, std::uint64_t end, bool ends);
  void withhold_landing_pads();
  void add_addresses(const code::Reached& at);
  void note_start(const code::Reached& at, std::uint64_t begin);
  void note_switch(const code::Reached& at, std::uint64_t begin);
  std::uint64_t known_target(const code::Reached& at) const;
  void add_link(const CodeRows::Jump& jump);
  std::uint32_t offset_of(std::uint64_t address) const {
    return static_cast<std::uint32_t>(address - function_.start);
  }
  void add_range(const CodeRows::Range& range);
  void leave_out(std::uint64_t begin, std::uint64_t end, Reason reason);
  void find_key(const code::Function& function);
  void extend_over_padding();

  std::optional<FrameRow> shown_row(const code::Reached& at);
  const std::optional<FrameRow>& row_before(const code::Reached& at);
  /// `last`: the last one that was asked for.
  const CodeRow* pooled(const CodeRow& row, const CodeRow*& last);

  const AbiTraits& abi_;
  RowPool& pool_;
  const CodeRow* last_of_ranges_ = nullptr;
  const CodeRow* last_of_jumps_ = nullptr;
  code::Analyzer analyzer_;
  ReturnProof proof_;
  CodeRows rows_;
  std::optional<FrameRow> row_;       ///< row_before() the last instruction
  std::uint64_t row_parts_ = 0;       ///< of the state, on which `row_` depends
  std::uint64_t changed_ = 0;         ///< code::Reached::changed, since `row_` was made
  const CodeRow* row_code_ = nullptr; ///< with `row_`, of a range; nullptr: not asked for yet
  std::uint64_t end_ = 0;             ///< of the instructions seen
  AddressRange guessed_;              ///< the last guessed ones, without a jump
  code::Function function_;
  std::vector<Block> blocks_; ///< of certain code
  bool calls_need_exception_ = false;
  bool guess_returns_ = false; ///< guessed code has a return at the entry's height
  bool in_first_run_ = false;
  /// The first of the instructions, up to the last one seen, that control passes one after the other with the
  /// FP that the one before it has restored.
  std::optional<std::uint64_t> fp_restored_;
  bool passes_on_ = false; ///< control passes from the last instruction seen to the next one, and only there
};

} // namespace sframe::generate
