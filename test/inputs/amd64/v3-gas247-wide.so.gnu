
v3-gas247-wide.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 4
    Num FREs: 16

  Function Index :

    func idx [0]: pc = 0x2000, size = 255 bytes
    STARTPC         CFA       FP        RA           
    0000000000002000  sp+8      u         f            
    0000000000002001  sp+16     c-16      f            
    0000000000002004  fp+16     c-16      f            
    00000000000020fe  sp+8      c-16      f            

    func idx [1]: pc = 0x20ff, size = 256 bytes
    STARTPC         CFA       FP        RA           
    00000000000020ff  sp+8      u         f            
    0000000000002100  sp+16     c-16      f            
    0000000000002103  fp+16     c-16      f            
    00000000000021fe  sp+8      c-16      f            

    func idx [2]: pc = 0x21ff, size = 65535 bytes
    STARTPC         CFA       FP        RA           
    00000000000021ff  sp+8      u         f            
    0000000000002200  sp+16     c-16      f            
    0000000000002203  fp+16     c-16      f            
    00000000000121fd  sp+8      c-16      f            

    func idx [3]: pc = 0x121fe, size = 65536 bytes
    STARTPC         CFA       FP        RA           
    00000000000121fe  sp+8      u         f            
    00000000000121ff  sp+16     c-16      f            
    0000000000012202  fp+16     c-16      f            
    00000000000221fd  sp+8      c-16      f            
