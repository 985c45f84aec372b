# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of compilers that change frames or the code at their ends: for the kit for compilers, and for scripts/measure-flags. An option
that a compiler does not know is left out there."""
MACHINES = ("x86_64", "aarch64", "s390x")

# By machine; None: all.
OPTIONS = {
    None: ["", "-O0", "-O1", "-Os", "-O3", "-fno-omit-frame-pointer", "-fomit-frame-pointer", "-fstack-clash-protection", "-fstack-protector-all",
           "-fsplit-stack", "-fstack-check", "-fipa-ra", "-fno-ipa-ra", "-fpatchable-function-entry=8,4", "-finstrument-functions",
           "-fzero-call-used-regs=all", "-fsanitize=address", "-fsanitize=undefined", "-fsanitize=safe-stack", "-ftrapv", "-fno-plt",
           "-fharden-conditional-branches", "-fharden-control-flow-redundancy", "-fstrub=all", "-fxray-instrument", "-fno-jump-tables",
           "-fno-shrink-wrap", "-fno-shrink-wrap-separate", "-fexceptions", "-fnon-call-exceptions -ftrapping-math", "-pg"],
    "x86_64": ["-mapxf", "-mapxf -O3", "-march=x86-64-v3 -O3", "-march=x86-64-v4 -O3", "-mshstk", "-fcf-protection=full -mshstk", "-pg -mfentry", "-msave-args",
               "-mspeculative-load-hardening", "-mindirect-branch=thunk", "-mindirect-branch=thunk-inline", "-mindirect-branch=thunk-extern",
               "-mfunction-return=thunk", "-mfunction-return=thunk-extern", "-mretpoline", "-mlvi-hardening", "-mlvi-cfi", "-mseses", "-mharden-sls=all",
               "-mno-red-zone", "-mstackrealign", "-mcmodel=large", "-mno-accumulate-outgoing-args -mpush-args", "-maccumulate-outgoing-args",
               "-mno-push-args", "-mgeneral-regs-only", "-mtls-dialect=gnu2", "-mabi=ms", "-mcall-ms2sysv-xlogues -mabi=ms", "-mforce-drap",
               "-mpreferred-stack-boundary=6", "-mstack-arg-probe", "-mnop-mcount -mrecord-mcount -pg -mfentry -fno-pic", "-mskip-rax-setup",
               "-fcall-saved-rdi", "-ffixed-r11"],
    "aarch64": ["-mbranch-protection=standard", "-mbranch-protection=pac-ret+leaf", "-mbranch-protection=pac-ret+b-key", "-mbranch-protection=pac-ret+pc",
                "-mbranch-protection=bti", "-mbranch-protection=gcs", "-ffixed-x18 -fsanitize=shadow-call-stack",
                "-ffixed-x18 -fsanitize=shadow-call-stack -mbranch-protection=pac-ret", "-mspeculative-load-hardening", "-mtrack-speculation",
                "-mharden-sls=all", "-march=armv8.2-a+sve -O3", "-march=armv9-a -O3", "-march=armv9.2-a+sme2 -O3", "-momit-leaf-frame-pointer",
                "-mno-omit-leaf-frame-pointer -fno-omit-frame-pointer", "-moutline -Oz", "-moutline-atomics", "-mcmodel=large -fno-pic", "-mcmodel=tiny",
                "-mgeneral-regs-only", "-fstack-clash-protection -O3 -march=armv8.2-a+sve", "-mbig-endian"],
    "s390x": ["-march=z10", "-march=z13", "-march=z16 -O3", "-mbackchain", "-mpacked-stack -msoft-float", "-mpacked-stack -mbackchain -msoft-float",
              "-pg -mfentry", "-pg -mfentry -mnop-mcount -mrecord-mcount", "-mindirect-branch=thunk", "-mindirect-branch=thunk-extern",
              "-mindirect-branch-jump=thunk-inline", "-mfunction-return=thunk", "-march=z10 -mindirect-branch=thunk", "-march=z10 -mfunction-return=thunk",
              "-mindirect-branch=thunk-extern -mfunction-return=thunk-extern", "-mhotpatch=2,3", "-mstack-guard=64 -mstack-size=8192", "-mwarn-dynamicstack",
              "-mno-vx", "-msmall-exec", "-mesa"],
}

# Of rustc, on all machines.
RUST = ["", "-C opt-level=0", "-C opt-level=1", "-C opt-level=3", "-C opt-level=s", "-C opt-level=z", "-C force-frame-pointers=yes", "-C no-redzone=yes", "-C panic=abort",
        "-C target-cpu=native -C opt-level=3", "-C code-model=large", "-C relocation-model=static", "-C control-flow-guard=yes", "-C lto=fat -C embed-bitcode=yes"]
