
v3-gas247-flex.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 6
    Num FREs: 20

  Function Index :

    func idx [0]: pc = 0x0, size = 14 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000004  sp+160    u         r16+0        
    000000000000000c  sp+160    u         u            

    func idx [1]: pc = 0xe, size = 22 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    000000000000000e  sp+160    u         u            
    0000000000000012  sp+160    r17+0     U            
    0000000000000016  sp+160    r17+0     r16+0        
    000000000000001e  sp+160    u         r16+0        
    0000000000000022  sp+160    u         u            

    func idx [2]: pc = 0x24, size = 14 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000024  sp+160    u         u            
    0000000000000028  sp+160    r18+0     U            
    0000000000000030  sp+160    u         u            

    func idx [3]: pc = 0x32, size = 14 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000032  sp+160    u         u            
    0000000000000036  r1+160    u         u            
    000000000000003e  sp+160    u         u            

    func idx [4]: pc = 0x40, size = 10 bytes
    STARTPC         CFA       FP        RA           
    0000000000000040  sp+160    u         u            
    0000000000000044  sp+160    u         u            
    0000000000000048  sp+160    u         u            

    func idx [5]: pc = 0x4a, size = 10 bytes
    STARTPC         CFA       FP        RA           
    000000000000004a  sp+160    u         u            
    000000000000004e  RA undefined
    0000000000000052  sp+160    u         u            
