
v3-gas247-cc-sections.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 8
    Num FREs: 41

  Function Index :

    func idx [0]: pc = 0x0, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            

    func idx [1]: pc = 0x0, size = 39 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000001  sp+16     u         f            
    0000000000000007  sp+80     u         f            
    0000000000000023  sp+16     u         f            
    0000000000000024  sp+8      u         f            

    func idx [2]: pc = 0x0, size = 32 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000001  sp+16     u         f            
    000000000000000b  sp+40016  u         f            
    000000000000001e  sp+16     u         f            
    000000000000001f  sp+8      u         f            

    func idx [3]: pc = 0x0, size = 52 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000001  sp+16     c-16      f            
    000000000000000e  fp+16     c-16      f            
    0000000000000033  sp+8      c-16      f            

    func idx [4]: pc = 0x0, size = 53 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000001  sp+16     c-16      f            
    0000000000000004  fp+16     c-16      f            
    0000000000000034  sp+8      c-16      f            

    func idx [5]: pc = 0x0, size = 99 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000005  r10+0     u         f            
    0000000000000013  r10+0     (fp+0)    U            
    0000000000000017  (fp-16)   (fp+0)    U            
    000000000000005b  r10+0     (fp+0)    U            
    0000000000000062  sp+8      (fp+0)    U            

    func idx [6]: pc = 0x0, size = 107 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000002  sp+16     u         f            
    0000000000000004  sp+24     u         f            
    0000000000000006  sp+32     u         f            
    0000000000000008  sp+40     u         f            
    0000000000000009  sp+48     c-48      f            
    000000000000000a  sp+56     c-48      f            
    000000000000000e  sp+80     c-48      f            
    000000000000005e  sp+56     c-48      f            
    0000000000000061  sp+48     c-48      f            
    0000000000000062  sp+40     c-48      f            
    0000000000000064  sp+32     c-48      f            
    0000000000000066  sp+24     c-48      f            
    0000000000000068  sp+16     c-48      f            
    000000000000006a  sp+8      c-48      f            

    func idx [7]: pc = 0x0, size = 5 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+80     c-48      f            
