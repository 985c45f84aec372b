
v3-hand-flex.so:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 1
    Num FREs: 5

  Function Index :

    func idx [0]: pc = 0x124c, size = 32 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    000000000000124c  sp+0      u         u            
    0000000000001250  sp+16     c-16      U            
    0000000000001254  r9+0      u         r10+0[s]     
    0000000000001258  (r9+16)   u         c-8          
    000000000000125c  RA undefined
