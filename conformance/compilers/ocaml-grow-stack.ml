(*
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The call that grows the stack is made before the frame is, with the row of the frame.
// machine  x86_64
// key      run-r401-push
// functions camlProgram(\.|__)f1_\d+
// seen     ocamlopt 5.4.1
//
//   0x404553   push $0x22                         cfa=sp+16 ra=[cfa-8] fp=same: the CFA rule sp+16 yields CFA+8; right: cfa=sp+8
*)

let rec f1 n = if n = 0 then 0 else n + f1 (n - 1)
let () = Effect.Deep.try_with (fun n -> ignore (Sys.opaque_identity (f1 n))) 200 { effc = fun _ -> None }
