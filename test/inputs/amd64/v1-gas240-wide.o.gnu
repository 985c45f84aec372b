
v1-gas240-wide.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 4
    Num FREs: 16

  Function Index :

    func idx [0]: pc = 0x0, size = 255 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     c-16      u            
    0000000000000004  fp+16     c-16      u            
    00000000000000fe  sp+8      c-16      u            

    func idx [1]: pc = 0x0, size = 256 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     c-16      u            
    0000000000000004  fp+16     c-16      u            
    00000000000000ff  sp+8      c-16      u            

    func idx [2]: pc = 0x0, size = 65535 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     c-16      u            
    0000000000000004  fp+16     c-16      u            
    000000000000fffe  sp+8      c-16      u            

    func idx [3]: pc = 0x0, size = 65536 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     c-16      u            
    0000000000000004  fp+16     c-16      u            
    000000000000ffff  sp+8      c-16      u            
