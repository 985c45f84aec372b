(*
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    A bounds error inside try is raised after the function's end, with the row outside of try.
// machine  x86_64
// key      run-r401-call
// functions camlProgram(\.|__)f1_\d+
// seen     ocamlopt 5.4.1
//
//   0x40204f   call 0x42e4ec                      cfa=sp+16 ra=[cfa-8] fp=same: the CFA rule sp+16 yields CFA-16; right: cfa=sp+32
*)

let f1 a n = (try a.(n) with Invalid_argument _ -> 0) + Array.length a
let () = for i = 0 to 3 do ignore (Sys.opaque_identity (f1 (Sys.opaque_identity [|1; 2|]) i)) done
