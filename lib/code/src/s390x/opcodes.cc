// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every opcode of the z/Architecture Principles of Operation (appendix B), in two layers: first the registers
// that each instruction writes; then, replacing rows of the first, the instructions that need an exact
// translation. If a page of opcodes is mostly of one kind, its first row covers all of it, so that later
// additions are treated as that kind. Instructions without a handler are assumed to write the condition code.
// scripts/name-opcodes writes the mnemonics beside the rows, or above long ones.

#include "opcodes.h"

#include <array>

namespace sframe::code::s390x {
namespace {

constexpr std::uint8_t none = 0; ///< prefix of the opcodes of one byte

constexpr OpcodeRow rows[] = {
    // Registers written.
    // lpr lnr ltr lcr nr or xr lr ar sr alr slr ic lh ah sh mh cvb lae n o x l a s al sl ms diag srl sll sra
    // sla lra icm
    {none,
     "10 11 12 13 14 16 17 18 1a 1b 1e 1f 43 48 4a 4b 4c 4f 51 54 56 57 58 5a 5b 5e 5f 71 83 88 89 8a 8b"
     "b1 bf",
     r1},
    // mr dr m d srdl sldl srda slda
    {none, "1c 1d 5c 5d 8c 8d 8e 8f", r1 | r1_next},
    {none, "0e 0f a8 a9", r1 | r1_next | r2 | r2_next}, // mvcl clcl mvcle clcle
    // lpdr lndr ltdr lcdr hdr ldxr adr sdr mdr ddr awr swr lper lner lter lcer her ledr ler aer ser mder der
    // aur sur ad sd md dd aw sw le ae se mde de au su
    {none,
     "20 21 22 23 24 25 2a 2b 2c 2d 2e 2f 30 31 32 33 34 35 38 3a 3b 3c 3d 3e 3f 6a 6b 6c 6d 6e 6f 78 7a"
     "7b 7c 7d 7e 7f",
     f1},
    // mxr mxdr axr sxr mxd
    {none, "26 27 36 37 67", f1 | f1_next},
    {none, "d0 dd", low}, // trtr trt
    // spm clr cr cdr cer ch cl c cd ce ssm lpsw tm cli trace lam sigp mc lctl clm bprp bpp clc mvck mvcp mvcs
    // plo cp
    {none,
     "04 15 19 29 39 49 55 59 69 79 80 82 91 95 99 9a ae af b7 bd c5 c7 d5 d9 da db"
     "ee f9",
     nothing},
    {0x01, "01 02", low}, // pr upt
    // ptff sckpf tam sam24 sam31 sam64 trap2
    {0x01, "04 07 0b 0c 0d 0e ff", nothing},
    {0x01, "0a", low, perform_float_operation}, // pfpo
    {0xa5, "", r1},
    {0xa7, "08 0a 0c 0d", r1}, // lhi ahi mhi mghi
    // tmlh tmll tmhh tmhl chi cghi
    {0xa7, "00 01 02 03 0e 0f", nothing},
    {0xb2, "", nothing},
    {0xb2, "44 45", f1},        // sqdr sqer
    {0xb2, "2d", f1 | f1_next}, // dxr
    // ipm ivsk iac epar esar iske lura ear msr bsg bsa ecctr epctr etnd ecpga
    {0xb2, "22 23 24 26 27 29 4b 4f 52 58 5a e4 e5 ec ed", r1},
    {0xb2, "4a 50", r1 | r1_next},                   // esta csp
    {0xb2, "a5", r1 | r1_next | r2},                 // tre
    {0xb2, "57 a6 a7", r1 | r1_next | r2 | r2_next}, // cuse cu21 cu12
    {0xb2, "63", r1 | r1_next | r2 | r2_next | low}, // cmpsc
    {0xb2, "55 5d 5e", r1 | r2},                     // mvst clst srst
    {0xb2, "41", r1 | r2 | r2_next},                 // cksm
    // ipk cfc tb stsi qpaci stfle
    {0xb2, "0b 1a 2c 7d 8f b0", low},
    {0xb3, "", f1},
    // lxdbr lxebr mxdbr sqxbr lxdr lxer sqxr lpxbr lnxbr ltxbr lcxbr ldxbr lexbr fixbr axbr sxbr mxbr dxbr
    // lpxr lnxr ltxr lcxr lxr fixr lzxr cxlfbr cxfbr cxlgbr cxgbr cxfr cxgr mxtr dxtr axtr sxtr lxdtr ldxtr
    // ltxtr fixtr cxgtr cxutr cxstr iextr
    {0xb3,
     "05 06 07 16 25 26 36 40 41 42 43 45 46 47 4a 4b 4c 4d 60 61 62 63 65 67 76 92 96 a2 a6 b6 c6 d8 d9 da"
     "db dc dd de df f9 fa fb fe",
     f1 | f1_next},
    {0xb3, "fd ff", f1 | f1_next | f3 | f3_next}, // qaxtr rrxtr
    {0xb3, "53 5b f5 f7", f1 | f3},               // diebr didbr qadtr rrdtr
    // maebr msebr madbr msdbr maer mser maylr mylr mayr mayhr myhr madr msdr
    {0xb3, "0e 0f 1e 1f 2e 2f 38 39 3a 3c 3d 3e 3f", f3},
    {0xb3, "3b", f3 | f3_next}, // myr
    // efpc cfebr cfdbr cfxbr clfebr clfdbr clfxbr cgebr cgdbr cgxbr clgebr clgdbr clgxbr cfer cfdr cfxr cger
    // cgdr cgxr cgdtr cudtr csdtr eedtr esdtr cgxtr eextr esxtr
    {0xb3, "8c 98 99 9a 9c 9d 9e a8 a9 aa ac ad ae b8 b9 ba c8 c9 ca e1 e2 e3 e5 e7 e9 ed ef", r1},
    {0xb3, "ea eb", r1 | r1_next}, // cuxtr csxtr
    // kebr cebr kdbr cdbr kxbr cxbr cxr sfpc sfasr kdtr cdtr kxtr cxtr cedtr cextr
    {0xb3, "08 09 18 19 48 49 69 84 85 e0 e4 e8 ec f4 fc", nothing},
    {0xb9, "", r1},
    {0xb9, "51 52 53", f1},           // cdftr cdlgtr cdlftr
    {0xb9, "59 5a 5b", f1 | f1_next}, // cxftr cxlgtr cxlftr
    // dsgr dsgfr flogr mlgr dlgr cspg mlr dlr mgrk
    {0xb9, "0d 1d 83 86 87 8a 96 97 ec", r1 | r1_next},
    // trtt trto trot troo trtre trte
    {0xb9, "90 91 92 93 bd bf", r1 | r1_next | r2},
    // kmf kmo km kmc sortl dfltcc ppno cu14 cu24 cu41 cu42
    {0xb9, "2a 2b 2e 2f 38 39 3c b0 b1 b2 b3", r1 | r1_next | r2 | r2_next},
    {0xb9, "29 2d", r1 | r1_next | r2 | r2_next | r3 | r3_next}, // kma kmctr
    {0xb9, "8d be", r1 | r2},                                    // epsw srstu
    {0xb9, "aa", r1 | r3},                                       // lptea
    {0xb9, "af", r2},                                            // pfmf
    {0xb9, "1e 3a", r2 | r2_next},                               // kmac kdsa
    {0xb9, "3e 3f", r1 | r2 | r2_next},                          // kimd klmd
    {0xb9, "3b", low},                                           // nnpa
    // eregg cgr sturg pckmo pcc cgfr clgfr cgrt clgrt crt clrt rdp idte crdte pti ssair chhr clhhr chlr clhlr
    {0xb9, "0e 20 25 28 2c 30 31 60 61 72 73 8b 8e 8f 9e 9f cd cf dd df", nothing},
    // xihf xilf iihf iilf nilf oihf oilf
    {0xc0, "06 07 08 09 0b 0c 0d", r1},
    // msgfi msfi slfi afi alfi
    {0xc2, "00 01 05 09 0b", r1},
    {0xc2, "0c 0d", nothing}, // cgfi cfi
    // llhrl lghrl lhrl llghrl lgrl lgfrl lrl llgfrl
    {0xc4, "02 04 05 06 08 0c 0d 0e", r1},
    {0xc4, "07 0b 0f", nothing}, // sthrl stgrl strl
    // pfdrl cghrl chrl clghrl clhrl cgrl clgrl cgfrl crl clgfrl clrl
    {0xc6, "02 04 05 06 07 08 0a 0c 0d 0e 0f", nothing},
    {0xc8, "02 06 07 0f", r1},     // csst cal calg calgf
    {0xc8, "04 05", r1 | r1_next}, // lpd lpdg
    {0xc8, "01", r1 | low},        // ectg
    {0xc8, "00", nothing},         // mvcos
    {0xcc, "08 0a 0b", r1},        // aih alsih alsihn
    {0xcc, "0d 0f", nothing},      // cih clih
    {0xe3, "", r1},
    // dsg dsgf mfy mg mlg dlg ml dl
    {0xe3, "0d 1d 5c 84 86 87 96 97", r1 | r1_next},
    // cg clg cgf clgf cgh pfd lgsc cly cy chy chf clhf
    {0xe3, "20 21 30 31 34 36 4d 55 59 79 cd cf", nothing},
    {0xe5, "", nothing},
    {0xe6, "", v1},
    {0xe6, "34 35 37", v5},      // vpkz vlrl vlrlr
    {0xe6, "50 52", r1},         // vcvb vcvbg
    {0xe6, "5f 77 7f", nothing}, // vtp vcp vtz
    {0xe7, "", v1},
    {0xe7, "21 27", r1}, // vlgv lcbb
    // vsceg vscef vstl wfk wfc vtm vecl vec
    {0xe7, "1a 1b 3f ca cb d8 d9 db", nothing},
    {0xeb, "", r1},
    {0xeb, "8e 8f", r1 | r1_next | r2 | r2_next}, // mvclu clclu
    // tracg clmh clmy clt clgt lctlg tmy cliy lamy tp
    {0xeb, "0f 20 21 23 2b 2f 51 55 9a c0", nothing},
    // lochi locghi lochhi risblg rnsbg rosbg rxsbg risbhg ahik alhsik
    {0xec, "42 46 4e 51 54 56 57 5d d8 da", r1},
    {0xec, "70 71 72 73", nothing}, // cgit clgit cit clfit
    // ldeb aeb seb mdeb deb sqeb sqdb meeb adb sdb mdb ddb lde sqe sqd mee ley
    {0xed, "04 0a 0b 0c 0d 14 15 17 1a 1b 1c 1d 24 34 35 37 64", f1},
    // lxdb lxeb mxdb lxd lxe
    {0xed, "05 06 07 25 26", f1 | f1_next},
    // maeb mseb madb msdb mae mse mayl myl may mayh myh mad msd sldt srdt cdzt cdpt
    {0xed, "0e 0f 1e 1f 2e 2f 38 39 3a 3c 3d 3e 3f 40 41 aa ae", f3},
    // my slxt srxt cxzt cxpt
    {0xed, "3b 48 49 ab af", f3 | f3_next},
    // keb ceb tceb tcdb tcxb kdb cdb tdcet tdget tdcdt tdgdt tdcxt tdgxt
    {0xed, "08 09 10 11 12 18 19 50 51 54 55 58 59", nothing},

    // Control flow.
    {none, "00", nothing, stop},                                                        // -
    {none, "05 0c 0d", nothing, branch_and_save},                                       // balr bassm basr
    {none, "06", nothing, branch_on_count, 4},                                          // bctr
    {none, "07", nothing, branch_register},                                             // b
    {none, "0a", nothing, supervisor_call},                                             // svc
    {none, "af", nothing, monitor_call},                                                // mc
    {none, "0b", nothing, set_mode_and_branch},                                         // bsm
    {none, "44", nothing, execute},                                                     // ex
    {none, "45 4d", nothing, branch_and_save_memory},                                   // bal bas
    {none, "46 86 87", nothing, branch_on_count_memory},                                // bct bxh bxle
    {none, "47", nothing, branch_memory},                                               // b
    {none, "84 85", nothing, branch_relative_on_index},                                 // brxh brxle
    {0xa7, "04", nothing, branch_relative, 16},                                         // j
    {0xa7, "05", nothing, call_relative, 16},                                           // bras
    {0xa7, "06", nothing, branch_relative_on_count, 4},                                 // brct
    {0xa7, "07", nothing, branch_relative_on_count, 8},                                 // brctg
    {0xb9, "46", nothing, branch_on_count, 8},                                          // bctgr
    {0xc0, "04", nothing, branch_relative, 32},                                         // jg
    {0xc0, "05", nothing, call_relative, 32},                                           // brasl
    {0xc6, "00", nothing, execute},                                                     // exrl
    {0xcc, "06", nothing, branch_relative_on_index},                                    // brcth
    {0xe3, "46", nothing, branch_on_count_memory},                                      // bctg
    {0xe3, "47", nothing, branch_indirect},                                             // bi
    {0xeb, "44 45", nothing, branch_on_count_memory},                                   // bxhg bxleg
    {0xec, "44 45", nothing, branch_relative_on_index},                                 // brxhg brxlg
    {0xec, "64 76", nothing, compare_and_branch_relative, signed_operands},             // cgrj crj
    {0xec, "65 77", nothing, compare_and_branch_relative, unsigned_operands},           // clgrj clrj
    {0xec, "7c 7e", nothing, compare_immediate_and_branch_relative, signed_operands},   // cgij cij
    {0xec, "7d 7f", nothing, compare_immediate_and_branch_relative, unsigned_operands}, // clgij clij
    {0xec, "e4 e5 f6 f7", nothing, compare_and_branch, 32},                             // cgrb clgrb crb clrb
    {0xec, "fc fd fe ff", nothing, compare_and_branch, 12},                             // cgib clgib cib clib

    // Memory.
    {none, "40", nothing, store_bytes, 2},          // sth
    {none, "42", nothing, store_bytes, 1},          // stc
    {none, "50 70", nothing, store_bytes, 4},       // st ste
    {none, "4e", nothing, store_bytes, 8},          // cvd
    {none, "60", nothing, store_word, 1},           // std
    {none, "68", nothing, load_word, 1},            // ld
    {none, "90 9b b6", nothing, store_multiple, 4}, // stm stam stctl
    // mvi ts ni oi xi stnsm stosm
    {none, "92 93 94 96 97 ac ad", nothing, store_bytes_based, 1},
    {none, "98", nothing, load_multiple},             // lm
    {none, "be", nothing, store_bytes_based, 4},      // stcm
    {none, "ba", r1, store_bytes_based, 4},           // cs
    {none, "bb", r1 | r1_next, store_bytes_based, 8}, // cds
    // mvn mvc mvz nc oc xc tr ed unpku mvcin unpka
    {none, "d1 d2 d3 d4 d6 d7 dc de e2 e8 ea", nothing, store_string},
    {none, "df", low, store_string},                 // edmk
    {none, "e1 e9", nothing, store_bytes_based, 16}, // pku pka
    {none, "ef", nothing, load_multiple},            // lmd
    // srp mvo pack unpk zap ap sp mp dp
    {none, "f0 f1 f2 f3 f8 fa fb fc fd", nothing, store_decimal},
    {0xb2, "05 7c", nothing, store_bytes_based, 8},       // stck stckf
    {0xb2, "78", nothing, store_bytes_based, 16},         // stcke
    {0xb2, "9c", nothing, store_bytes_based, 4},          // stfpc
    {0xe3, "04", nothing, load_word},                     // lg
    {0xe3, "24 25", nothing, store_word},                 // stg ntstg
    {0xe3, "26 2f 49", nothing, store_bytes, 8},          // cvdy strvg stgsc
    {0xe3, "2e", nothing, store_bytes, 16},               // cvdg
    {0xe3, "3e 50 cb", nothing, store_bytes, 4},          // strv sty stfh
    {0xe3, "3f 70 c7", nothing, store_bytes, 2},          // strvh sthy sthh
    {0xe3, "72 c3", nothing, store_bytes, 1},             // stcy stch
    {0xe3, "14", nothing, load_narrow_signed, 4},         // lgf
    {0xe3, "15", nothing, load_narrow_signed, 2},         // lgh
    {0xe3, "77", nothing, load_narrow_signed, 1},         // lgb
    {0xe3, "16", nothing, load_narrow_unsigned, 4},       // llgf
    {0xe3, "91", nothing, load_narrow_unsigned, 2},       // llgh
    {0xe3, "90", nothing, load_narrow_unsigned, 1},       // llgc
    {0xe3, "8e", nothing, store_pair},                    // stpq
    {0xe3, "8f", nothing, load_pair},                     // lpq
    {0xe5, "44", nothing, store_bytes_based, 2},          // mvhhi
    {0xe5, "48", nothing, store_bytes_based, 8},          // mvghi
    {0xe5, "4c", nothing, store_bytes_based, 4},          // mvhi
    {0xe6, "09", nothing, store_bytes, 2},                // vstebrh
    {0xe6, "0a", nothing, store_bytes, 8},                // vstebrg
    {0xe6, "0b", nothing, store_bytes, 4},                // vstebrf
    {0xe6, "0e 0f", nothing, store_bytes, 16},            // vstbr vster
    {0xe6, "3c 3d 3f", nothing, store_bytes_based, 16},   // vupkz vstrl vstrlr
    {0xe7, "08", nothing, store_bytes, 1},                // vsteb
    {0xe7, "09", nothing, store_bytes, 2},                // vsteh
    {0xe7, "0a", nothing, store_bytes, 8},                // vsteg
    {0xe7, "0b", nothing, store_bytes, 4},                // vstef
    {0xe7, "0e", nothing, store_bytes, 16},               // vst
    {0xe7, "36", nothing, load_multiple_vectors},         // vlm
    {0xe7, "3e", nothing, store_multiple, 16},            // vstm
    {0xeb, "04", nothing, load_multiple_words},           // lmg
    {0xeb, "24", nothing, store_multiple_words},          // stmg
    {0xeb, "25", nothing, store_multiple, 8},             // stctg
    {0xeb, "26 90 9b", nothing, store_multiple, 4},       // stmh stmy stamy
    {0xeb, "2c 2d", nothing, store_bytes_based, 4},       // stcmh stcmy
    {0xeb, "52 54 56 57", nothing, store_bytes_based, 1}, // mviy niy oiy xiy
    {0xeb, "6a 6e", nothing, store_bytes_based, 4},       // asi alsi
    {0xeb, "7a 7e", nothing, store_bytes_based, 8},       // agsi algsi
    {0xeb, "96 98", nothing, load_multiple},              // lmh lmy
    {0xeb, "14", r1, store_bytes_based, 4},               // csy
    {0xeb, "30", r1, store_bytes_based, 8},               // csg
    {0xeb, "31", r1 | r1_next, store_bytes_based, 8},     // cdsy
    {0xeb, "3e", r1 | r1_next, store_bytes_based, 16},    // cdsg
    {0xeb, "e1 f3", nothing, store_bytes_based, 4},       // stocfh stoc
    {0xeb, "e3", nothing, store_bytes_based, 8},          // stocg
    // lang laog laxg laag laalg
    {0xeb, "e4 e6 e7 e8 ea", r1, store_bytes_based, 8},
    // lan lao lax laa laal
    {0xeb, "f4 f6 f7 f8 fa", r1, store_bytes_based, 4},
    {0xed, "65", nothing, load_word, 1},          // ldy
    {0xed, "66", nothing, store_bytes, 4},        // stey
    {0xed, "67", nothing, store_word, 1},         // stdy
    {0xed, "a8 a9 ac ad", nothing, store_string}, // czdt czxt cpdt cpxt

    // Arithmetic.
    {none, "12 14 16 18", nothing, combine_same},           // ltr nr or lr
    {none, "28", nothing, move_float},                      // ldr
    {none, "41", nothing, load_address},                    // la
    {0xa5, "0c", nothing, load_logical_immediate, 48},      // llihh
    {0xa5, "0d", nothing, load_logical_immediate, 32},      // llihl
    {0xa5, "0e", nothing, load_logical_immediate, 16},      // llilh
    {0xa5, "0f", nothing, load_logical_immediate, 0},       // llill
    {0xa5, "04", nothing, and_immediate, 48},               // nihh
    {0xa5, "05", nothing, and_immediate, 32},               // nihl
    {0xa5, "06", nothing, and_immediate, 16},               // nilh
    {0xa5, "07", nothing, and_immediate, 0},                // nill
    {0xa7, "09", nothing, load_immediate, 16},              // lghi
    {0xa7, "0b", nothing, add_immediate, 16},               // aghi
    {0xb3, "c1", nothing, move_to_float},                   // ldgr
    {0xb3, "cd", nothing, move_from_float},                 // lgdr
    {0xb9, "02", nothing, move_and_test},                   // ltgr
    {0xb9, "04", nothing, move},                            // lgr
    {0xb9, "06", nothing, move_narrow_signed, 1},           // lgbr
    {0xb9, "07", nothing, move_narrow_signed, 2},           // lghr
    {0xb9, "14", nothing, move_narrow_signed, 4},           // lgfr
    {0xb9, "84", nothing, move_narrow_unsigned, 1},         // llgcr
    {0xb9, "85", nothing, move_narrow_unsigned, 2},         // llghr
    {0xb9, "16", nothing, move_narrow_unsigned, 4},         // llgfr
    {0xb9, "08 0a", nothing, add_register},                 // agr algr
    {0xb9, "09 0b", nothing, subtract_register},            // sgr slgr
    {0xb9, "e8 ea", nothing, add_register_distinct},        // agrk algrk
    {0xb9, "e9 eb", nothing, subtract_register_distinct},   // sgrk slgrk
    {0xb9, "21", nothing, compare_logical_register},        // clgr
    {0xb9, "80 81", nothing, combine_same},                 // ngr ogr
    {0xc0, "00", nothing, load_address_relative},           // larl
    {0xc0, "01", nothing, load_immediate, 32},              // lgfi
    {0xc0, "0a", nothing, and_immediate_long, 32},          // nihf
    {0xc0, "0b", nothing, and_immediate_long, 0},           // nilf
    {0xc0, "0e", nothing, load_logical_immediate_long, 32}, // llihf
    {0xc0, "0f", nothing, load_logical_immediate_long, 0},  // llilf
    {0xc2, "04", nothing, subtract_immediate},              // slgfi
    {0xc2, "08 0a", nothing, add_immediate, 32},            // agfi algfi
    {0xc2, "0e 0f", nothing, compare_logical_immediate},    // clgfi clfi
    {0xe3, "08 0a", nothing, add_memory, 8},                // ag alg
    {0xe3, "18", nothing, add_memory, 4},                   // agf
    {0xe3, "09 0b", nothing, subtract_memory},              // sg slg
    {0xe3, "71", nothing, load_address},                    // lay
    {0xeb, "0d", nothing, shift_left},                      // sllg
    {0xec, "55 59", nothing, rotate_and_insert},            // risbg risbgn
    {0xec, "d9 db", nothing, add_immediate_distinct},       // aghik alghsik
};

/// The byte with the second part of an opcode, by its first byte; 0 = none.
enum class Second : std::uint8_t { nowhere, byte_1, nibble_of_byte_1, byte_5 };

struct Page {
  std::uint8_t prefix;
  Second second;
};
constexpr Page pages[] = {
    {none, Second::nowhere},          {0x01, Second::byte_1},           {0xb2, Second::byte_1},
    {0xb3, Second::byte_1},           {0xb9, Second::byte_1},           {0xe5, Second::byte_1},
    {0xa5, Second::nibble_of_byte_1}, {0xa7, Second::nibble_of_byte_1}, {0xc0, Second::nibble_of_byte_1},
    {0xc2, Second::nibble_of_byte_1}, {0xc4, Second::nibble_of_byte_1}, {0xc6, Second::nibble_of_byte_1},
    {0xc8, Second::nibble_of_byte_1}, {0xcc, Second::nibble_of_byte_1}, {0xe3, Second::byte_5},
    {0xe6, Second::byte_5},           {0xe7, Second::byte_5},           {0xeb, Second::byte_5},
    {0xec, Second::byte_5},           {0xed, Second::byte_5},
};
constexpr unsigned opcodes_per_page = 256;

/// The lookup table: rows by page and second part.
struct Lookup {
  std::array<std::uint8_t, opcodes_per_page> page_of{}; ///< by first byte; 0 = the page without second parts
  std::array<std::array<std::uint8_t, opcodes_per_page>, std::size(pages)> row_of{}; ///< number of a row + 1

