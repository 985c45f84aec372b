
v3-gas247-cc.o:     file format elf64-x86-64

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

    func idx [1]: pc = 0x10, size = 39 bytes
    STARTPC         CFA       FP        RA           
    0000000000000010  sp+8      u         f            
    0000000000000011  sp+16     u         f            
    0000000000000017  sp+80     u         f            
    0000000000000033  sp+16     u         f            
    0000000000000034  sp+8      u         f            

    func idx [2]: pc = 0x40, size = 32 bytes
    STARTPC         CFA       FP        RA           
    0000000000000040  sp+8      u         f            
    0000000000000041  sp+16     u         f            
    000000000000004b  sp+40016  u         f            
    000000000000005e  sp+16     u         f            
    000000000000005f  sp+8      u         f            

    func idx [3]: pc = 0x60, size = 52 bytes
    STARTPC         CFA       FP        RA           
    0000000000000060  sp+8      u         f            
    0000000000000061  sp+16     c-16      f            
    000000000000006e  fp+16     c-16      f            
    0000000000000093  sp+8      c-16      f            

    func idx [4]: pc = 0xa0, size = 53 bytes
    STARTPC         CFA       FP        RA           
    00000000000000a0  sp+8      u         f            
    00000000000000a1  sp+16     c-16      f            
    00000000000000a4  fp+16     c-16      f            
    00000000000000d4  sp+8      c-16      f            

    func idx [5]: pc = 0xe0, size = 99 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    00000000000000e0  sp+8      u         f            
    00000000000000e5  r10+0     u         f            
    00000000000000f3  r10+0     (fp+0)    U            
    00000000000000f7  (fp-16)   (fp+0)    U            
    000000000000013b  r10+0     (fp+0)    U            
    0000000000000142  sp+8      (fp+0)    U            

    func idx [6]: pc = 0x150, size = 107 bytes
    STARTPC         CFA       FP        RA           
    0000000000000150  sp+8      u         f            
    0000000000000152  sp+16     u         f            
    0000000000000154  sp+24     u         f            
    0000000000000156  sp+32     u         f            
    0000000000000158  sp+40     u         f            
    0000000000000159  sp+48     c-48      f            
    000000000000015a  sp+56     c-48      f            
    000000000000015e  sp+80     c-48      f            
    00000000000001ae  sp+56     c-48      f            
    00000000000001b1  sp+48     c-48      f            
    00000000000001b2  sp+40     c-48      f            
    00000000000001b4  sp+32     c-48      f            
    00000000000001b6  sp+24     c-48      f            
    00000000000001b8  sp+16     c-48      f            
    00000000000001ba  sp+8      c-48      f            

    func idx [7]: pc = 0x0, size = 5 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+80     c-48      f            
