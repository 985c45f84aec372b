
v2-gas244-wide.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    Num FDEs: 4
    Num FREs: 16

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 252 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+0      u         u            
    ffffffffffffffe8  sp+16     u         c-16         
    ffffffffffffffec  sp+16     c-8       c-16         
    00000000000000dc  sp+0      c-8       c-16         

    func idx [1]: pc = 0xcc, size = 256 bytes
    STARTPC         CFA       FP        RA           
    00000000000000cc  sp+0      u         u            
    00000000000000d0  sp+16     u         c-16         
    00000000000000d4  sp+16     c-8       c-16         
    00000000000001c8  sp+0      c-8       c-16         

    func idx [2]: pc = 0x1b8, size = 65532 bytes
    STARTPC         CFA       FP        RA           
    00000000000001b8  sp+0      u         u            
    00000000000001bc  sp+16     u         c-16         
    00000000000001c0  sp+16     c-8       c-16         
    00000000000101b0  sp+0      c-8       c-16         

    func idx [3]: pc = 0x101a0, size = 65536 bytes
    STARTPC         CFA       FP        RA           
    00000000000101a0  sp+0      u         u            
    00000000000101a4  sp+16     u         c-16         
    00000000000101a8  sp+16     c-8       c-16         
    000000000002019c  sp+0      c-8       c-16         
