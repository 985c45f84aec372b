
v2-gas244-wide.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    CFA fixed RA offset: -8
    Num FDEs: 4
    Num FREs: 16

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 255 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+8      u         f            
    ffffffffffffffe5  sp+16     c-16      f            
    ffffffffffffffe8  fp+16     c-16      f            
    00000000000000e2  sp+8      c-16      f            

    func idx [1]: pc = 0xcf, size = 256 bytes
    STARTPC         CFA       FP        RA           
    00000000000000cf  sp+8      u         f            
    00000000000000d0  sp+16     c-16      f            
    00000000000000d3  fp+16     c-16      f            
    00000000000001ce  sp+8      c-16      f            

    func idx [2]: pc = 0x1bb, size = 65535 bytes
    STARTPC         CFA       FP        RA           
    00000000000001bb  sp+8      u         f            
    00000000000001bc  sp+16     c-16      f            
    00000000000001bf  fp+16     c-16      f            
    00000000000101b9  sp+8      c-16      f            

    func idx [3]: pc = 0x101a6, size = 65536 bytes
    STARTPC         CFA       FP        RA           
    00000000000101a6  sp+8      u         f            
    00000000000101a7  sp+16     c-16      f            
    00000000000101aa  fp+16     c-16      f            
    00000000000201a5  sp+8      c-16      f            
