
v2-gas244-second.o:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: NONE
    Num FDEs: 2
    Num FREs: 4

  Function Index :

    func idx [0]: pc = 0xffffffffffffffe4, size = 16 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe4  sp+0      u         u            
    ffffffffffffffe8  sp+48     c-48      c-40         
    fffffffffffffff0  sp+0      u         u            

    func idx [1]: pc = 0xffffffffffffffe0, size = 4 bytes
    STARTPC         CFA       FP        RA           
    ffffffffffffffe0  sp+0      u         u            
