
v3-hand-pcrel.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 3
    Num FREs: 8

  Function Index :

    func idx [0]: pc = 0x0, size = 32 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         c-8          
    0000000000000008  fp+32     c-32      c-24         
    000000000000000c  sp+16     c-16      U            
    0000000000000010  RA undefined

    func idx [1]: pc = 0x20, size = 16 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    0000000000000020  sp+0      u         u[s]         
    0000000000000024  sp+512    c-512     c-504[s]     

    func idx [2]: pc = 0x30, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000030  sp+131072 c-131072  c-131064     
