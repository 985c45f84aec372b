
v2-hand-shared.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 2
    Num FREs: 2

  Function Index :

    func idx [0]: pc = 0x1244, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001244  sp+8      u         f            
    0000000000001245  sp+16     c-16      f            

    func idx [1]: pc = 0x1254, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001254  sp+8      u         f            
    0000000000001255  sp+16     c-16      f            
