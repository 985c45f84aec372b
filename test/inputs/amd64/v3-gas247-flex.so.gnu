
v3-gas247-flex.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 9
    Num FREs: 25

  Function Index :

    func idx [0]: pc = 0x340, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000340  sp+16     u         f            
    0000000000000346  sp+24     u         f            

    func idx [1]: pc = 0x350, size = 16 bytes
    STARTPC[m]      CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    000000000000000b  sp+16     u         f            

    func idx [2]: pc = 0x360, size = 40 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000360  sp+8      u         f            
    0000000000000365  r10+0     u         f            
    0000000000000371  r10+0     (fp+0)    U            
    0000000000000373  (fp-8)    (fp+0)    U            
    0000000000000382  r10+0     (fp+0)    U            
    0000000000000387  sp+8      (fp+0)    U            

    func idx [3]: pc = 0x388, size = 11 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000388  sp+8      u         f            
    000000000000038b  r11+8     u         f            
    0000000000000392  sp+8      u         f            

    func idx [4]: pc = 0x393, size = 9 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000393  sp+8      u         f            
    0000000000000396  sp+8      r11+0     U            
    000000000000039b  sp+8      u         f            

    func idx [5]: pc = 0x39c, size = 5 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    000000000000039c  sp+8      u         f            
    000000000000039d  sp+0      u         r1+0         

    func idx [6]: pc = 0x3a1, size = 18 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    00000000000003a1  sp+8      u         f            
    00000000000003a5  sp+24     u         f            
    00000000000003ae  sp+24     u         c-24         
    00000000000003b2  sp+8      u         f            

    func idx [7]: pc = 0x3b3, size = 9 bytes, attr = "S"
    STARTPC         CFA       FP        RA           

    func idx [8]: pc = 0x3bf, size = 5 bytes
    STARTPC         CFA       FP        RA           
    00000000000003bf  sp+8      u         f            
    00000000000003c0  RA undefined
    00000000000003c3  RA undefined
