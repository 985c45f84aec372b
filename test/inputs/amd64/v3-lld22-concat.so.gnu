
v3-lld22-concat.so:     file format elf64-x86-64

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    CFA fixed RA offset: -8
    Num FDEs: 13
    Num FREs: 35

  Function Index :

    func idx [0]: pc = 0x1d14, size = 3 bytes
    STARTPC         CFA       FP        RA           
    0000000000001d14  sp+8      u         f            

    func idx [1]: pc = 0x1d17, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001d17  sp+8      u         f            
    0000000000001d18  sp+16     c-16      f            
    0000000000001d1b  fp+16     c-16      f            
    0000000000001d26  sp+8      u         f            

    func idx [2]: pc = 0x1d27, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000001d27  sp+8      u         f            
    0000000000001d2b  sp+32     u         f            
    0000000000001d33  sp+8      u         f            
    0000000000001d34  sp+32     u         f            
    0000000000001d44  sp+8      u         f            

    func idx [3]: pc = 0x1d45, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000001d45  sp+8      u         f            
    0000000000001d4c  sp+4104   u         f            
    0000000000001d58  sp+8      u         f            

    func idx [4]: pc = 0x1d59, size = 20 bytes
    STARTPC         CFA       FP        RA           
    0000000000001d59  sp+8      u         f            
    0000000000001d60  sp+305419896u         f            
    0000000000001d6c  sp+8      u         f            

    func idx [5]: pc = 0x1d6d, size = 30 bytes
    STARTPC         CFA       FP        RA           
    0000000000001d6d  sp+8      u         f            
    0000000000001d74  sp+512    u         f            
    0000000000001d78  sp+512    c-512     f            
    0000000000001d83  sp+512    u         f            
    0000000000001d8a  sp+8      u         f            

    func idx [6]: pc = 0x1d8b, size = 303 bytes
    STARTPC         CFA       FP        RA           
    0000000000001d8b  sp+8      u         f            
    0000000000001d8c  sp+16     u         f            
    0000000000001eb9  sp+8      u         f            

    func idx [7]: pc = 0x1eba, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000001eba  sp+8      u         f            
    0000000000001ebb  sp+16     u         f            
    0000000000001ec1  sp+8      u         f            

    func idx [8]: pc = 0x1ec2, size = 8 bytes
    STARTPC         CFA       FP        RA           
    0000000000001ec2  sp+8      u         f            
    0000000000001ec3  sp+16     u         f            
    0000000000001ec9  sp+8      u         f            

    func idx [9]: pc = 0x1eca, size = 0 bytes
    STARTPC         CFA       FP        RA           
    0000000000001eca  sp+8      u         f            

    func idx [10]: pc = 0x1eca, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000001eca  sp+8      u         f            
    0000000000001ed9  sp+8      u         f            

    func idx [11]: pc = 0x1eda, size = 9 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    0000000000001eda  sp+168    u         f            

    func idx [12]: pc = 0x1ee3, size = 13 bytes
    STARTPC         CFA       FP        RA           
    0000000000001ee3  RA undefined
