
v3-hand-flex.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 2
    Num FREs: 5

  Function Index :

    func idx [0]: pc = 0x126c, size = 16 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    000000000000126c  sp+8      u         f            
    000000000000126e  (fp-512)  (fp+0)    U            
    0000000000001270  r3+74565  u         c-65536      
    0000000000001272  RA undefined

    func idx [1]: pc = 0x127c, size = 16 bytes, attr = "SF"
    STARTPC         CFA       FP        RA           
    000000000000127c  (sp+160)  (sp+120)  (sp+168)     
