
v1-gas240-second.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 3
    Num FREs: 8

  Function Index :

    func idx [0]: pc = 0x0, size = 14 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000004  sp+48     u         u            
    000000000000000d  sp+8      u         u            

    func idx [1]: pc = 0x0, size = 6 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000001  sp+16     c-16      u            
    0000000000000004  fp+16     c-16      u            
    0000000000000005  sp+8      c-16      u            

    func idx [2]: pc = 0x0, size = 1 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
