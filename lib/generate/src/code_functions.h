// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds functions without CFI in a file and analyses them. Which of them are accepted is decided elsewhere
// (from_code.cc).

#pragma once

#include "code_rows.h"
#include "compact_list.h"
#include "sframe/code/call_end.h"
#include "sframe/code/callees.h"
#include "sframe/generate/cfi_input.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace sframe::generate {

/// Bytes of padding between functions.
inline constexpr std::uint64_t max_padding_between = 64;

/// What the analysis of a function asked about calls and ends, and what it was told. 16 bytes: there are
/// nearly as many as calls.
struct CodeQuestion {
  enum class Kind : std::uint8_t { after_direct_call, after_indirect_call, at_end };

  std::uint64_t target = 0; ///< of a direct call
  std::uint32_t place = 0;  ///< the return address, or the end, from the function's start
  Kind kind{};
  bool is_marked = false; ///< code::StartSigns::is_marked
  bool answer = false;    ///< perhaps the function does not go on there

  friend auto operator<=>(const CodeQuestion&, const CodeQuestion&) = default;
};

/// A function as it was analysed.
struct CodeFunction {
  std::uint64_t start = 0;
  std::uint64_t end = 0; ///< of the bytes that were analysed; the function may be smaller
  FrameRow entry;        ///< the row that was assumed at `start`
  bool named = false;    ///< a symbol, pointer, call or jump names its start; else only its place does
  bool sized = false;    ///< a symbol gives its size
  /// It starts where code that is understood, or padding, ends: not after an instruction that is not known.
  bool follows = false;
  /// Zeros are before it, which need not be padding: code or data may be on either side of them.
  bool after_zeros = false;
  bool has_address_taken = false; ///< code puts it into a register: set once all functions are found
  /// Targets of calls that perhaps never return, so that the code after them is guessed.
  CompactList<std::uint64_t> doubtful;
  /// Return addresses, and padding that is jumped to, after which the function goes on. By address.
  CompactList<std::uint64_t> inside;
  /// What the last run asked, each once. An analysis of the same bytes that is told the same finds the same.
  CompactList<CodeQuestion> questions;
  /// The last analysis was told the same as the one before: that one's `rows` and `questions` are kept, and
  /// those here are empty.
  bool is_unchanged = false;
  CodeRows rows;

  /// The addresses of one of the ranges.
  AddressRange at(const CodeRows::Range& range) const {
    return {start + range.begin, range.end - range.begin};
  }
  /// Frees what only the search for functions needs.
  void forget_search();
};

/// The first address from `address` on, and before `end`, that is no padding, of which it looks at
/// max_padding_between bytes. Takes code_steps from the budget, if given.
std::uint64_t after_padding(const elf::Image& image, std::uint64_t address, std::uint64_t end,
                            code::CallEnds& padding, Budget* budget);
/// True if a padding instruction that does not consist of zeros ends at `address`, and starts at or after
/// `begin`.
bool ends_padding(const CfiInput& input, std::uint64_t begin, std::uint64_t address, code::CallEnds& padding);

/// By address. Grows without a copy of itself: functions are most of what the analysis keeps.
using CodeFunctionList = std::deque<CodeFunction>;

class CodeFunctions {
public:
  /// Nothing outside `holes` is analysed. All references must outlive the object, and `pool` what it finds.
  CodeFunctions(const CfiInput& input, const AddressSet& holes, RowPool& pool, unsigned threads);

  /// Finds and analyses all. By address; starts differ. Some are missing if is_out_of_steps().
  /// `other_addresses` gets other addresses that code puts into registers, in order; mostly not of code.
  CodeFunctionList find(std::vector<std::uint64_t>& other_addresses);
  /// True if the image's budget for Resource::code_steps is used up.
  bool is_out_of_steps() const;
  /// The same function, entered with `entry` and code::Function::fp_at_start.
  CodeFunction again(const CodeFunction& function, const FrameRow& entry, std::optional<std::int32_t> fp);

