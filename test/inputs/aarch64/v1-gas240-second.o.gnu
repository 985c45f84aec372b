
v1-gas240-second.o:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 2
    Num FREs: 4

  Function Index :

    func idx [0]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+48     c-48      c-40         
    000000000000000c  sp+0      u         u            

    func idx [1]: pc = 0x0, size = 4 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
