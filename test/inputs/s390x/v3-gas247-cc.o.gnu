
v3-gas247-cc.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 7
    Num FREs: 22

  Function Index :

    func idx [0]: pc = 0x0, size = 14 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            

    func idx [1]: pc = 0x10, size = 60 bytes
    STARTPC         CFA       FP        RA           
    0000000000000010  sp+160    u         u            
    0000000000000016  sp+160    u         c-48         
    000000000000001a  sp+384    u         c-48         

    func idx [2]: pc = 0x50, size = 40 bytes
    STARTPC         CFA       FP        RA           
    0000000000000050  sp+160    u         u            
    0000000000000056  sp+160    u         c-48         
    000000000000005c  sp+40336  u         c-48         

    func idx [3]: pc = 0x80, size = 60 bytes
    STARTPC         CFA       FP        RA           
    0000000000000080  sp+160    u         u            
    0000000000000086  sp+160    c-72      c-48         
    000000000000008a  sp+320    c-72      c-48         
    000000000000008e  fp+320    c-72      c-48         

    func idx [4]: pc = 0xc0, size = 80 bytes
    STARTPC         CFA       FP        RA           
    00000000000000c0  sp+160    u         u            
    00000000000000c6  sp+160    c-72      c-48         
    00000000000000ca  sp+320    c-72      c-48         
    00000000000000ce  fp+320    c-72      c-48         

    func idx [5]: pc = 0x110, size = 106 bytes
    STARTPC         CFA       FP        RA           
    0000000000000110  sp+160    u         u            
    0000000000000116  sp+160    c-72      c-48         
    000000000000011a  sp+320    c-72      c-48         
    000000000000011e  fp+320    c-72      c-48         

    func idx [6]: pc = 0x180, size = 120 bytes
    STARTPC         CFA       FP        RA           
    0000000000000180  sp+160    u         u            
    0000000000000186  sp+160    c-72      c-48         
    000000000000018a  sp+320    c-72      c-48         
