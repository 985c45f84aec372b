
v1-gas240-flex.o:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 3
    Num FREs: 8

  Function Index :

    func idx [0]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+16     u         c-16         
    000000000000000c  sp+0      u         u            

    func idx [1]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+0      u         u            
    000000000000000c  sp+0      u         u            

    func idx [2]: pc = 0x0, size = 12 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000008  sp+0      u         u            
