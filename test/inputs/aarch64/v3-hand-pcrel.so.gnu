
v3-hand-pcrel.so:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 3
    Num FREs: 8

  Function Index :

    func idx [0]: pc = 0x127c, size = 32 bytes
    STARTPC         CFA       FP        RA           
    000000000000127c  sp+0      u         u            
    0000000000001280  sp+16     u         c-8          
    0000000000001284  fp+32     c-32      c-24         
    0000000000001288  sp+16     c-16      U            
    000000000000128c  RA undefined

    func idx [1]: pc = 0x129c, size = 16 bytes, pauth = B key
    STARTPC         CFA       FP        RA           
    000000000000129c  sp+0      u         u[s]         
    00000000000012a0  sp+512    c-512     c-504[s]     

    func idx [2]: pc = 0x12ac, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000012ac  sp+131072 c-131072  c-131064     
