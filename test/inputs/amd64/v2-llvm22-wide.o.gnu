
v2-llvm22-wide.o:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 4
    Num FREs: 16

  Function Index :

    func idx [0]: pc = 0x0, size = 255 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+8      u         f            
    0000000000000001  sp+16     c-16      f            
    0000000000000004  fp+16     c-16      f            
    00000000000000fe  sp+8      c-16      f            

    func idx [1]: pc = 0xff, size = 256 bytes
    STARTPC         CFA       FP        RA           
    00000000000000ff  sp+8      u         f            
    0000000000000100  sp+16     c-16      f            
    0000000000000103  fp+16     c-16      f            
    00000000000001fe  sp+8      c-16      f            

    func idx [2]: pc = 0x1ff, size = 65535 bytes
    STARTPC         CFA       FP        RA           
    00000000000001ff  sp+8      u         f            
    0000000000000200  sp+16     c-16      f            
    0000000000000203  fp+16     c-16      f            
    00000000000101fd  sp+8      c-16      f            

    func idx [3]: pc = 0x101fe, size = 65536 bytes
    STARTPC         CFA       FP        RA           
    00000000000101fe  sp+8      u         f            
    00000000000101ff  sp+16     c-16      f            
    0000000000010202  fp+16     c-16      f            
    00000000000201fd  sp+8      c-16      f            
