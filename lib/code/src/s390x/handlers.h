// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers for instructions with an exact translation, by group; the table of opcodes (opcodes.cc) refers to
// them. A handler appends effects and sets the control flow. The meaning of Context::argument is given below.

#pragma once

#include "encoding.h"

namespace sframe::code::s390x {

// branch.cc
void branch_register(const Context& context);        ///< bcr
void branch_memory(const Context& context);          ///< bc: to an address that is a sum of registers
void branch_indirect(const Context& context);        ///< bic: to an address in memory
void branch_relative(const Context& context);        ///< brc (argument 16) and brcl (32: bits of the offset)
void branch_and_save(const Context& context);        ///< balr, basr, bassm
void branch_and_save_memory(const Context& context); ///< bal, bas
void call_relative(const Context& context);          ///< bras (argument 16), brasl (32)
void branch_on_count(const Context& context);        ///< bctr, bctgr (argument: 8 bytes of the counter, or 4)
void branch_on_count_memory(const Context& context); ///< bct, bctg, bxh, bxle, ...: destination in a register
void branch_relative_on_count(const Context& context);              ///< brct, brctg (argument as above)
void branch_relative_on_index(const Context& context);              ///< brxh, brxle, brxhg, brxlg, brcth
void set_mode_and_branch(const Context& context);                   ///< bsm
void compare_and_branch_relative(const Context& context);           ///< argument: an Operands value
void compare_immediate_and_branch_relative(const Context& context); ///< argument: an Operands value
void compare_and_branch(const Context& context); ///< to an address; argument: offset of the mask
void supervisor_call(const Context& context);    ///< svc
void monitor_call(const Context& context);       ///< mc
void execute(const Context& context);            ///< ex, exrl
void stop(const Context& context);               ///< always raises an exception
/// How a compare interprets its operands.
enum Operands : std::uint8_t { signed_operands, unsigned_operands };

// memory.cc; the argument, if any, is the number of bytes accessed
void store_word(const Context& context);            ///< stg, and std with argument 1
void load_word(const Context& context);             ///< lg, and ld with argument 1
void load_narrow_unsigned(const Context& context);  ///< llgc, llgh, llgf
void load_narrow_signed(const Context& context);    ///< lgb, lgh, lgf
void store_bytes(const Context& context);           ///< to an indexed address: st, sth, stc, ste, vst, ...
void store_bytes_based(const Context& context);     ///< to an address without index: mvi, mvghi, cs, laa, ...
void store_multiple_words(const Context& context);  ///< stmg
void load_multiple_words(const Context& context);   ///< lmg
void store_multiple(const Context& context);        ///< stm, stmh, vstm, ...: argument for each register
void load_multiple(const Context& context);         ///< lm, lmh, lmd
void load_multiple_vectors(const Context& context); ///< vlm
void store_pair(const Context& context);            ///< stpq
void load_pair(const Context& context);             ///< lpq
void store_string(const Context& context);          ///< mvc, xc, ...: length in bits 8 to 15
void store_decimal(const Context& context);         ///< length in bits 8 to 11

// integer.cc
void load_address(const Context& context);                ///< la, lay
void load_address_relative(const Context& context);       ///< larl
void move(const Context& context);                        ///< lgr
void move_narrow_unsigned(const Context& context);        ///< llgcr, llghr, llgfr: argument bytes
void move_narrow_signed(const Context& context);          ///< lgbr, lghr, lgfr: argument bytes
void move_and_test(const Context& context);               ///< ltgr
void move_to_float(const Context& context);               ///< ldgr
void move_from_float(const Context& context);             ///< lgdr
void move_float(const Context& context);                  ///< ldr
void load_immediate(const Context& context);              ///< lghi (argument 16), lgfi (32)
void load_logical_immediate(const Context& context);      ///< llihh...: argument: shift of the immediate, in
                                                          ///< bits
void load_logical_immediate_long(const Context& context); ///< llihf, llilf: argument as above
void add_immediate(const Context& context);               ///< aghi (argument 16), agfi, algfi (32)
void subtract_immediate(const Context& context);          ///< slgfi
void add_immediate_distinct(const Context& context);      ///< aghik, alghsik
void add_register(const Context& context);                ///< agr, algr
void add_memory(const Context& context);                  ///< ag, alg (argument 8: bytes), agf (4)
void combine_same(const Context& context); ///< lr, nr, or, ...: clobbers, except for a register combined with
                                           ///< itself
void subtract_register(const Context& context);          ///< sgr, slgr
void subtract_memory(const Context& context);            ///< sg, slg
void add_register_distinct(const Context& context);      ///< agrk, algrk
void subtract_register_distinct(const Context& context); ///< sgrk, slgrk
void and_immediate(const Context& context);            ///< nihh...: argument: shift of the immediate, in bits
void and_immediate_long(const Context& context);       ///< nihf, nilf: argument as above
void shift_left(const Context& context);               ///< sllg
void rotate_and_insert(const Context& context);        ///< risbg, risbgn
void compare_logical_register(const Context& context); ///< clgr
void compare_logical_immediate(const Context& context); ///< clgfi, clfi
void perform_float_operation(const Context& context);   ///< pfpo

} // namespace sframe::code::s390x
