
v3-hand-shared.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 2
    Num FREs: 2

  Function Index :

    func idx [0]: pc = 0x123c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000123c  sp+8      u         f            
    000000000000123d  sp+16     c-16      f            

    func idx [1]: pc = 0x124c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000124c  sp+8      u         f            
    000000000000124d  sp+16     c-16      f            
