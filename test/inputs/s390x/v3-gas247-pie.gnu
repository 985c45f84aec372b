
v3-gas247-pie:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 15
    Num FREs: 44

  Function Index :

    func idx [0]: pc = 0x1cc, size = 6 bytes
    STARTPC         CFA       FP        RA           
    00000000000001cc  sp+160    u         u            

    func idx [1]: pc = 0x1d2, size = 30 bytes
    STARTPC         CFA       FP        RA           
    00000000000001d2  sp+160    u         u            
    00000000000001d8  sp+160    c-72      c-48         
    00000000000001dc  sp+320    c-72      c-48         
    00000000000001ee  sp+160    u         u            

    func idx [2]: pc = 0x1f0, size = 28 bytes
    STARTPC         CFA       FP        RA           
    00000000000001f0  sp+160    u         u            
    00000000000001f6  sp+160    c-72      c-48         
    00000000000001fa  sp+336    c-72      c-48         
    00000000000001fe  fp+336    c-72      c-48         
    000000000000020a  sp+160    u         u            

    func idx [3]: pc = 0x20c, size = 24 bytes
    STARTPC         CFA       FP        RA           
    000000000000020c  sp+160    u         u            
    0000000000000212  sp+160    u         c-48         
    0000000000000216  sp+320    u         c-48         
    0000000000000222  sp+160    u         u            

    func idx [4]: pc = 0x224, size = 18 bytes
    STARTPC         CFA       FP        RA           
    0000000000000224  sp+160    u         u            
    000000000000022a  sp+160    c-72      U            
    0000000000000234  sp+160    u         u            

    func idx [5]: pc = 0x236, size = 28 bytes
    STARTPC         CFA       FP        RA           
    0000000000000236  sp+160    u         u            
    000000000000023c  sp+160    u         c-48         
    0000000000000240  sp+8352   u         c-48         
    000000000000024a  sp+160    u         c-48         
    0000000000000250  sp+160    u         u            

    func idx [6]: pc = 0x252, size = 32 bytes
    STARTPC         CFA       FP        RA           
    0000000000000252  sp+160    u         u            
    0000000000000258  sp+160    u         c-48         
    000000000000025e  sp+16777376u         c-48         
    000000000000026a  sp+160    u         c-48         
    0000000000000270  sp+160    u         u            

    func idx [7]: pc = 0x272, size = 290 bytes
    STARTPC         CFA       FP        RA           
    0000000000000272  sp+160    u         u            
    0000000000000276  sp+168    u         u            
    0000000000000392  sp+160    u         u            

    func idx [8]: pc = 0x394, size = 10 bytes
    STARTPC         CFA       FP        RA           
    0000000000000394  sp+160    u         u            
    0000000000000398  sp+176    u         u            
    000000000000039c  sp+160    u         u            

    func idx [9]: pc = 0x39e, size = 10 bytes
    STARTPC         CFA       FP        RA           
    000000000000039e  sp+160    u         u            
    00000000000003a2  sp+176    u         u            
    00000000000003a6  sp+160    u         u            

    func idx [10]: pc = 0x3a8, size = 0 bytes
    STARTPC         CFA       FP        RA           
    00000000000003a8  sp+160    u         u            

    func idx [11]: pc = 0x3a8, size = 2 bytes, attr = "S"
    STARTPC         CFA       FP        RA           
    00000000000003a8  sp+520    c-72      c-48         

    func idx [12]: pc = 0x3aa, size = 12 bytes
    STARTPC         CFA       FP        RA           
    00000000000003aa  RA undefined

    func idx [13]: pc = 0x3b8, size = 24 bytes
    STARTPC         CFA       FP        RA           
    00000000000003b8  sp+160    u         u            
    00000000000003be  sp+160    u         c-48         
    00000000000003c2  sp+328    u         c-48         
    00000000000003ce  sp+160    u         u            

    func idx [14]: pc = 0x3d0, size = 2 bytes
    STARTPC         CFA       FP        RA           
    00000000000003d0  sp+160    u         u            
