
v2-hand-outermost.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 2
    Num FREs: 3

  Function Index :

    func idx [0]: pc = 0x1244, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000001244  sp+8      u         f            
    0000000000001246  RA undefined

    func idx [1]: pc = 0x124c, size = 8 bytes
    STARTPC         CFA       FP        RA           
    000000000000124c  RA undefined