  /// True for addresses at which compilers start functions.
  bool is_aligned(std::uint64_t address) const;

private:
  /// Whether a function returns to its caller: perhaps if it leaves for code that is not known.
  enum class Returns : std::uint8_t { never, perhaps, surely };
  struct Place;
  /// A function with the places that it leads to, in the order of its lists. Those of its calls are looked up
  /// by address: they are many, and seldom asked for.
  struct Found {
    CodeFunction function;
    CompactList<Place*> doubtful, jumps;
  };
  /// An address where a function may start, or that one calls or jumps to. All that is known of it is here,
  /// and places refer to each other, since looking an address up is most of the work with many functions.
  struct Place {
    std::uint64_t address = 0;
    std::uint64_t size = 0;   ///< of its symbol; 0: not known
    bool is_start = false;    ///< to be analysed
    bool named = false;       ///< CodeFunction::named
    bool follows = false;     ///< CodeFunction::follows
    bool after_zeros = false; ///< CodeFunction::after_zeros
    /// Code puts it into a register. It need not be a start: jump tables and literals are addressed so, too.
    bool has_address_taken = false;
    bool external = false;   ///< code with CFI, a stub, or in another file
    bool no_return = false;  ///< a function, or code elsewhere, that perhaps never returns
    bool undecided = false;  ///< returns() may have changed; in undecided_
    bool is_changed = false; ///< during analyse_callers_of(): one of the callees
    Returns returns = Returns::perhaps;
    std::unique_ptr<Found> found; ///< nullptr: not analysed yet
    /// Functions that call or jump here, or did so in an earlier analysis. Some several times.
    CompactList<Place*> users;
  };
  /// Ordered by address.
  using Undecided = std::pair<std::uint64_t, Place*>;
  class Calls;

  Place& place_of(std::uint64_t address);
  const Place* known_place(std::uint64_t address) const;
  void add_start(std::uint64_t address, bool named, std::uint64_t size = 0);
  void add_starts();
  void add_referred_starts();
  void add_targets(const CodeFunction& function);
  void keep(CodeFunction function);
  bool take(std::uint64_t steps);
  std::vector<Place*> users_of(std::span<Place* const> targets);
  void add_undecided(Place& place, std::vector<Undecided>& list);
  static Returns returns(const Found& found);
  void analyse_callers();
  void analyse_callers_of(std::span<Place* const> callees);
  std::vector<Place*> find_no_return();
  std::uint64_t after_padding(std::uint64_t address, code::CallEnds& padding, Budget* budget) const;
  std::uint64_t limit_of(std::uint64_t start) const;
  CodeFunction analyse(std::uint64_t start, const FrameRow& entry, CodeRowMaker& maker, Budget* budget,
                       std::optional<std::int32_t> fp = {});
  bool analyse_starts();
  template <class Visitor> bool each_up_to(std::span<const std::uint64_t> addresses, Visitor visitor);
  bool analyse_again(std::vector<std::uint64_t> starts);
  bool analyse_longer_ones();
  bool analyse_callers_before();
  std::vector<CodeFunction> analyse(std::span<const std::uint64_t> starts);
  bool analyse_gaps();
  void scan(AddressRange gap, bool follows, CodeRowMaker& maker, Budget& budget,
            std::vector<CodeFunction>& functions);

  const CfiInput& input_;
  const AbiTraits& abi_;
  const AddressSet& holes_;
  unsigned threads_;
  RowPool& pool_;
  code::Callees callees_;
  CodeRowMaker maker_; ///< for what is not analysed on several threads
  std::map<std::uint64_t, Place> places_;
  std::set<std::uint64_t> named_;         ///< places: CodeFunction::named
  std::vector<std::uint64_t> pending_;    ///< starts that were not analysed
  std::vector<std::uint64_t> new_names_;  ///< of which analyse_longer_ones() does not know
  std::vector<std::uint64_t> new_starts_; ///< of which analyse_callers_before() does not know
  std::vector<Undecided> undecided_;      ///< functions of which returns() may have changed
};

} // namespace sframe::generate
