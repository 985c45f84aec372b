
v3-gas247-second.o:     file format elf64-littleaarch64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 2
    Num FREs: 4

  Function Index :

    func idx [0]: pc = 0x0, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+0      u         u            
    0000000000000004  sp+48     c-48      c-40         
    000000000000000c  sp+0      u         u            

    func idx [1]: pc = 0x10, size = 4 bytes
    STARTPC         CFA       FP        RA           
    0000000000000010  sp+0      u         u            
