
v2-llvm22.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 12
    Num FREs: 33

  Function Index :

    func idx [0]: pc = 0x1854, size = 3 bytes
    STARTPC         CFA       FP        RA           
    0000000000001854  sp+8      u         f            

    func idx [1]: pc = 0x1857, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001857  sp+8      u         f            
    0000000000001858  sp+16     c-16      f            
    000000000000185b  fp+16     c-16      f            
    0000000000001866  sp+8      u         f            

    func idx [2]: pc = 0x1867, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000001867  sp+8      u         f            
    000000000000186b  sp+32     u         f            
    0000000000001873  sp+8      u         f            
    0000000000001874  sp+32     u         f            
    0000000000001884  sp+8      u         f            

    func idx [3]: pc = 0x1885, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000001885  sp+8      u         f            
    000000000000188c  sp+4104   u         f            
    0000000000001898  sp+8      u         f            

    func idx [4]: pc = 0x1899, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000001899  sp+8      u         f            
    00000000000018a0  sp+305419896u         f            
    00000000000018ac  sp+8      u         f            

    func idx [5]: pc = 0x18ad, size = 30 bytes
    STARTPC         CFA       FP        RA           
    00000000000018ad  sp+8      u         f            
    00000000000018b4  sp+512    u         f            
    00000000000018b8  sp+512    c-512     f            
    00000000000018c3  sp+512    u         f            
    00000000000018ca  sp+8      u         f            

    func idx [6]: pc = 0x18cb, size = 303 bytes
    STARTPC         CFA       FP        RA           
    00000000000018cb  sp+8      u         f            
    00000000000018cc  sp+16     u         f            
    00000000000019f9  sp+8      u         f            

    func idx [7]: pc = 0x19fa, size = 8 bytes
    STARTPC         CFA       FP        RA           
    00000000000019fa  sp+8      u         f            
    00000000000019fb  sp+16     u         f            
    0000000000001a01  sp+8      u         f            

    func idx [8]: pc = 0x1a02, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000001a02  sp+8      u         f            
    0000000000001a03  sp+16     u         f            
    0000000000001a09  sp+8      u         f            

    func idx [9]: pc = 0x1a0a, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001a0a  sp+8      u         f            

    func idx [10]: pc = 0x1a1a, size = 9 bytes
    STARTPC         CFA       FP        RA           
    0000000000001a1a  sp+168    u         f            

    func idx [11]: pc = 0x1a23, size = 13 bytes
    STARTPC         CFA       FP        RA           
    0000000000001a23  sp+8      u         f            
