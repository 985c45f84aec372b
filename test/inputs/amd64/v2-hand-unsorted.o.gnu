
v2-hand-unsorted.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 3
    Num FREs: 3

  Function Index :

    func idx [0]: pc = 0x20, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000020  sp+8      u         f            

    func idx [1]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+16     u         f            

    func idx [2]: pc = 0x10, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000010  sp+24     u         f            
