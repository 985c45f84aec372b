
v3-hand-unsorted.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 3
    Num FREs: 3

  Function Index :

    func idx [0]: pc = 0x127c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000127c  sp+8      u         f            

    func idx [1]: pc = 0x125c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000125c  sp+16     u         f            

    func idx [2]: pc = 0x126c, size = 16 bytes
    STARTPC         CFA       FP        RA           
    000000000000126c  sp+24     u         f            
