
v1-gas240-wide.o:     file format elf64-bigaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 4
    Num FREs: 16

  Function Index :

    func idx [0]: pc = 0x0, size = 252 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         c-16         
    0000000000000008  sp+16     c-8       c-16         
    00000000000000f8  sp+0      c-8       c-16         

    func idx [1]: pc = 0x0, size = 256 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         c-16         
    0000000000000008  sp+16     c-8       c-16         
    00000000000000fc  sp+0      c-8       c-16         

    func idx [2]: pc = 0x0, size = 65532 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         c-16         
    0000000000000008  sp+16     c-8       c-16         
    000000000000fff8  sp+0      c-8       c-16         

    func idx [3]: pc = 0x0, size = 65536 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         c-16         
    0000000000000008  sp+16     c-8       c-16         
    000000000000fffc  sp+0      c-8       c-16         
