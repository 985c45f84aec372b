
v1-gas240-flex.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_1
    Flags: NONE
    Num FDEs: 3
    Num FREs: 8

  Function Index :

    func idx [0]: pc = 0x0, size = 11 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000003  sp+8      u         u            
    000000000000000a  sp+8      u         u            

    func idx [1]: pc = 0x0, size = 18 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000004  sp+24     u         u            
    0000000000000011  sp+8      u         u            

    func idx [2]: pc = 0x0, size = 5 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         u            
    0000000000000004  sp+8      u         u            