  consteval Lookup() {
    for (std::size_t page = 1; page < std::size(pages); ++page)
      page_of[pages[page].prefix] = static_cast<std::uint8_t>(page);
    for (std::size_t row = 0; row < std::size(rows); ++row)
      enter(row_of[page_of[rows[row].prefix]], rows[row].opcodes, static_cast<std::uint8_t>(row + 1));
  }

private:
  static consteval unsigned digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }
  static consteval void enter(std::array<std::uint8_t, opcodes_per_page>& page, std::string_view opcodes,
                              std::uint8_t row) {
    if (opcodes.empty()) page.fill(row);
    for (std::size_t at = 0; at < opcodes.size();) {
      if (opcodes[at] == ' ') {
        ++at;
        continue;
      }
      page[digit(opcodes[at]) * 16 + digit(opcodes[at + 1])] = row;
      at += 2;
    }
  }
};
static_assert(std::size(rows) < 255, "the number of a row has to fit a byte");
constexpr Lookup lookup;

} // namespace

const OpcodeRow* find_row(Word word) {
  const std::uint8_t page = lookup.page_of[word.byte(0)];
  unsigned second = word.byte(0);
  switch (pages[page].second) {
  case Second::nowhere: break;
  case Second::byte_1: second = word.byte(1); break;
  case Second::nibble_of_byte_1: second = word.byte(1) & 15; break;
  case Second::byte_5: second = word.byte(5); break;
  }
  const std::uint8_t row = lookup.row_of[page][second];
  return row ? &rows[row - 1] : nullptr;
}

} // namespace sframe::code::s390x
