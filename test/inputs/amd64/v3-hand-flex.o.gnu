
v3-hand-flex.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 2
    Num FREs: 5

  Function Index :

    func idx [0]: pc = 0x0, size = 16 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000002  (fp-512)  (fp+0)    U            
    0000000000000004  r3+74565  u         c-65536      
    0000000000000006  RA undefined

    func idx [1]: pc = 0x10, size = 16 bytes, attr = "SF"
    STARTPC         CFA       FP        RA           
    0000000000000010  (sp+160)  (sp+120)  (sp+168)     
