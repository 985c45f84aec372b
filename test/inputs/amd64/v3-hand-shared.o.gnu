
v3-hand-shared.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 2
    Num FREs: 2

  Function Index :

    func idx [0]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000001  sp+16     c-16      f            

    func idx [1]: pc = 0x10, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000010  sp+8      u         f            
    0000000000000011  sp+16     c-16      f            
